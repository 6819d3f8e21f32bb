import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminal } from '../../doors/cli/terminal.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

const entries = [
  { id: 'q-1', status: 'ready', attempts: 2 },
  { id: 'q-2', status: 'parked', attempts: 3, parkedReason: 'HTTP 503' },
  { id: 'q-3', status: 'pending', attempts: 'two' },
]
const task = { kind: 'loop', intervalMinutes: 30, nextRunAt: '2026-01-05T10:00:00Z', prompt: 'Look.' }
const tasks = [
  { ...task, id: 'loop-1', status: 'paused' },
  { ...task, id: 'loop-2', status: 'active' },
]

describe.each(['sqlite', 'postgres'] as const)('what cool-workflow had in line, on %s', (database) => {
  let desk: Desk
  let schema = ''
  const { store, runs, schedules, sched, queues } = verbsAt(() => desk.context)

  beforeEach(async () => {
    schema = database === 'postgres' ? lendSchema() : ''
    desk = await Desk.open(database === 'postgres' ? { url: postgresUrl(), schema } : {})
  })
  afterEach(async () => {
    await desk.store.close()
    if (database === 'postgres') await returnSchema(schema)
  })

  it('comes over with the attempts it has used, so that it is not tried more often than it may be', async () => {
    await queues.set('cw', { maxAttempts: 3, maxConcurrent: 5 })
    const answer = await store.importWorkflow({ queue: JSON.stringify({ entries }), into: 'cw' })
    expect(answer).toMatchObject({ ok: true, runs: { made: 3, parked: 1 }, left: [] })
    expect(answer.different.map(({ what }) => what)).toEqual(['attempts two'])
    const { runs: made } = await runs.list({ queue: 'cw' })
    const used = made.map((run) => [run.status, run.attempts]).sort()
    expect(used).toEqual([
      ['parked', 3],
      ['ready', 0],
      ['ready', 2],
    ])
    const { leases } = await sched.lease('builder', { queue: 'cw', limit: 2 })
    const last = leases.find(({ attempts }) => attempts === 2)
    const ended = await sched.release({ lease: last?.lease ?? '', failed: true, reason: 'HTTP 503' })
    expect(ended.status).toBe('parked')
  })

  it('comes over paused where a task was paused, and starts nothing before it is resumed', async () => {
    const file = JSON.stringify({ tasks })
    const answer = await store.importWorkflow({ tasks: file, into: 'cw', zone: 'UTC' })
    expect(answer).toMatchObject({ ok: true, left: [] })
    expect(answer.schedules.map(({ name, paused }) => [name, paused])).toEqual([
      ['loop-1', true],
      ['loop-2', false],
    ])
    desk.clock.advance(2 * 3_600_000)
    await desk.store.fireDue({ limit: 10 })
    expect((await runs.list({})).runs.map(({ schedule }) => schedule)).toEqual(['loop-2'])
    await schedules.resume('loop-1')
    const again = await store.importWorkflow({ tasks: file, into: 'cw', zone: 'UTC' })
    expect(again.schedules.map(({ answer: came }) => came)).toEqual(['unchanged', 'unchanged'])
    expect(await schedules.get('loop-1')).toMatchObject({ disabled: null })
  })
})

describe('an import', () => {
  const terminal = new Terminal()
  const plain = '0 2 * * * /srv/backup.sh\n'

  it('exits 1 when anything was left out, and 0 with --partial; what is only different does not count', async () => {
    const different = await terminal.belfry('import crontab - --zone UTC', { stdin: `MAILTO=ops\n${plain}` })
    expect(different).toMatchObject({ exit: 0, stderr: expect.any(String) })
    expect(different.stdout).toMatch(
      /Nothing was left out\.\n[\s\S]*Imported with differences \(\d\):\n[\s\S]*MAILTO=ops/,
    )
    const typing = { stdin: `@reboot /srv/agent\n${plain}` }
    const left = await terminal.belfry('import crontab - --zone UTC', typing)
    expect(left.exit).toBe(1)
    expect(left.stdout).toMatch(/Left out \(1\):\n +WHERE +WHAT +WHY\n +line 1 +the line/)
    expect(left.stdout).toMatch(/Imported with differences \(\d\):/)
    expect((await terminal.belfry('import crontab - --zone UTC --partial', typing)).exit).toBe(0)
    const queue = { stdin: JSON.stringify({ entries: [{ id: 'q-1', status: 'drained' }] }) }
    expect((await terminal.belfry('import cool-workflow --queue-file -', queue)).exit).toBe(1)
    expect((await terminal.belfry('import cool-workflow --queue-file - --partial', queue)).exit).toBe(0)
  })

  it('tells what is left out and what is different in two lists', async () => {
    const desk = await Desk.open()
    const { store } = verbsAt(() => desk.context)
    const text = `MAILTO=ops\n@reboot /srv/agent\n${plain}`
    const { left, different, ok } = await store.importCrontab({ text })
    expect(left.map(({ where, what }) => [where, what])).toEqual([['line 2', 'the line']])
    expect(different.map(({ what }) => what)).toContain('MAILTO=ops')
    expect(ok).toBe(false)
    expect((await store.importCrontab({ text, partial: true })).ok).toBe(true)
    await desk.store.close()
  })

  it.each([
    ['0 0 2 * * * /srv/backup.sh', false],
    ['0 2 * * * 2026 /srv/backup.sh', false],
    ['*/30 0 2 * * MON-FRI /srv/backup.sh --all', false],
    ['0 0 2 * * ? /srv/backup.sh', false],
    ['0 0 2 * * * root /srv/backup.sh', true],
  ])('tells of a line with six fields, and makes no program of the sixth: %s', async (line, system) => {
    const desk = await Desk.open()
    const { store } = verbsAt(() => desk.context)
    const { left, schedules } = await store.importCrontab({ text: `${line}\n`, system })
    expect(schedules).toEqual([])
    expect(left).toMatchObject([{ where: 'line 1', what: 'the line', why: expect.stringContaining('six fields') }])
    await desk.store.close()
  })
})
