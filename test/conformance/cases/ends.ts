import assert from 'node:assert/strict'
import { parseId } from '../../../src/core/id.ts'
import { defaultPolicy } from '../../../src/core/queue/policy.ts'
import type { AttemptEnd, Lease, NewRun, Settled, Store } from '../../../src/store/port.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { listAttempts } from '../../../src/store/reads/list-attempts.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { type Case, enqueueMany, noop, type Stage, seeded } from '../place.ts'
import { assertEachRunStandsOnce, shuffled, snapshot } from '../record.ts'

const success = { kind: 'success' } as const
const batchMax = 100

export const ends: Case[] = [
  {
    name: 'cancel and complete raced: each run has one end, and a completion after the request is marked late-cancel',
    run: raceCancel,
  },
  {
    name: 'a lease that expires after its run was requested ends cancelled, and is never tried again',
    async run(stage) {
      const store = await stage.open()
      const [runId] = (await enqueueMany(store, 1, () => noop())) as [string]
      const { lease } = await stage.lessor(store, { leaseMs: 1_000 })
      const held = await lease(1)
      assert.equal(await store.do(cancelRun, runId, 'no longer wanted'), 'cancel-requested')
      const requestedAt = stage.clock.now()
      stage.clock.advance(1_000)
      assert.equal(await store.do(cancelRun, runId, 'again'), 'already-requested')
      const [renewal] = await store.renew(held, 1_000)
      assert.equal(renewal?.renewed && renewal.cancelRequestedAt, requestedAt, 'renew does not carry the request')
      stage.clock.advance(1_000)
      assert.deepEqual(
        (await store.reclaim({ limit: 10 })).map(({ status }) => status),
        ['cancelled'],
      )
      stage.clock.advance(86_400_000)
      assert.deepEqual(await lease(1), [])
      assert.equal(await store.do(cancelRun, runId, 'once more'), 'already-ended')
    },
  },
  {
    name: 'a row that cannot be written stands alone: it is refused, and the 99 others of its batch are written',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 2 * batchMax })
      const { lease } = await stage.lessor(store)
      for (const result of [undefined, { rows: 3 }]) {
        await enqueueMany(store, batchMax, () => noop())
        const held = await lease(batchMax)
        const culprit = held[61] as Lease
        await sabotageEnd(stage, culprit.runId)
        const ending = held.map((one) => ({ ...one, outcome: success, ...(result !== undefined && { result }) }))
        const settled = await store.settle(ending)
        assert.deepEqual(
          settled.map(({ runId }) => runId),
          held.map(({ runId }) => runId),
          'the answers do not come in the order that was asked',
        )
        const refused = settled.filter(({ answer }) => answer !== 'written')
        assert.deepEqual(
          refused.map(({ runId, answer }) => [runId, answer]),
          [[culprit.runId, 'refused']],
        )
        assert.match((refused[0] as { error: Error }).error.message, /sabotage/)
        await endSabotage(stage)
        assert.deepEqual(await answersOf(store, [{ ...culprit, outcome: success }]), ['written'])
      }
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'law 14: an end that is told twice is written once, in two batches, in one, and beside a stale one of its run',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, backoffBaseMs: 0, backoffCapMs: 0 })
      await enqueueMany(store, 4, () => noop())
      const { lease } = await stage.lessor(store)
      const [plain, told, failing, twice] = (await lease(4)) as [Lease, Lease, Lease, Lease]
      const ending: AttemptEnd[] = [
        { ...plain, outcome: success },
        { ...told, outcome: success, result: 1 },
        { ...failing, outcome: { kind: 'failed', reason: 'once' } },
      ]
      assert.deepEqual(await answersOf(store, ending), ['written', 'written', 'written'])
      const before = await snapshot(stage)
      assert.deepEqual(await answersOf(store, ending), ['already-written', 'already-written', 'already-written'])
      assert.deepEqual(await snapshot(stage), before)

      const inOne = await answersOf(
        store,
        [twice, twice].map((one) => ({ ...one, outcome: success })),
      )
      assert.deepEqual(inOne.sort(), ['already-written', 'written'])
      const [again] = (await lease(1)) as [Lease]
      assert.deepEqual([again.runId, again.fence], [failing.runId, 2])
      const beside = [again, failing].map((one) => ({ ...one, outcome: success, result: one.fence }))
      assert.deepEqual(await answersOf(store, beside), ['written', 'already-written'])
      assert.equal((await store.look(findRun, again.runId))?.result?.value, 2)
      assert.equal((await store.look(listAttempts, again.runId)).length, 2)
    },
  },
  {
    name: 'law 14: an end that is told again after its run was removed is neither written nor told as a lost lease',
    run: tellAfterRemoval,
  },
  {
    name: 'law 5: enqueued work that has used its attempts is parked and not tried again until it is reset',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 2, backoffBaseMs: 1_000 })
      const { lease } = await stage.lessor(store)
      const { id } = await failOften(stage, store, lease, 2)
      const parked = await store.look(findRun, id)
      assert.deepEqual([parked?.status, parked?.attempts], ['parked', 2])
      assert.equal(parked?.parked?.reason, 'broken (attempt 2/2)')
      stage.clock.advance(86_400_000)
      assert.deepEqual(await lease(10), [])
      assert.equal(await store.do(resetRun, id), 'ready')
      assert.deepEqual(
        (await lease(10)).map(({ runId, fence, attempts }) => [runId, fence, attempts]),
        [[id, 3, 0]],
      )
      const { id: failing } = await failOften(stage, store, lease, 2, { onExhausted: 'fail' })
      assert.equal((await store.look(findRun, failing))?.end?.status, 'failed')
    },
  },
  {
    name: 'law 5: lowering maxAttempts parks nobody who waits: each has the attempt it waits for, and is judged after it',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 5, backoffBaseMs: 1_000 })
      const { lease } = await stage.lessor(store)
      const { id } = await failOften(stage, store, lease, 2)
      await stage.setPolicy(store, { maxAttempts: 1 })
      assert.equal((await store.look(findRun, id))?.status, 'ready')
      const [held] = (await lease(1)) as [Lease]
      assert.equal(held.runId, id, 'a waiting run lost the attempt it waited for')
      const [settled] = await store.settle([{ ...held, outcome: { kind: 'failed', reason: 'broken' } }])
      assert.equal(settled?.answer === 'written' && settled.status, 'parked')
    },
  },
  {
    name: 'law 5: the tenth clean release in a row counts as a failure, and an end in between begins a new row',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 3, backoffBaseMs: 0, backoffCapMs: 0 })
      const [id] = (await enqueueMany(store, 1, () => noop())) as [string]
      const { lease } = await stage.lessor(store)
      const end = async (outcome: AttemptEnd['outcome']) => {
        const [settled] = await store.settle((await lease(1)).map((one) => ({ ...one, outcome })))
        return settled?.answer === 'written' ? settled.reason : settled?.answer
      }
      for (let release = 1; release < 10; release++) assert.equal(await end({ kind: 'released' }), 'released')
      assert.equal((await store.look(findRun, id))?.attempts, 0)
      assert.equal(await end({ kind: 'released' }), 'bounced')
      for (let release = 1; release < 10; release++) assert.equal(await end({ kind: 'released' }), 'released')
      assert.equal(await end({ kind: 'failed', reason: 'broken' }), 'broken')
      assert.equal(await end({ kind: 'released' }), 'released', 'the failure did not end the row')
      assert.equal((await store.look(findRun, id))?.attempts, 2)
    },
  },
  {
    name: 'work that must not be repeated is parked as effect-unknown when nobody can tell what it did',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store, { leaseMs: 1_000 })
      const outcomes = [{ kind: 'forced-stop' }, { kind: 'unknown', reason: 'cut off' }, 'lost'] as const
      for (const outcome of outcomes) {
        const [id] = (await enqueueMany(store, 1, () => noop({ repeatable: false }))) as [string]
        const [held] = (await lease(1)) as [Lease]
        if (outcome !== 'lost') await store.settle([{ ...held, outcome }])
        stage.clock.advance(1_000)
        await store.reclaim({ limit: 10 })
        assert.equal((await store.look(findRun, id))?.parked?.reason, 'effect-unknown', JSON.stringify(outcome))
      }
      const [id] = (await enqueueMany(store, 1, () => noop({ repeatable: false }))) as [string]
      const [held] = (await lease(1)) as [Lease]
      await store.settle([{ ...held, outcome: { kind: 'failed', reason: 'refused', retryable: true } }])
      assert.equal((await store.look(findRun, id))?.status, 'ready', 'a harmless failure may be tried again')
    },
  },
]

