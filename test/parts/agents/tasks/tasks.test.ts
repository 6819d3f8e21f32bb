import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { projectRoot } from '../../../../src/parts/agents/inbox/project-root.ts'
import { all, both } from '../../../../src/store/statement.ts'
import { startAt } from '../../../operations/desk.ts'
import { agent, atEachDesk, day, hour, limited, minute, verbsOf } from './scene.ts'

const daily = { cron: '0 9 * * *', zone: 'UTC', prompt: 'Triage the inbox' }

atEachDesk('a task', (desk) => {
  it('is a schedule in the queue agents, of at most three at once, whose spread comes from its id', async () => {
    const { tasks, schedules, queues } = verbsOf(desk(), {}, { randomHex: () => '40000000' })
    const { answer, task } = await tasks.create(daily)
    expect(answer).toBe('created')
    expect(task).toMatchObject({ id: '40000000', name: 'task-40000000', status: 'waiting', agent: 'claude' })
    // A quarter of the largest spread, which is a tenth of the period and at most 15 minutes.
    const nominal = startAt + day - hour + hour
    expect(task).toMatchObject({ nextAt: nominal, nextDueAt: nominal + (15 * minute) / 4, expiresAt: null })
    expect(await schedules.get('task-40000000')).toMatchObject({
      queue: 'agents',
      target: { agent: { profile: 'claude', prompt: daily.prompt }, cwd: '/srv/app' },
      tags: ['project:/srv/app'],
    })
    expect(await queues.get('agents')).toMatchObject({ policy: { maxConcurrent: 3 } })
    await expect(queues.delete('agents')).rejects.toThrow()
  })

  it.each([{ cron: '0 9 * * *', zone: 'UTC' }, { every: '2h' }, { in: '20m' }, { at: '2026-01-05T12:00:00Z' }])(
    'of the timing %j is explained by the plan that the engine made, not by another spread',
    async (timing) => {
      const { tasks, schedules, runs } = verbsOf(desk(), {}, { randomHex: () => '40000000' })
      const { task } = await tasks.create({ ...timing, prompt: 'Look.' })
      expect(await schedules.explain(task.name)).toMatchObject({ rederived: { answer: 'same', differs: [] } })
      desk().clock.advance((task.nextDueAt ?? 0) - desk().clock.now())
      await desk().store.fireDue({ limit: 10 })
      const {
        runs: [run],
      } = await runs.list({ schedule: task.name })
      expect(await runs.explain(run?.id ?? '')).toMatchObject({
        planned: { rederived: { answer: 'same', differs: [] } },
      })
    },
  )

  it('without spread starts at its nominal instant', async () => {
    const { task } = await verbsOf(desk()).tasks.create({ ...daily, exact: true })
    expect(task.nextDueAt).toBe(task.nextAt)
    const { task: edited } = await verbsOf(desk()).tasks.edit(task.id, { exact: false, cron: '0 10 * * *' })
    expect(edited).toMatchObject({ isExact: false, nextAt: startAt + hour })
    expect((await verbsOf(desk()).tasks.edit(task.id, { model: 'opus' })).task.isExact).toBe(false)
  })

  it('made in the minute of its own cron, or begun at once, does not fire twice for that minute', async () => {
    const { tasks } = verbsOf(desk())
    const { store, clock } = desk()
    // The clock stands on the minute that the cron names.
    await tasks.create({ ...daily, exact: true })
    const { task } = await tasks.loop('Is CI green?', { every: '5m', exact: true })
    const fired = async () => (await store.fireDue({ limit: 10 })).runs.map(({ schedule }) => schedule)
    expect(await fired()).toEqual([task.name])
    for (const ms of [0, 1_000, minute - 1_001]) {
      clock.advance(ms)
      expect(await fired()).toEqual([])
    }
  })

  it('asked for twice in the same words within a minute is one task, also as a time from now', async () => {
    const { tasks } = verbsOf(desk())
    const soon = { in: '20m', prompt: 'Is the deploy healthy?' }
    const { task } = await tasks.create(soon)
    desk().clock.advance(minute - 1)
    expect(await tasks.create(soon)).toMatchObject({ answer: 'unchanged', task: { id: task.id, nextAt: task.nextAt } })
    expect(await tasks.create({ ...soon, prompt: 'Is it still?' })).toMatchObject({ answer: 'created' })
    expect(await tasks.create({ ...soon, in: '21m' })).toMatchObject({ answer: 'created' })
    expect(await verbsOf(desk(), { name: 'bob' }).tasks.create(soon)).toMatchObject({ answer: 'created' })
    desk().clock.advance(1)
    expect(await tasks.create(soon)).toMatchObject({ answer: 'created' })
    expect(await tasks.list()).toHaveLength(5)
  })

  it('asked for twice within a minute with other fields is refused with their names: nothing that was asked for is dropped', async () => {
    const { tasks } = verbsOf(desk())
    const soon = {
      in: '20m',
      prompt: 'Is the deploy healthy?',
      env: { A: '1' },
      timeout: '10m',
      expires: '1d',
    } as const
    const { task } = await tasks.create(soon)
    desk().clock.advance(minute / 2)
    expect(await tasks.create(soon)).toMatchObject({ answer: 'unchanged' })
    const onFailure = { http: { url: 'https://example.org/a' } }
    const other = {
      ...soon,
      env: { A: '2' },
      attempts: 3,
      onFailure,
      exact: true,
      expires: '2d',
      timeout: undefined,
    } as const
    await expect(tasks.create(other)).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(`task edit ${task.id}`),
      details: { task: task.id, fields: ['attempts', 'env', 'exact', 'expires', 'onFailure', 'timeout'] },
    })
    expect((await tasks.create({ ...other, name: 'own' })).answer).toBe('created')
    expect(await tasks.list()).toHaveLength(2)
  })

  it('is one of at most 50 of its project, by whoever is faster; finished and deleted ones do not count', async () => {
    const { tasks } = verbsOf(desk())
    const asked = Array.from({ length: 60 }, (_, index) => ({ in: '1h', prompt: `Look at ${index}.` }))
    const answers = await Promise.allSettled(asked.map((input) => tasks.create(input)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
    const other = { in: '1h', prompt: 'Look elsewhere.' }
    await expect(tasks.create(other)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Project /srv/app has 50 tasks that have not finished, and may not have more.',
      details: { reason: 'project-full' },
    })
    expect((await tasks.create({ ...other, cwd: '/srv/b' })).task.project).toBe('/srv/b')
    const [first] = await tasks.list({ limit: 1 })
    await tasks.delete(first?.id ?? '')
    expect((await tasks.create(other)).answer).toBe('created')
    // A missed task counts as unfinished until a person has decided.
    desk().clock.advance(2 * hour)
    await desk().store.fireDue({ limit: 200 })
    await expect(tasks.create({ in: '1h', prompt: 'And now?' })).rejects.toThrow('has 50 tasks')
    await verbsOf(desk()).missed.drop('all')
    expect((await tasks.create({ in: '1h', prompt: 'And now?' })).answer).toBe('created')
    expect(await tasks.list()).toHaveLength(1)
  })

  it('that runs once is finished when its run has ended: it is hidden, and its name is free', async () => {
    const { tasks, schedules } = verbsOf(desk())
    const once = { name: 'deploy', in: '1h', prompt: 'Is the deploy healthy?', exact: true }
    const { task } = await tasks.create(once)
    await expect(tasks.create({ ...once, prompt: 'Another.' })).rejects.toThrow(
      `Schedule deploy is the task ${task.id}.`,
    )
    desk().clock.advance(hour)
    await desk().store.fireDue({ limit: 10 })
    expect(await tasks.get('deploy')).toMatchObject({ id: task.id, status: 'live', nextAt: null })
    await expect(tasks.create({ ...once, prompt: 'Another.' })).rejects.toThrow(
      `Schedule deploy is the task ${task.id}.`,
    )
    const [run] = (await verbsOf(desk()).runs.list({ schedule: 'deploy' })).runs
    await verbsOf(desk()).runs.cancel(run?.id ?? '')
    expect(await tasks.list()).toEqual([])
    expect(await tasks.list({ all: true })).toMatchObject([{ id: task.id, status: 'finished' }])
    const again = await tasks.create({ ...once, prompt: 'Another.' })
    expect(again).toMatchObject({ answer: 'created', task: { name: 'deploy' } })
    expect((await tasks.list({ all: true })).map(({ id }) => id)).toEqual([task.id, again.task.id])
    expect(await tasks.get(task.id)).toMatchObject({ status: 'finished' })
    await tasks.delete(again.task.id)
    expect((await tasks.list({ all: true })).map(({ id }) => id)).toEqual([task.id])
    expect((await schedules.create({ name: 'deploy', every: '1h', target: { handler: 'h' } })).answer).toBe('created')
  })

  it('that has finished gives its name to a schedule too, and goes with it when retention has passed', async () => {
    const { tasks, schedules } = verbsOf(desk())
    await tasks.create({ name: 'deploy', in: '1h', prompt: 'Well?', missed: 'skip', exact: true })
    desk().clock.advance(2 * hour)
    await desk().store.fireDue({ limit: 10 })
    expect((await schedules.put('deploy', { every: '1h', target: { handler: 'h' } })).answer).toBe('created')
    await schedules.delete('deploy')
    desk().clock.advance(100 * day)
    for (let round = 0; round < 5; round++) await desk().store.prune({ limit: 1_000 })
    expect(await tasks.list({ all: true })).toEqual([])
    expect(await schedules.list({ deleted: true })).toEqual([])
  })

  it('that finished a week ago is deleted, and can still be looked at; what waits for a person is not', async () => {
    const { tasks, schedules } = verbsOf(desk())
    const once = { in: '1h', exact: true } as const
    const { task: over } = await tasks.create({ ...once, prompt: 'Over.', missed: 'skip' })
    const { task: asked } = await tasks.create({ ...once, prompt: 'Asked.' })
    const { task: going } = await tasks.create({ ...daily })
    desk().clock.advance(2 * hour)
    await desk().store.fireDue({ limit: 10 })
    await desk().store.prune({ limit: 1_000 })
    expect(await schedules.list({ deleted: true })).toEqual([])
    desk().clock.advance(7 * day)
    await desk().store.prune({ limit: 1_000 })
    expect((await schedules.list({ deleted: true })).map(({ name }) => name)).toEqual([over.name])
    expect(await tasks.get(over.id)).toMatchObject({ status: 'finished' })
    expect((await tasks.list()).map(({ id }) => id)).toEqual([asked.id, going.id])
    await expect(tasks.edit(over.id, { prompt: 'Again.' })).rejects.toThrow()
  })

  it('is changed as a task alone: a schedule written over it would lose its author and expiry', async () => {
    const { tasks, schedules } = verbsOf(desk())
    const { task } = await tasks.create({ ...daily, expires: '30d' })
    await expect(schedules.put(task.name, { every: '1h', target: { handler: 'h' } })).rejects.toMatchObject({
      code: 'conflict',
      message: `Schedule ${task.name} is the task ${task.id}.`,
    })
    await schedules.update(task.name, { priority: 7 })
    const { task: changed } = await tasks.edit(task.id, { promptFile: '/srv/prompt.md', every: '6h', context: 'last' })
    expect(changed).toMatchObject({ promptFile: '/srv/prompt.md', timing: 'every 6h', context: 'last', version: 3 })
    expect(changed).not.toHaveProperty('prompt')
    expect(changed.expiresAt).toBe(startAt + 30 * day)
    expect(await schedules.get(task.name)).toMatchObject({ priority: 7, tags: ['project:/srv/app'] })
    await expect(tasks.edit(task.id, { model: 'x', ifVersion: 2 })).rejects.toThrow('has version 3')
    expect((await tasks.edit(task.id, { context: null, expires: null })).task).toMatchObject({ expiresAt: null })
    expect((await tasks.edit(task.id, { model: null })).answer).toBe('unchanged')
  })

  it('expires: the first occurrence at or after the instant is the last', async () => {
    const { tasks } = verbsOf(desk())
    const at = (days: number) => startAt + days * day
    const { task, next } = await tasks.create({ ...daily, exact: true, expires: '36h' })
    expect(next.map(({ at: each }) => each)).toEqual([at(1), at(2)])
    const { next: onTheDot } = await tasks.edit(task.id, { expires: '24h' })
    expect(onTheDot.map(({ at: each }) => each)).toEqual([at(1)])
    desk().clock.advance(day)
    expect((await desk().store.fireDue({ limit: 10 })).runs).toHaveLength(1)
    expect(await tasks.get(task.id)).toMatchObject({ nextAt: null, status: 'live' })
  })

  it('expires after a long night too: of what was missed nothing after its last occurrence runs', async () => {
    const { tasks, schedules } = verbsOf(desk())
    const { task } = await tasks.create({ ...daily, exact: true, expires: '36h', missed: 'all', maxLateness: '365d' })
    desk().clock.advance(10 * day)
    const { runs } = await desk().store.fireDue({ limit: 10 })
    expect(runs.map(({ occurrenceAt }) => occurrenceAt)).toEqual([startAt + day, startAt + 2 * day])
    expect(await schedules.history(task.name)).toHaveLength(2)
  })

  it('of an agent lasts seven days at most, and only a person makes it permanent', async () => {
    const mine = verbsOf(desk(), agent).tasks
    const { task } = await mine.create(daily)
    expect(task).toMatchObject({ author: 'claude', by: 'agent', expiresAt: startAt + 7 * day })
    const long = await mine.create({ every: '1h', prompt: 'Look.', expires: '30d' })
    expect(long.task.expiresAt).toBe(startAt + 7 * day)
    const short = await mine.create({ every: '2h', prompt: 'Look.', expires: '1d' })
    expect(short.task.expiresAt).toBe(startAt + day)
    const { task: kept } = await verbsOf(desk()).tasks.edit(task.id, { permanent: true })
    expect(kept).toMatchObject({ expiresAt: null, by: 'agent', author: 'claude' })
  })

  it.each([
    ['permanent', { permanent: true }],
    ['until', { until: { command: 'true' } }],
    ['env', { env: { TOKEN: 'x' } }],
  ])('of an agent has no %s: refused, and audited', async (field, more) => {
    const tasks = limited(desk(), agent)
    const refused = tasks.create({ ...daily, ...more } as never)
    await expect(refused).rejects.toMatchObject({ code: 'not-allowed', message: expect.stringContaining(field) })
    const { task } = await verbsOf(desk()).tasks.create(daily)
    await expect(tasks.edit(task.id, { prompt: 'Do as I say.' })).rejects.toThrow('was made by a person')
    const audit = await desk().store.look(() =>
      all(both('test audit', 'select caller, verb, detail from belfry.audit')),
    )
    const detail = '{"refused":"not-allowed"}'
    const refusals = audit.filter((row) => row.detail === detail)
    expect(refusals).toMatchObject([
      { verb: 'task.create', caller: 'agent' },
      { verb: 'task.edit', caller: 'agent' },
    ])
  })

  it('is refused while durable tasks are off, does not fire, and goes on when they are on', async () => {
    const { tasks, settings, schedules } = verbsOf(desk())
    const { task } = await tasks.create({ every: '1h', prompt: 'Look.', exact: true })
    await schedules.create({ name: 'plain', every: '1h', target: { handler: 'h' } })
    await settings.set('durable', 'off')
    const off = { code: 'conflict', details: { reason: 'durable-off' } }
    await expect(tasks.create(daily)).rejects.toMatchObject(off)
    await expect(tasks.loop('Look.', { every: '5m' })).rejects.toMatchObject(off)
    await expect(tasks.edit(task.id, { prompt: 'Look!' })).rejects.toMatchObject(off)
    await expect(schedules.update(task.name, { priority: 7 })).rejects.toMatchObject(off)
    await expect(tasks.run(task.id)).rejects.toMatchObject(off)
    desk().clock.advance(hour)
    expect((await desk().store.fireDue({ limit: 10 })).runs).toMatchObject([{ schedule: 'plain' }])
    expect((await desk().store.fireDue({ limit: 10 })).runs).toEqual([])
    expect(await tasks.get(task.id)).toMatchObject({ nextAt: startAt + hour, runsCount: 0 })
    await tasks.pause(task.id)
    await tasks.resume(task.id)
    await settings.reset('durable')
    desk().clock.advance(minute)
    expect((await desk().store.fireDue({ limit: 10 })).runs).toMatchObject([{ schedule: task.name }])
  })

  it('names the budgets that count its runs', async () => {
    const { tasks, budgets } = verbsOf(desk())
    await budgets.put('claude-day', { for: 'profile=claude', per: 'day', runs: 10 })
    await budgets.put('codex-day', { for: 'profile=codex', per: 'day', runs: 10 })
    await budgets.put('all', { for: 'kind=agent', per: 'day', runs: 10 })
    expect((await tasks.create(daily)).budgets).toEqual(['all', 'claude-day'])
  })

  it('in a loop begins at once and ends with its runs, at the latest', async () => {
    const { tasks } = verbsOf(desk())
    const { task, next } = await tasks.loop('Is CI green?', { every: '5m', maxRuns: 2, exact: true })
    expect(task).toMatchObject({ timing: 'every 5m', nextAt: startAt, prompt: 'Is CI green?' })
    expect(next).toHaveLength(2)
  })
})

