import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import {
  Belfry,
  type EnqueuedItem,
  type EnqueuedRun,
  type QueueWritten,
  type Run,
  type ScheduleStanding,
  type UpcomingRun,
  type Worker,
} from '../../src/index.ts'
import { errorOf, problemsIn } from './desk.ts'

async function open(): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  onTestFinished(() => belfry.close())
  return belfry
}

describe('a verb of the library', () => {
  it('takes what it is about first and the rest behind it, or all of it in one object', async () => {
    const { schedules, queues, runs } = await open()
    await schedules.put({ name: 'nightly', cron: '@daily' })
    await schedules.put('weekly', { cron: '@weekly' })
    const placed = await schedules.pause('nightly', { until: '2100-01-01T00:00Z', reason: 'r' })
    const whole = await schedules.pause({ name: 'weekly', until: '2100-01-01T00:00Z', reason: 'r' })
    expect(placed.paused).toEqual({ until: Date.UTC(2100, 0, 1), reason: 'r' })
    expect(whole.paused).toEqual(placed.paused)
    expect(await schedules.get({ name: 'nightly' })).toEqual(await schedules.get('nightly'))
    expect(await schedules.update({ name: 'nightly', priority: 5 })).toMatchObject({ changed: ['priority'] })
    expect(await queues.set({ name: 'mail', maxConcurrent: 2 })).toMatchObject({ answer: 'created' })
    const { id } = await runs.enqueue({ target: null })
    expect(await runs.cancel({ id, reason: 'r' })).toEqual({ answer: 'cancelled' })
    expect(await runs.list({})).toEqual(await runs.list())
  })

  it('of two takes the first as its subject, and the other behind it or in the object', async () => {
    const { corpora } = await open()
    await corpora.create({ name: 'faq', target: { handler: 'write' } })
    await corpora.putItem('faq', { path: 'a', sources: { ticket: 'x' } })
    const { item } = await corpora.item('faq', { path: 'a' })
    expect([await corpora.item('faq', 'a'), await corpora.item({ name: 'faq', path: 'a' })]).toMatchObject([
      { item },
      { item },
    ])
    expect(await problemsIn(corpora.item('faq', { path: 'a', name: 'faq' } as never))).toMatchObject([
      { field: 'name', problem: 'is given twice' },
    ])
  })

  it('takes a list as it is, or under its name, and names its items alike', async () => {
    const { runs } = await open()
    expect(await runs.enqueueMany([{ target: null }, { target: null }])).toHaveLength(2)
    expect(await runs.enqueueMany({ runs: [{ target: null }] })).toHaveLength(1)
    const bad = [{ target: null }, { timeout: 5, target: { handle: 'x' } }, { target: null, priorty: 1 }] as never
    const problems = await problemsIn(runs.enqueueMany(bad))
    expect(problems.map(({ field }) => field)).toEqual(['runs[1].timeout', 'runs[1].target.handle', 'runs[2].priorty'])
    expect(await problemsIn(runs.enqueueMany({ runs: bad }))).toEqual(problems)
    expect((await problemsIn(runs.enqueueMany({ runs: bad, queue: 'x' } as never)))[0]?.field).toBe('queue')
    expect(await problemsIn(runs.enqueueMany(Array(100_001).fill({})))).toMatchObject([{ field: 'runs' }])
  })

  it('takes what only this process can give behind the input, or among the options', async () => {
    const { runs } = await open()
    const { id } = await runs.enqueue({ target: null })
    const signal = AbortSignal.abort('enough')
    await expect(runs.wait(id, { timeout: '1h', signal })).rejects.toBe('enough')
    await expect(runs.wait({ id, timeout: '1h' }, { signal })).rejects.toBe('enough')
    expect(await problemsIn(runs.wait({ id, signal } as never))).toMatchObject([{ field: 'signal' }])
    expect(
      await problemsIn(runs.enqueue({ target: null, priority: 'x', tx: 1 } as never, { txn: 1 } as never)),
    ).toMatchObject([
      { field: 'priority' },
      { field: 'tx', problem: 'is not a field of a run' },
      { field: 'txn', expected: 'tx, if that was meant' },
    ])
  })

  it('tells the right name of a misspelt option, whichever side it belongs to', async () => {
    const { runs } = await open()
    const problems = await problemsIn(runs.wait('r-11', { singal: 1, timeuot: '1s', colour: 1 } as never))
    expect(problems.map(({ field, expected }) => [field, expected])).toEqual([
      ['timeuot', 'timeout, if that was meant'],
      ['colour', 'one of id, timeout'],
      ['singal', 'signal, if that was meant'],
    ])
  })

  it.each([
    ['nothing', [], 'name', /is missing/],
    ['null', [null], 'name', /is null/],
    ['nothing in the place of the name', [undefined, { for: '1h' }], 'name', /is missing/],
    ['a number', [5], 'name', /is 5/],
    ['no name in its object', [{ for: '1h' }], 'name', /is missing/],
    ['options that are none', ['a', 'b'], 'options', /is "b"/],
    ['a list of options', ['a', ['b']], 'options', /is a list/],
    ['a name twice', ['a', { name: 'b' }], 'name', /is given twice/],
    ['more than it reads', ['a', {}, {}], 'arguments', /are 3/],
    ['more than it reads behind its object', [{ name: 'a' }, {}], 'arguments', /are 2/],
    ['an unknown field', ['a', { fro: '1h' }], 'fro', /not a field of a pause/],
  ])('is refused %s', async (_, args, field, problem) => {
    const { schedules } = await open()
    const pause = schedules.pause as (...args: unknown[]) => Promise<unknown>
    expect(await problemsIn(pause(...args))).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.any(String) },
    ])
  })

  it('that needs nothing is refused what is not there', async () => {
    const { workers } = await open()
    const list = workers.list as (...args: unknown[]) => Promise<unknown>
    expect(await list()).toEqual([])
    expect(await list({})).toEqual([])
    expect(await problemsIn(list({ live: true }))).toMatchObject([
      { field: 'live', expected: 'one of after, limit, stopped' },
    ])
    expect(await problemsIn(list(null))).toMatchObject([{ problem: 'is null' }])
  })

  it('answers what is wrong by its promise, never by throwing', async () => {
    const { schedules } = await open()
    const answer = schedules.pause('a', 'b' as never)
    expect((await errorOf(answer)).code).toBe('invalid')
  })
})

