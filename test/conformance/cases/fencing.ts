import assert from 'node:assert/strict'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import type { Lease, LeaseName, Settled, Store } from '../../../src/store/port.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { listAttempts } from '../../../src/store/reads/list-attempts.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { type Case, cannotShare, enqueueMany, noop, type Stage } from '../place.ts'
import { assertEachRunStandsOnce, inBatches, snapshot, statusOf, succeed } from '../record.ts'

const leaseMs = 1_000
const yearMs = 365 * 86_400_000
const racersMax = 300

export const fencing: Case[] = [
  {
    name: 'law 4: a holder whose lease was taken back can neither renew, end nor write, and changes nothing by trying',
    async run(stage) {
      const store = await stage.open()
      await store.enqueue([noop({ dedupeKey: 'd', concurrencyKey: 'k' }), noop()])
      const { lease } = await stage.lessor(store, { leaseMs })
      const first = await lease(2)
      stage.clock.advance(leaseMs)
      const taken = await store.reclaim({ limit: 10 })
      assert.deepEqual(
        taken.map(({ runId, status, because }) => [runId, status, because]),
        first.map(({ runId }) => [runId, 'ready', 'expired']),
      )
      for (const held of first) await assertShutOut(stage, store, held)

      stage.clock.advance(60_000)
      const second = await lease(2)
      for (const { runId, fence } of second) {
        assert.equal(fence, 2)
        for (const other of [1, 3]) await assertShutOut(stage, store, { runId, fence: other })
        assert.equal((await store.look(listAttempts, runId)).length, 1)
      }
      await succeed(store, second)
      for (const held of first) await assertShutOut(stage, store, held)
    },
  },
  {
    name: 'law 4: the fence decides, not the clock: until reclaim has taken it a lease may be renewed, written to and ended',
    async run(stage) {
      const store = await stage.open()
      await enqueueMany(store, 3, () => noop())
      const { lease } = await stage.lessor(store, { leaseMs })
      const [renewed, ended, failed] = (await lease(3)) as [Lease, Lease, Lease]
      stage.clock.advance(yearMs)

      const [renewal] = await store.renew([renewed], leaseMs)
      assert.equal(renewal?.renewed && renewal.expiresAt, stage.clock.now() + leaseMs)
      assert.equal(await store.appendOutput(ended, 'late'), 'written')
      const settled = await store.settle([
        { ...ended, outcome: { kind: 'success' } },
        { ...failed, outcome: { kind: 'failed', reason: 'late' } },
      ])
      assert.deepEqual(settled.map(statusWritten), ['completed', 'ready'])
      assert.deepEqual(await store.reclaim({ limit: 10 }), [], 'what was renewed or ended was taken back')
      assert.equal(await statusOf(store, renewed.runId), 'leased')
    },
  },
  {
    name: 'law 3: an expired lease keeps its slot and its key until it is reclaimed, one by one',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 2, maxConcurrentPerKey: 1, backoffBaseMs: 60_000 })
      await store.enqueue([noop({ concurrencyKey: 'k' }), noop(), noop({ concurrencyKey: 'k' }), noop()])
      const { workerId, lease } = await stage.lessor(store, { leaseMs })
      const [keyed] = (await lease(9)) as [Lease]
      stage.clock.advance(leaseMs)
      stage.clock.advance(yearMs)
      const request = { queue: 'default', workerId, claimId: stage.claimId(), can: { kinds: ['handler'] }, limit: 9 }
      const full = await store.lease(request)
      assert.deepEqual([full.leases, full.inFlight, full.available], [[], 2, 0])

      const [taken] = await store.reclaim({ limit: 1 })
      assert.equal(taken?.runId, keyed.runId, 'the lease that expired first, or has the smaller id, goes first')
      const next = await lease(9)
      assert.equal(next.length, 1, 'one slot was freed, and one run starts')
    },
  },
  {
    name: 'law 4: fences grow by one with every lease and are never used again, whatever ended the attempt before',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 3, backoffBaseMs: 0, backoffCapMs: 0 })
      const [runId] = (await enqueueMany(store, 1, () => noop())) as [string]
      const { lease } = await stage.lessor(store, { leaseMs })
      const ends: (Outcome | 'lost')[] = [
        { kind: 'released' },
        { kind: 'failed', reason: 'a' },
        { kind: 'forced-stop' },
        'lost',
        { kind: 'released' },
        { kind: 'unknown', reason: 'b' },
      ]
      for (const [index, end] of ends.entries()) await endNext(stage, store, await lease(1), index + 1, end)
      assert.equal(await statusOf(store, runId), 'parked')
      assert.equal(await store.do(resetRun, runId), 'ready')
      await endNext(stage, store, await lease(1), ends.length + 1, { kind: 'success' })
      const attempts = await store.look(listAttempts, runId)
      assert.deepEqual(
        attempts.map(({ fence }) => fence),
        [1, 2, 3, 4, 5, 6, 7],
      )
      const again = await store.do(retryRun, runId)
      assert.ok(again.answer === 'created' && again.id !== runId)
      assert.deepEqual(
        (await lease(1)).map(({ runId: id, fence }) => ({ id, fence })),
        [{ id: again.id, fence: 1 }],
      )
    },
  },
  {
    name: 'a worker proven dead loses its unexpired leases and nobody else does; a run that ends three workers is parked',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 100, backoffBaseMs: 0, backoffCapMs: 0 })
      const [runId] = (await enqueueMany(store, 1, () => noop())) as [string]
      const other = await stage.lessor(store)
      for (const death of [1, 2, 3]) {
        const dead = await stage.lessor(store)
        assert.equal((await dead.lease(1))[0]?.runId, runId)
        const [safe] = await enqueueMany(store, 1, () => noop())
        await other.lease(1)
        const taken = await store.reclaim({ deadWorkers: [dead.workerId], limit: 10 })
        assert.deepEqual(
          taken.map((one) => [one.runId, one.fence, one.because, one.status]),
          [[runId, death, 'holder-dead', death === 3 ? 'parked' : 'ready']],
        )
        assert.equal(await statusOf(store, safe as string), 'leased')
      }
      assert.equal((await store.look(findRun, runId))?.parked?.reason, 'poison')
      assert.equal((await store.look(findRun, runId))?.attempts, 3)
    },
  },
  {
    name: 'law 4: reclaim, renew and settle raced over the same leases: each attempt has one end, and the answers say which',
    run: raceReclaim,
  },
  {
    name: 'law 14: a process that is killed while it holds leases loses nothing: its runs come back, each one attempt older',
    skip: cannotShare,
    async run(stage) {
      const own = await stage.openWithOwnClock()
      const ids = await enqueueMany(own, 5, (index) => noop({ repeatable: index > 0 }))
      const child = stage.startChild({ task: 'lease-and-hold', limit: 5, leaseMs: 60_000 })
      const held = (await child.said) as Lease[]
      assert.deepEqual(
        held.map(({ runId }) => runId),
        ids,
      )
      await child.kill()

      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      stage.clock.set((held[0] as Lease).expiresAt - 1)
      assert.deepEqual(await store.reclaim({ limit: 10 }), [], 'a lease was taken back before it expired')
      stage.clock.advance(1)
      const taken = await store.reclaim({ limit: 10 })
      assert.deepEqual(
        taken.map(({ status }) => status),
        ['parked', 'ready', 'ready', 'ready', 'ready'],
      )
      stage.clock.advance(60_000)
      const again = await lease(10)
      assert.deepEqual(
        again.map(({ runId, fence, attempts }) => [runId, fence, attempts]),
        ids.slice(1).map((id) => [id, 2, 1]),
      )
      assert.equal((await store.look(findRun, ids[0] as string))?.parked?.reason, 'effect-unknown')
      await assertEachRunStandsOnce(stage)
    },
  },
]