atEachDesk('files that a task names', (desk) => {
  it('are refused at once where they are not there or too long, and not when the first run starts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-task-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'p.md'), 'Look.')
    writeFileSync(join(folder, 'long.md'), 'x'.repeat(70_000))
    const { tasks } = verbsOf(desk(), {}, { folder })
    const named = (input: object) => tasks.create({ in: '1h', prompt: 'Look.', ...input })
    const absent = { promptFile: 'nosuch.txt', prompt: undefined, cwd: 'nosuch' }
    await expect(named(absent)).rejects.toMatchObject({
      details: { problems: [{ field: 'cwd' }, { field: 'promptFile', problem: expect.stringContaining('no file') }] },
    })
    for (const long of ['long.md', join(folder, 'long.md')]) {
      await expect(named({ promptFile: long, prompt: undefined })).rejects.toThrow(/promptFile .*has 70000 bytes/)
    }
    const { task } = await named({ promptFile: 'p.md', prompt: undefined })
    await expect(tasks.edit(task.id, { promptFile: 'nosuch.txt' })).rejects.toThrow(/promptFile .*no file/)
    expect(await tasks.list()).toHaveLength(1)
  })
})

describe('what is refused of a task', () => {
  atEachDesk('at every door', (desk) => {
    it.each([
      [
        'an unknown profile, with the nearest',
        { agent: 'clade' },
        /agent is "clade", and there is no such profile \(expected: claude/,
      ],
      ['an empty prompt', { prompt: ' ' }, /prompt is empty/],
      ['no prompt', { prompt: undefined }, /prompt is missing/],
      ['a prompt over 64 KB', { prompt: 'x'.repeat(65_537) }, /prompt has 65537 bytes/],
      ['a secret in a prompt', { prompt: 'Use { secret: KEY }' }, /prompt holds a secret .*by name in env/],
      ['a prompt and a file', { promptFile: 'p.md' }, /promptFile is given beside prompt/],
      [
        'no timing',
        { cron: undefined, zone: undefined },
        /cron is missing \(expected: one of cron, every, at and in\)/,
      ],
      ['two timings', { in: '1h' }, /in is given beside `cron`/],
      [
        'an instant that has passed, as it was understood',
        { cron: undefined, zone: undefined, at: '2026-01-01T01:00+01:00' },
        /at is 2026-01-01T00:00:00.000Z, which is in the past/,
      ],
      [
        'an expiry that has passed',
        { expiresAt: '2026-01-01T00:00Z' },
        /expiresAt is 2026-01-01T00:00:00.000Z, which is in the past/,
      ],
      ['two expiries', { expires: '1d', expiresAt: '2027-01-01T00:00Z' }, /expires is given beside `expiresAt`/],
      ['an expiry of what is permanent', { expires: '1d', permanent: true }, /expires is given beside `permanent`/],
      [
        'a session with an agent that continues none',
        { agent: 'aider', context: 'session' },
        /context is session, and profile aider continues none/,
      ],
      ['a field that it does not have', { promt: 'x' }, /promt is not a field of a task \(expected: prompt/],
    ])('%s', async (_, input, says) => {
      const created = verbsOf(desk()).tasks.create({ ...daily, ...input } as never)
      await expect(created).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(says) })
      expect(await verbsOf(desk()).tasks.list()).toEqual([])
    })

    it('everything at once', async () => {
      const created = verbsOf(desk()).tasks.create({
        agent: 'clade',
        prompt: '',
        every: '1ms',
        context: 'new',
      } as never)
      const { details } = await created.catch((error) => error)
      const fields = details.problems.map(({ field }: { field: string }) => field).sort()
      expect(fields).toEqual(['agent', 'context', 'every', 'prompt'])
    })
  })
})

describe('the project of a folder', () => {
  it('is the real path of the checkout, or of the folder', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-project-')))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'app', 'src'), { recursive: true })
    symlinkSync(join(folder, 'app', 'src'), join(folder, 'link'))
    expect(projectRoot(join(folder, 'link'))).toBe(join(folder, 'app', 'src'))
    mkdirSync(join(folder, 'app', '.git'))
    expect(projectRoot(join(folder, 'link'))).toBe(join(folder, 'app'))
    expect(projectRoot(join(folder, 'app'))).toBe(join(folder, 'app'))
    expect(projectRoot('/nowhere/at/all')).toBe('/nowhere/at/all')
  })
})
