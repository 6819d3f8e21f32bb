import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyConfig } from '../../../src/parts/config/apply-config.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, errorOf, problemsIn, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'
import { listAudit } from '../../store/list-audit.ts'

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8')
}

const workflow = {
  queue: sample('queue.json'),
  policy: sample('scheduling-policy.json'),
  tasks: sample('tasks.json'),
  zone: 'UTC',
}

describe.each(['SQLite', 'PostgreSQL'])('an import on %s', (database) => {
  let desk: Desk
  let schema = ''
  beforeEach(async () => {
    if (database === 'PostgreSQL') schema = lendSchema()
    desk = await Desk.open(schema === '' ? {} : { url: postgresUrl(), schema })
  })
  afterEach(async () => {
    await desk.store.close()
    if (schema !== '') await returnSchema(schema)
    schema = ''
  })
  const verbs = verbsAt(() => desk.context)
  const rehearsing = verbsAt(() => ({ ...desk.context, store: desk.store.rehearsal() }))

  async function contents() {
    const { runs } = await verbs.runs.list({ limit: 1_000 })
    return { runs, schedules: await verbs.schedules.list({ all: true }), queues: await verbs.queues.list() }
  }

  it('from cool-workflow is rehearsed as it is done, and makes nothing twice', async () => {
    const before = await contents()
    const rehearsed = await rehearsing.store.importWorkflow(workflow)
    expect(await contents()).toEqual(before)
    const first = await verbs.store.importWorkflow(workflow)
    expect(rehearsed).toEqual(first)
    expect(first).toMatchObject({
      queues: [{ name: 'cool-workflow', answer: 'created' }],
      runs: { made: 5, parked: 1, known: 0 },
      leftMore: 0,
    })
    expect(first.schedules.map(({ answer }) => answer)).toEqual(Array(4).fill('created'))
    const after = await contents()
    const second = await verbs.store.importWorkflow(workflow)
    expect(second).toMatchObject({ queues: [{ answer: 'unchanged' }], runs: { made: 0, parked: 0, known: 5 } })
    expect(second.schedules.map(({ answer }) => answer)).toEqual(Array(4).fill('unchanged'))
    expect(second.left).toEqual(first.left)
    expect(await contents()).toEqual(after)
  })

  it('from cool-workflow is handed out to hosts as it was there: by priority, and not before its instant', async () => {
    await verbs.store.importWorkflow({ ...workflow, into: 'agents' })
    const ids = async () => {
      const { leases } = await verbs.sched.lease('builder', { queue: 'agents', limit: 10 })
      return leases.map(({ payload }) => (payload as { id: string }).id)
    }
    expect(await ids()).toEqual(['q-20260103080000-001', 'q-20260104101500-001', 'q-20260104101500-003'])
    desk.clock.set(Date.UTC(2026, 0, 5, 12))
    expect(await ids()).toEqual(['q-20260104101500-002'])
  })

  it('of a parked entry parks it for the same reason, and nobody is handed it before somebody resets it', async () => {
    const queue = (status: string) =>
      JSON.stringify({ entries: [{ id: 'a', status, attempts: 3, parkedReason: 'broke (attempt 3/3)' }] })
    await verbs.store.importWorkflow({ queue: queue('parked') })
    const lease = async () => (await verbs.sched.lease('builder', { queue: 'cool-workflow' })).leases
    expect(await lease()).toEqual([])
    const [run] = (await verbs.runs.list({ status: 'parked' })).runs
    expect(run).toMatchObject({ attempts: 3, parked: { reason: 'broke (attempt 3/3)' } })
    expect(JSON.stringify(await verbs.runs.explain(run?.id ?? ''))).toContain('broke (attempt 3/3)')
    await verbs.runs.reset(run?.id ?? '')
    // What was brought back here is not parked again by the same file.
    expect(await verbs.store.importWorkflow({ queue: queue('parked') })).toMatchObject({ runs: { made: 0, known: 1 } })
    expect(await lease()).toMatchObject([{ payload: { id: 'a' } }])
  })

  it('again of an entry that has another status, priority or instant by then is the run that was made first', async () => {
    const imported = (more: object) =>
      verbs.store.importWorkflow({ queue: JSON.stringify({ entries: [{ id: 'a', status: 'pending', ...more }] }) })
    await imported({ priority: 5 })
    const later = '2026-01-05T12:00:00Z'
    for (const more of [{ status: 'ready', attempts: 1, nextEligibleAt: later }, { priority: 7 }, { status: 'parked' }])
      expect(await imported(more)).toMatchObject({ runs: { made: 0, known: 1 } })
    expect((await verbs.runs.list()).runs).toMatchObject([{ status: 'ready', priority: 5 }])
  })

  it('that meets another of the same files makes nothing twice', async () => {
    const both = await Promise.allSettled([
      ...[workflow, workflow].map((files) => verbs.store.importWorkflow(files)),
      ...[1, 2].map(() => verbs.store.importCrontab(sample('crontab'))),
    ])
    expect(both.map((one) => (one.status === 'rejected' ? one.reason : one.status))).toEqual(Array(4).fill('fulfilled'))
    const { runs, schedules } = await contents()
    expect([runs.length, schedules.length]).toEqual([5, 9])
  })

  it('is refused whole where a file looks after one of its names, and says which', async () => {
    const managed = { source: 's', hash: 'h', file: 'f', queues: [{ name: 'crontab', policy: {} }], tokens: [] }
    const schedules = [{ name: 'b', timing: { everyMs: 60_000 }, target: { handler: 'h' } }]
    await desk.store.do(applyConfig, { ...managed, schedules }, { actor: desk.context.actor })
    const before = await contents()
    const error = await errorOf(verbs.store.importCrontab('0 1 * * * a\n0 2 * * * b\n'))
    expect([error.code, error.message, error.hint]).toEqual([
      'conflict',
      expect.stringContaining('source s manages schedule b'),
      expect.stringContaining('prefix'),
    ])
    const policy = JSON.stringify({ maxConcurrent: 4 })
    const told = await errorOf(verbs.store.importWorkflow({ policy, into: 'crontab' }))
    expect([told.code, told.message]).toEqual(['conflict', expect.stringContaining('manages queue crontab')])
    expect(await contents()).toEqual(before)
  })

  it('of a task hands its prompt to a host when it is due', async () => {
    await verbs.store.importWorkflow({ tasks: workflow.tasks, zone: 'UTC' })
    desk.clock.set(Date.UTC(2026, 0, 5, 9, 20))
    await desk.store.fireDue({ limit: 10 })
    const { leases } = await verbs.sched.lease('builder', { queue: 'cool-workflow' })
    expect(leases).toMatchObject([{ payload: { prompt: 'Look at the build and mend what is broken.' }, target: null }])
  })

  it('of a crontab is rehearsed as it is done, and unchanged when it is done again', async () => {
    const text = sample('crontab')
    const rehearsed = await rehearsing.store.importCrontab({ text })
    expect(await verbs.schedules.list()).toEqual([])
    const first = await verbs.store.importCrontab(text)
    expect(rehearsed).toEqual(first)
    expect(first).toMatchObject({ queues: [{ name: 'crontab', answer: 'created' }] })
    expect(await verbs.queues.get('crontab')).toMatchObject({ policy: { maxAttempts: 1 } })
    const second = await verbs.store.importCrontab(text)
    expect(second.schedules.map(({ answer }) => answer)).toEqual(Array(5).fill('unchanged'))
    expect(second.queues).toEqual([])
    expect(await verbs.schedules.get('backup')).toMatchObject({
      version: 1,
      description: expect.stringContaining('Sundays'),
    })
  })

  it('of a crontab leaves a queue that is there as it is, and says what that means', async () => {
    await verbs.queues.set('default', { maxConcurrent: 3 })
    const { queues, different } = await verbs.store.importCrontab('0 1 * * * a', { queue: 'default' })
    expect(queues).toEqual([])
    expect(different.slice(-2)).toMatchObject([
      { what: 'how many may run at once', why: expect.stringContaining('at most 3 at work') },
      { what: 'a command that fails' },
    ])
  })

  it('is refused whole where schedules of its names say something else, and names them all', async () => {
    for (const name of ['a', 'b']) await verbs.schedules.create({ name, every: '1h', target: { handler: 'h' } })
    const error = await errorOf(verbs.store.importCrontab('0 1 * * * a\n0 2 * * * b\n0 3 * * * c\n'))
    expect(error).toMatchObject({ code: 'conflict', details: { conflicts: ['schedule a', 'schedule b'] } })
    expect([error.message, error.hint]).toEqual([
      expect.stringContaining('a, schedule b exist'),
      expect.stringContaining('prefix'),
    ])
    expect((await verbs.schedules.list()).map(({ name }) => name)).toEqual(['a', 'b'])
    expect((await verbs.queues.list()).map(({ name }) => name)).not.toContain('crontab')
    await verbs.store.importCrontab('0 1 * * * a\n0 2 * * * b\n', { prefix: 'cron-' })
    expect((await verbs.schedules.list()).map(({ name }) => name)).toEqual(['a', 'b', 'cron-a', 'cron-b'])
  })

  it('is refused whole where an entry was imported before as other work: neither its schedules nor its policy stay', async () => {
    const queue = '{"entries":[{"id":"a","status":"pending","note":"first"}]}'
    await verbs.store.importWorkflow({ queue })
    const before = await contents()
    const other = { ...workflow, queue: queue.replace('first', 'second') }
    expect(await errorOf(verbs.store.importWorkflow(other))).toMatchObject({ code: 'conflict' })
    expect(await contents()).toEqual(before)
  })

  it('is refused where there is nothing to import, or a file is none, with all that is wrong', async () => {
    expect(await problemsIn(verbs.store.importWorkflow({}))).toMatchObject([{ field: 'queue', problem: 'is missing' }])
    const wrong = { queue: '{', policy: '[]', tasks: '{"tasks":{}}' }
    expect((await problemsIn(verbs.store.importWorkflow(wrong))).map(({ field }) => field)).toEqual([
      'policy',
      'queue',
      'tasks',
    ])
    expect(await problemsIn(verbs.store.importCrontab('', { zone: 'Paris', prefix: '-x' }))).toMatchObject([
      { field: 'zone' },
      { field: 'prefix' },
    ])
  })

  it('is written down with who did it', async () => {
    desk = Object.assign(Object.create(desk), { context: { ...desk.context, actor: { name: 'ann', door: 'http' } } })
    await verbs.store.importWorkflow({ queue: workflow.queue })
    expect(await desk.store.look(listAudit, 'store')).toMatchObject([{ actor: 'ann', verb: 'store.importWorkflow' }])
  })
})