async function assertShutOut(stage: Stage, store: Store, lease: LeaseName): Promise<void> {
  const before = await snapshot(stage)
  assert.deepEqual(await store.renew([lease], 60_000), [{ ...nameOf(lease), renewed: false }])
  assert.equal(await store.appendOutput(lease, 'from the past'), 'lease-lost')
  const outcomes: Outcome[] = [
    { kind: 'success' },
    { kind: 'failed', reason: 'x' },
    { kind: 'released' },
    { kind: 'cancelled' },
  ]
  for (const outcome of outcomes) {
    const [plain] = await store.settle([{ ...nameOf(lease), outcome }])
    const [told] = await store.settle([{ ...nameOf(lease), outcome, result: { from: 'the past' } }])
    assert.deepEqual([plain?.answer, told?.answer], ['lease-lost', 'lease-lost'])
  }
  assert.deepEqual(await snapshot(stage), before)
}

function nameOf({ runId, fence }: LeaseName): LeaseName {
  return { runId, fence }
}

function statusWritten(settled: Settled): string {
  return settled.answer === 'written' ? settled.status : settled.answer
}

async function endNext(
  stage: Stage,
  store: Store,
  [leased]: readonly Lease[],
  fence: number,
  end: Outcome | 'lost',
): Promise<void> {
  assert.equal(leased?.fence, fence, `after ${JSON.stringify(end)}`)
  if (end !== 'lost') {
    const [settled] = await store.settle([{ ...(leased as Lease), outcome: end }])
    assert.equal(settled?.answer, 'written')
    return
  }
  stage.clock.advance(leaseMs)
  assert.equal((await store.reclaim({ limit: 10 })).length, 1)
}

