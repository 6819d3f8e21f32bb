import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planLeases } from '../../src/core/queue/plan-leases.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { planInput } from '../../src/store/reads/plan-input.ts'
import { retryRun } from '../../src/store/runs/retry-run.ts'
import { stop } from '../holding.ts'
import { numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const planOf = (scene: Scene, limit = 1_000) => scene.read((context) => planInput(context, 'default', limit))
const can = { kinds: ['http', 'agent/x'], handlers: ['a'], host: true }

async function plannedIds(scene: Scene): Promise<string[]> {
  const window = await planOf(scene)
  return planLeases({ ...window, can: [can] }).leases.map(({ id }) => id)
}

const input = fc.record(
  {
    priority: fc.integer({ min: -1, max: 1 }),
    notBefore: fc.integer({ min: startAt - 2, max: startAt + 2 }),
    deadline: fc.integer({ min: startAt + 3, max: startAt + 5 }),
    concurrencyKey: fc.constantFrom('k', 'l'),
    target: fc.constantFrom(
      { handler: 'a' },
      { handler: 'b' },
      { http: { url: 'u' } },
      { agent: {}, lane: 'x' },
      { agent: {} },
      null,
    ),
    onExhausted: fc.constant('park' as const),
  },
  { requiredKeys: ['onExhausted'] },
)
const outcome = fc.constantFrom(
  { kind: 'success' } as const,
  { kind: 'failed', reason: 'x' } as const,
  { kind: 'failed', reason: 'x', retryable: false } as const,
  { kind: 'released' } as const,
)

/** The end of a run that came too late opens the gate of its key for one that still fits into the same lease. */
const lateBeforeItsKey = {
  policy: { maxConcurrent: 2, maxConcurrentPerKey: 1 },
  before: [],
  outcomes: [],
  after: [
    { deadline: startAt + 3, concurrencyKey: 'l', target: { http: { url: 'u' } }, onExhausted: 'park' },
    { priority: 0, deadline: startAt + 3, onExhausted: 'park' },
    { priority: 0, onExhausted: 'park' },
    { concurrencyKey: 'l', target: { http: { url: 'u' } }, onExhausted: 'park' },
  ],
  waitMs: 1_000,
} as const

/** A long row of runs that came too late does not hide the one behind them, whatever little room there is. */
const manyLate = {
  policy: { maxConcurrent: 1 },
  before: [],
  outcomes: [],
  after: [
    ...Array.from({ length: 12 }, () => ({ priority: 0, deadline: startAt + 3, onExhausted: 'park' })),
    { onExhausted: 'park' },
  ],
  waitMs: 1_000,
} as const

/** A run that came too late must not keep a better one of its key behind the gate while a worse one goes. */
const lateAheadOfItsKey = {
  policy: { maxConcurrent: 1, maxConcurrentPerKey: 1 },
  before: [],
  outcomes: [],
  after: [
    { concurrencyKey: 'l', onExhausted: 'park' },
    { onExhausted: 'park' },
    { priority: 0, deadline: startAt + 3, onExhausted: 'park' },
    { priority: 0, deadline: startAt + 3, concurrencyKey: 'l', onExhausted: 'park' },
  ],
  waitMs: 4,
} as const

onEachDatabase('planInput', (scene) => {
  test('whatever stands in a queue, the plan that is shown is what a lease then grants', async () => {
    const world = fc.record({
      policy: fc.record(
        {
          maxConcurrent: fc.integer({ min: 1, max: 6 }),
          maxConcurrentPerKey: fc.integer({ min: 1, max: 2 }),
          rateLimit: fc.record({ startsMax: fc.integer({ min: 1, max: 8 }), perMs: fc.constant(10_000) }),
        },
        { requiredKeys: ['maxConcurrent'] },
      ),
      before: fc.array(input, { maxLength: 6 }),
      outcomes: fc.array(outcome, { maxLength: 3 }),
      after: fc.array(input, { maxLength: 6 }),
      waitMs: fc.constantFrom(0, 1, 2, 4, 1_000, 400_000),
    })
    const examples = [lateBeforeItsKey, lateAheadOfItsKey, manyLate].map(
      (one) => [structuredClone(one) as never] as [never],
    )
    await fc.assert(
      fc.asyncProperty(world, async ({ policy, before, outcomes, after, waitMs }) => {
        await scene().begin()
        await scene().setQueue('default', { policy: { ...policy, backoffBaseMs: 2 } })
        for (const run of before) await scene().enqueue(run)
        const held = await scene().lease({ can })
        for (const [index, end] of outcomes.entries()) {
          const one = held[index]
          if (one !== undefined) await scene().end(one, end)
        }
        for (const run of after) await scene().enqueue(run)
        scene().clock.now += waitMs
        const planned = await plannedIds(scene())
        expect((await scene().lease({ can })).map(({ runId }) => runId)).toEqual(planned)
      }),
      { numRuns: scene().dialect === 'sqlite' ? 150 : 40, examples },
    )
  })

  test('every live and parked run is in the window with what keeps it', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const parked = await scene().parked()
    const backedOff = await scene().enqueue()
    await scene().end(await scene().leaseOf(backedOff), { kind: 'failed', reason: 'x' })
    const leased = await scene().leaseOf(await scene().enqueue({ concurrencyKey: 'k' }))
    const gated = await scene().enqueue({ concurrencyKey: 'k', target: { handler: 'a' } })
    const later = await scene().enqueue({ notBefore: startAt + 9 })
    const scheduleId = await scene().schedule()
    const late = await scene().occurrence(scheduleId, startAt)
    await scene().sql('update belfry.run set late_after = $2 where id = $1', numberOf(late), startAt + 5)
    const window = await planOf(scene())
    expect(new Map(window.runs.map((run) => [run.id, run]))).toMatchObject(
      new Map<string, unknown>([
        [leased.runId, { status: 'leased', leaseExpiresAt: startAt + 300_000, concurrencyKey: 'k', target: null }],
        [late, { status: 'ready', deadline: startAt + 6 }],
        [backedOff, { status: 'ready', nextEligibleAt: startAt + 1_000 }],
        [later, { status: 'ready', notBefore: startAt + 9 }],
        [gated, { status: 'ready', concurrencyKey: 'k', target: { kind: 'handler', name: 'a' } }],
        [parked, { status: 'parked' }],
      ]),
    )
    expect(window.runs).toHaveLength(6)
    expect(window).toMatchObject({ now: startAt, queue: 'default', holds: [], recentStarts: [] })
  })

  test('a run that was leased once is never too late for its next attempt, also when that first one came to nothing', async () => {
    const late = await scene().occurrence(await scene().schedule(), startAt)
    await scene().sql('update belfry.run set late_after = $2 where id = $1', numberOf(late), startAt + 5)
    await scene().end(await scene().leaseOf(late), { kind: 'released' })
    expect((await planOf(scene())).runs).toMatchObject([{ id: late, status: 'ready', deadline: null }])
  })

  test('a run behind a run of its schedule names it, and one of a paused schedule is held', async () => {
    const scheduleId = await scene().schedule()
    const ended = await scene().occurrence(scheduleId, startAt)
    await scene().end(await scene().leaseOf(ended))
    const live = await scene().occurrence(scheduleId, startAt + 1)
    const behind = await scene().write((context) => retryRun(context, ended))
    await scene().sql('update belfry.schedule set disabled_at = 1 where id = $1', scheduleId)
    const held = await scene().write((context) => retryRun(context, ended))
    const runs = new Map((await planOf(scene())).runs.map((run) => [run.id, run]))
    expect(runs.get(live)).toMatchObject({ status: 'ready', blockedBy: null })
    expect(runs.get('id' in behind ? behind.id : '')).toMatchObject({ status: 'ready', blockedBy: live })
    expect(runs.get('id' in held ? held.id : '')).toMatchObject({ status: 'held', blockedBy: null })
  })

  test('lateness is judged before the first attempt only', async () => {
    const scheduleId = await scene().schedule()
    const id = await scene().occurrence(scheduleId)
    await scene().sql('update belfry.run set late_after = $2 where id = $1', numberOf(id), startAt + 5)
    await scene().end(await scene().leaseOf(id), { kind: 'failed', reason: 'x' })
    expect((await planOf(scene())).runs).toMatchObject([{ id, deadline: null }])
  })

  test('a stop of the queue, a stop of everything and the latest starts are part of it', async () => {
    const rateLimit = { startsMax: 3, perMs: 1_000 }
    await scene().setQueue('default', { policy: { rateLimit }, paused: { reason: 'x' } })
    await scene().setQueue('default', { paused: false })
    for (let run = 0; run < 2; run++) await scene().enqueue()
    await scene().lease()
    await scene().setQueue('default', { paused: { reason: 'x' } })
    await scene().write((context) => putHold(context, stop))
    const holds = [
      { scope: 'queue', subject: 'default', reason: 'paused' },
      { scope: 'namespace', subject: '', reason: 'stopped' },
    ]
    expect(await planOf(scene())).toMatchObject({ holds, recentStarts: [startAt, startAt] })
    scene().clock.now += 1_000
    expect((await planOf(scene())).recentStarts).toEqual([])
  })

  test('a window shorter than the queue begins with those who go first', async () => {
    const ids = []
    for (const priority of [5, 3, 4, 1, 2]) ids.push(await scene().enqueue({ priority }))
    const window = await planOf(scene(), 2)
    expect(window.runs.map(({ id }) => id)).toEqual([ids[3], ids[4]])
  })

  test('a queue that does not exist, or cannot be read, has no plan', async () => {
    await expect(planOf(scene())).rejects.toThrow('There is no queue "default"')
    await scene().enqueue()
    await scene().sql(`update belfry.queue set policy = '{}' where ns = $1`, scene().context.ns)
    await expect(planOf(scene())).rejects.toThrow('cannot be read')
  })
})