/** Holders end their leases, some well and some badly, while somebody else cancels the same runs. */
/** Nobody can tell any more whether its own holder ended a run that is gone, or somebody to whom its lease was lost. */
async function tellAfterRemoval(stage: Stage): Promise<void> {
  const store = await stage.open()
  const retention = { ...defaultPolicy.retention, completedMs: 0 }
  await stage.setPolicy(store, { maxConcurrent: 10, backoffBaseMs: 0, backoffCapMs: 0, retention })
  await enqueueMany(store, 4, (index) => noop(index === 1 ? { dedupeKey: 'd' } : {}))
  const { lease, workerId } = await stage.lessor(store)
  const held = (await lease(4)) as [Lease, Lease, Lease, Lease]
  const [plain, full, lost, kept] = held
  const ending = held.map((one) => ({ ...one, outcome: success, result: one.runId }))
  await store.reclaim({ deadWorkers: [workerId], limit: 10 })
  assert.deepEqual(await answersOf(store, ending), Array(4).fill('lease-lost'))
  const again = await lease(4)
  const written = again.filter(({ runId }) => runId !== kept.runId)
  assert.deepEqual(await answersOf(store, endedWell(written)), ['written', 'written', 'written'])
  await removeAll(store)
  const before = await snapshot(stage)
  // Those of the first lease lost it, those of the second ended their runs: of a run that is gone both are told the same.
  assert.deepEqual(await answersOf(store, ending), ['gone', 'gone', 'gone', 'lease-lost'])
  assert.deepEqual(await answersOf(store, endedWell(written)), ['gone', 'gone', 'gone'])
  const failed = [plain, full, lost].map((one) => ({ ...one, outcome: { kind: 'failed', reason: 'late' } as const }))
  assert.deepEqual(await answersOf(store, failed), ['gone', 'gone', 'gone'])
  assert.deepEqual(await snapshot(stage), before)
  const last = again.filter(({ runId }) => runId === kept.runId)
  assert.deepEqual(await answersOf(store, endedWell([...written, ...last])), ['gone', 'gone', 'gone', 'written'])
}