/** The reclaimers go from the first lease on, the holders from the last; where they meet, the fence must decide. */
async function raceReclaim(stage: Stage): Promise<void> {
  const [holder, renewer, ...reclaimers] = (await stage.openMany(4)) as [Store, Store, Store, Store]
  await stage.setPolicy(holder, { maxConcurrent: racersMax })
  await enqueueMany(holder, racersMax, () => noop())
  const { lease } = await stage.lessor(holder, { leaseMs })
  const leases = (await lease(racersMax)).reverse()
  stage.clock.advance(leaseMs)

  const settled = new Map<string, string>()
  const renewed = new Map<string, boolean>()
  const lost = new Set<string>()
  const settling = inBatches(
    leases.filter((_, index) => index % 3 > 0),
    5,
  ).map((batch) => async () => {
    for (const end of await holder.settle(batch.map((one) => ({ ...one, outcome: { kind: 'success' } })))) {
      settled.set(end.runId, end.answer)
    }
  })
  const renewing = inBatches(
    leases.filter((_, index) => index % 3 === 0),
    3,
  ).map((batch) => async () => {
    for (const one of await renewer.renew(batch, 60_000)) renewed.set(one.runId, one.renewed)
  })
  const reclaiming = reclaimers.map((store) =>
    Array.from({ length: racersMax / 10 }, () => async () => {
      for (const { runId } of await store.reclaim({ limit: 7 })) {
        assert.ok(!lost.has(runId), 'a lease was taken back twice')
        lost.add(runId)
      }
    }),
  )
  await Promise.all([settling, renewing, ...reclaiming].map(oneByOne))

  assert.ok(lost.size > 0 && lost.size < racersMax, `${lost.size} of ${racersMax} were taken back: there was no race`)
  for (const { runId } of leases) {
    const attempts = await holder.look(listAttempts, runId)
    const ends = attempts.map(({ fence, outcome }) => `${fence} ${outcome}`)
    const answer = settled.get(runId) ?? (renewed.get(runId) ? 'renewed' : 'lease-lost')
    const expected = { written: ['1 success'], renewed: [], 'lease-lost': ['1 lost'] }[answer]
    assert.deepEqual(ends, expected, `${runId} was answered ${answer}`)
    assert.equal(lost.has(runId), answer === 'lease-lost', `${runId} was answered ${answer}`)
  }
  await assertEachRunStandsOnce(stage)
}

async function oneByOne(steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) {
    await step()
    // Memory answers without ever waiting, and would do everything of one side before the other begins.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