it('the types of verbs come from the table', async () => {
  const { schedules, runs, queues, workers } = await open()
  const right = {
    get: () => schedules.get('a'),
    next: () => schedules.next({ name: 'a', count: 1 }),
    wait: () => runs.wait('a'),
    enqueue: () => runs.enqueue({ target: null }),
    enqueueMany: () => runs.enqueueMany([]),
    set: () => queues.set('a', {}),
    list: () => workers.list(),
  }
  expectTypeOf(right.get).returns.resolves.toEqualTypeOf<ScheduleStanding>()
  expectTypeOf(right.next).returns.resolves.toEqualTypeOf<UpcomingRun[]>()
  expectTypeOf(right.wait).returns.resolves.toEqualTypeOf<Run>()
  expectTypeOf(right.enqueue).returns.resolves.toEqualTypeOf<EnqueuedRun>()
  expectTypeOf(right.enqueueMany).returns.resolves.toEqualTypeOf<EnqueuedItem[]>()
  expectTypeOf(right.set).returns.resolves.toEqualTypeOf<QueueWritten>()
  expectTypeOf(right.list).returns.resolves.toEqualTypeOf<Worker[]>()
  const wrong = [
    // @ts-expect-error A hint has a reason.
    () => schedules.hint('a', { every: '1m' }),
    // @ts-expect-error It says nothing of which.
    () => schedules.pause({ for: '1h' }),
    // @ts-expect-error The name is settled.
    () => schedules.update('a', { name: 'b' }),
    // @ts-expect-error There is no such field.
    () => schedules.pause('a', { fro: '1h' }),
    // @ts-expect-error There is nothing to say of it.
    () => runs.get('a', { latest: true }),
    // @ts-expect-error The signal is no part of the input.
    () => runs.wait({ id: 'a', signal: AbortSignal.abort() }),
    // @ts-expect-error A transaction is no part of a run.
    () => runs.enqueue({ tx: 1 }),
  ]
  expect(wrong).toHaveLength(7)
})