function endedWell(leases: readonly Lease[]): AttemptEnd[] {
  return leases.map((one) => ({ ...one, outcome: success }))
}

async function removeAll(store: Store): Promise<void> {
  let step = await store.prune({ limit: 1_000 })
  while (step.next !== null) step = await store.prune({ limit: 1_000, from: step.next })
}

async function raceCancel(stage: Stage): Promise<void> {
  const [holder, canceller, second] = (await stage.openMany(3)) as [Store, Store, Store]
  await stage.setPolicy(holder, { maxConcurrent: 200 })
  const ids = await enqueueMany(holder, 120, (index) => noop(index % 4 === 0 ? { concurrencyKey: `k${index}` } : {}))
  const { lease } = await stage.lessor(holder)
  const held = await lease(200)
  const isFailing = (runId: string) => (parseId('run', runId) as number) % 2 === 0
  const random = seeded(41)
  const cancelled = new Map<string, string>()
  const settled = new Map<string, Settled>()
  const cancelAll = async (store: Store, from: number) => {
    for (const id of shuffled(ids, random).filter((one) => (parseId('run', one) as number) % 3 > from)) {
      const answer = await store.do(cancelRun, id, 'raced')
      if (!cancelled.has(id) || answer === 'cancelled' || answer === 'cancel-requested') cancelled.set(id, answer)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const settleAll = async () => {
    for (const one of shuffled(held, random)) {
      const outcome = isFailing(one.runId) ? ({ kind: 'failed', reason: 'broken' } as const) : success
      for (const answer of await holder.settle([{ ...one, outcome }])) settled.set(one.runId, answer)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all([settleAll(), cancelAll(canceller, 0), cancelAll(second, 1)])

  for (const id of ids) {
    const told = `${cancelled.get(id)} and ${JSON.stringify(settled.get(id))}`
    assert.equal(
      (settled.get(id) as { status?: string }).status,
      expectedStatus(isFailing(id), cancelled.get(id)),
      told,
    )
    const attempts = await holder.look(listAttempts, id)
    const isLate = cancelled.get(id) === 'cancel-requested' && !isFailing(id)
    assert.equal(attempts.filter(({ reason }) => reason === 'late-cancel').length, isLate ? 1 : 0, told)
    assert.equal(attempts.filter((one) => one.ends !== null).length, cancelled.has(id) || !isFailing(id) ? 1 : 0, told)
  }
  const requested = [...cancelled.values()].filter((answer) => answer === 'cancel-requested').length
  assert.ok(requested > 0 && requested < cancelled.size, 'one side always came first: there was no race')
  await assertEachRunStandsOnce(stage)
}

/** What the holder is told: a request that came before it decides over failures, and over nothing else. */
function expectedStatus(isFailing: boolean, cancelAnswer: string | undefined): string {
  if (!isFailing) return 'completed'
  return cancelAnswer === 'cancel-requested' ? 'cancelled' : 'ready'
}

async function answersOf(store: Store, ending: readonly AttemptEnd[]): Promise<string[]> {
  return (await store.settle(ending)).map(({ answer }) => answer)
}

/** Makes the database itself refuse to write the end of one run. */
async function sabotageEnd(stage: Stage, runId: string): Promise<void> {
  const id = parseId('run', runId) as number
  if (stage.subject.dialect === 'sqlite') {
    await stage.sql(`create trigger sabotage before insert on belfry.attempt when new.run_id = ${id}
      begin select raise(abort, 'sabotage'); end`)
    return
  }
  await stage.sql(`create or replace function belfry.sabotage() returns trigger language plpgsql as
    $sabotage$ begin raise exception 'sabotage'; end $sabotage$`)
  await stage.sql(`create trigger sabotage before insert on belfry.attempt for each row when (new.run_id = ${id})
    execute function belfry.sabotage()`)
}

async function endSabotage(stage: Stage): Promise<void> {
  await stage.sql(
    stage.subject.dialect === 'sqlite' ? 'drop trigger sabotage' : 'drop trigger sabotage on belfry.attempt',
  )
}

/** A run that has failed so many times, as soon as it could each time. */
async function failOften(
  stage: Stage,
  store: Store,
  lease: (limit: number) => Promise<Lease[]>,
  times: number,
  extra: Partial<NewRun> = {},
): Promise<{ id: string }> {
  const [id] = (await enqueueMany(store, 1, () => noop({ priority: 1, ...extra }))) as [string]
  for (let time = 1; time <= times; time++) {
    const [held] = (await lease(1)) as [Lease]
    assert.equal(held.runId, id)
    await store.settle([{ ...held, outcome: { kind: 'failed', reason: 'broken' } }])
    stage.clock.advance(60_000)
  }
  return { id }
}
