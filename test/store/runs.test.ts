import { expect, test } from 'vitest'
import type { Lease } from '../../src/store/port.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import type { RunFilter } from '../../src/store/views.ts'
import { numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const list = (scene: Scene, filter: Partial<RunFilter> = {}) =>
  scene.read((context) => listRuns(context, { limit: 100, ...filter }))
const idsOf = async (scene: Scene, filter: Partial<RunFilter> = {}) =>
  (await list(scene, filter)).runs.map(({ id }) => id)

/** Every page of a list, one run at a time. */
async function paged(scene: Scene, filter: Partial<RunFilter>): Promise<string[]> {
  const ids: string[] = []
  for (let before: string | undefined, pages = 0; pages < 50; pages++) {
    const page = await list(scene, { ...filter, limit: 1, ...(before !== undefined && { before }) })
    ids.push(...page.runs.map(({ id }) => id))
    if (page.next === null) return ids
    before = page.next
  }
  throw new Error('the list does not end')
}

const failed = { kind: 'failed', reason: 'broken', retryable: false } as const

onEachDatabase('runs', (scene) => {
  test('all runs come newest first, and pages neither repeat nor lose one', async () => {
    const ids = []
    for (let run = 0; run < 4; run++) ids.push(await scene().enqueue({ queue: run % 2 === 0 ? 'a' : 'b' }))
    expect(await idsOf(scene())).toEqual(ids.toReversed())
    expect(await paged(scene(), {})).toEqual(ids.toReversed())
    expect(await paged(scene(), { queue: 'a' })).toEqual([ids[2], ids[0]])
    const { next } = await list(scene(), { limit: 2 })
    expect(await idsOf(scene(), { before: next ?? '' })).toEqual([ids[1], ids[0]])
  })

  test('ended runs come by their end, over all queues and in each', async () => {
    const ids: string[] = []
    for (const queue of ['a', 'b', 'a', 'b']) ids.push(await scene().enqueue({ queue }))
    const held = new Map<string, Lease>()
    for (const queue of ['a', 'b']) {
      await scene().setQueue(queue, { policy: { maxConcurrent: 5 } })
      for (const one of await scene().lease({ queue })) held.set(one.runId, one)
    }
    // They end in another order than they were made in.
    const ended = [ids[3], ids[1], ids[2], ids[0]].map((id) => held.get(id ?? '') as Lease)
    for (const one of ended) {
      await scene().end(one)
      scene().clock.now += 1
    }
    const failing = await scene().ended({ queue: 'a', onExhausted: 'fail' }, failed)
    expect(await paged(scene(), { status: 'completed' })).toEqual([ids[0], ids[2], ids[1], ids[3]])
    expect(await paged(scene(), { status: 'completed', queue: 'b' })).toEqual([ids[1], ids[3]])
    expect(await paged(scene(), { status: 'failed' })).toEqual([failing])
    expect(await paged(scene(), { status: 'skipped' })).toEqual([])
  })

  test('runs that ended at the same instant are not lost between pages', async () => {
    const ids = []
    for (let run = 0; run < 5; run++) ids.push(await scene().ended())
    expect(await paged(scene(), { status: 'completed' })).toEqual(ids.toReversed())
  })

  test('ready runs come in the order they go, and then those that wait for something', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const waiting = await scene().enqueue({ notBefore: startAt + 99 })
    const low = await scene().enqueue({ priority: 200 })
    const keyed = await scene().enqueue({ concurrencyKey: 'k', target: { handler: 'h' } })
    const gated = await scene().enqueue({ concurrencyKey: 'k', target: { handler: 'h' } })
    const high = await scene().enqueue({ priority: -3, queue: 'other' })
    const order = [high, keyed, low, gated, waiting]
    expect(await idsOf(scene(), { status: 'ready' })).toEqual(order)
    expect(await paged(scene(), { status: 'ready' })).toEqual(order)
    expect(await paged(scene(), { status: 'ready', queue: 'other' })).toEqual([high])
  })

  test('leased, parked and held runs are each listed alone', async () => {
    const parked = await scene().parked()
    scene().clock.now += 1
    const parkedLater = await scene().parked()
    const leased = await scene().enqueue()
    await scene().lease()
    const scheduleId = await scene().schedule()
    const held = await scene().occurrence(scheduleId)
    await scene().sql(
      `insert into belfry.aside (run_id, ns, queue_id, need_id, priority, enqueued_at, kind, at, fence, attempts, releases,
        deaths) select run_id, ns, queue_id, need_id, priority, enqueued_at, 'held', 0, 0, 0, 0, 0 from belfry.ready
        where run_id = $1`,
      numberOf(held),
    )
    await scene().sql('delete from belfry.ready where run_id = $1', numberOf(held))
    expect(await paged(scene(), { status: 'parked' })).toEqual([parkedLater, parked])
    expect(await paged(scene(), { status: 'leased' })).toEqual([leased])
    expect(await paged(scene(), { status: 'held' })).toEqual([held])
    expect(await idsOf(scene(), { status: 'ready' })).toEqual([])
  })

  test('the runs of a schedule are sifted from every list', async () => {
    const scheduleId = await scene().schedule({ name: 's' })
    const done = await scene().occurrence(scheduleId, startAt)
    await scene().end(await scene().leaseOf(done))
    await scene().ended()
    const doneLater = await scene().occurrence(scheduleId, startAt + 9)
    await scene().end(await scene().leaseOf(doneLater))
    const leased = await scene().occurrence(scheduleId, startAt + 1)
    await scene().lease()
    const ready = await scene().occurrence(scheduleId, startAt + 2)
    const cancelled = await scene().occurrence(scheduleId, startAt + 3)
    await scene().write((context) => cancelRun(context, cancelled, 'x'))
    await scene().enqueue()
    expect(await paged(scene(), { schedule: 's' })).toEqual([cancelled, ready, leased, doneLater, done])
    expect(await paged(scene(), { schedule: 's', status: 'ready' })).toEqual([ready])
    expect(await paged(scene(), { schedule: 's', status: 'leased' })).toEqual([leased])
    expect(await paged(scene(), { schedule: 's', status: 'completed' })).toEqual([doneLater, done])
    expect(await paged(scene(), { schedule: 's', status: 'cancelled' })).toEqual([cancelled])
  })

  test('a list goes on after its last run has been cancelled meanwhile', async () => {
    const ids = []
    for (let run = 0; run < 3; run++) ids.push(await scene().parked())
    const page = await list(scene(), { status: 'parked', limit: 1 })
    await scene().write((context) => cancelRun(context, page.runs[0]?.id ?? '', 'x'))
    expect(await idsOf(scene(), { status: 'parked', before: page.next ?? '' })).toEqual([ids[1], ids[0]])
  })

  test('what does not exist, and a place in another list, is refused', async () => {
    await scene().enqueue()
    await expect(list(scene(), { queue: 'nope' })).rejects.toThrow('There is no queue "nope"')
    await expect(list(scene(), { schedule: 'nope' })).rejects.toThrow('There is no schedule "nope"')
    await expect(list(scene(), { limit: 0 })).rejects.toThrow('limit is 0')
    await expect(list(scene(), { status: 'failed', before: 'r-11' })).rejects.toThrow('before is "r-11"')
    await expect(list(scene(), { before: '17/r-11' })).rejects.toThrow('before is "17/r-11"')
  })

  test('runs of another namespace are in no list', async () => {
    await scene().enqueue()
    await scene().ended()
    const other = { ...scene().context, ns: scene().context.ns + 1_000_000 }
    for (const status of [undefined, 'ready', 'completed'] as const) {
      const page = await scene().read(() => listRuns(other, { limit: 10, ...(status && { status }) }))
      expect(page).toEqual({ runs: [], next: null })
    }
  })
})
