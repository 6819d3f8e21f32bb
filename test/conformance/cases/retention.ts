import assert from 'node:assert/strict'
import { defaultPolicy } from '../../../src/core/queue/policy.ts'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import type { Lease, Pruned, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { listLedger } from '../../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import type { RunSummary } from '../../../src/store/views.ts'
import { actor, type Case, type Stage, seeded } from '../place.ts'
import { assertEachRunStandsOnce, count, snapshot } from '../record.ts'
import { put } from './schedules.ts'

const hour = 3_600_000
const day = 24 * hour
const keptMs = { completed: 7 * day, cancelled: 7 * day, skipped: 7 * day, failed: 30 * day } as const
const stepMax = 7

export const retention: Case[] = [
  {
    name: 'prune takes exactly the ended runs past their retention, in small steps, and never live or parked work',
    run: pruneRandomStates,
  },
  {
    name: 'the ledger outlives its run, and an occurrence whose run was pruned is not fired again',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { retention: { ...defaultPolicy.retention, completedMs: 0 } })
      const { lease } = await stage.lessor(store)
      const firedAt = stage.clock.now() + hour
      const specs = [
        { name: 'cron', timing: { cron: '0 * * * *', zone: 'UTC' } },
        { name: 'once', timing: { at: firedAt } },
      ] as const
      for (const spec of specs) await put(store, spec)
      stage.clock.advance(hour)
      const { runs } = await store.fireDue({ limit: 9 })
      await store.settle((await lease(9)).map((one) => ({ ...one, outcome: { kind: 'success' }, result: 'kept' })))
      assert.equal((await pruneAll(store)).runs, specs.length)
      for (const { id, schedule } of runs) {
        assert.equal(await store.look(findRun, id), null)
        const [entry] = await store.look(listLedger, schedule)
        assert.deepEqual([entry?.from, entry?.outcome, entry?.runId], [firedAt, 'completed', id])
        assert.ok(entry?.decision?.trail.length, 'the ledger no longer tells why')
      }

      for (const spec of specs) {
        await put(store, { ...spec, payload: 'edited' })
        await store.do(pauseSchedule, spec.name, { reason: 'and resumed' })
        await store.do(resumeSchedule, spec.name)
      }
      assert.deepEqual((await store.fireDue({ limit: 9 })).runs, [], 'fired again because its run was gone')
      for (const { name } of specs) await store.do(deleteSchedule, name)
      stage.clock.advance(90 * day)
      assert.equal((await pruneAll(store)).ledger, specs.length)
    },
  },
  {
    name: 'an idempotency key outlives its run by its own 30 days, and then is free',
    async run(stage) {
      const store = await stage.open()
      const run = { target: { handler: 'noop' }, idempotencyKey: 'k' }
      const { lease } = await stage.lessor(store)
      const [first] = await store.enqueue([run])
      await store.settle((await lease(1)).map((one) => ({ ...one, outcome: { kind: 'success' } })))
      stage.clock.advance(30 * day - 1)
      await pruneAll(store)
      assert.equal(await store.look(findRun, first?.id as string), null)
      assert.deepEqual(await store.enqueue([run]), [{ created: false, id: first?.id, because: 'idempotency-key' }])
      stage.clock.advance(1)
      await pruneAll(store)
      assert.equal((await store.enqueue([run]))[0]?.created, true)
    },
  },
]

async function pruneAll(store: Store, limit = 1_000): Promise<Pruned & { steps: number }> {
  const sum = { runs: 0, ledger: 0, other: 0, next: null, steps: 0 }
  for (let from: string | null | undefined; from !== null; sum.steps++) {
    const step: Pruned = await store.prune({ limit, ...(from !== undefined && { from }) })
    assert.ok(step.runs + step.ledger <= limit, `a step of ${limit} took ${step.runs} runs and ${step.ledger} entries`)
    assert.ok(sum.steps < 10_000, 'the round does not end')
    sum.runs += step.runs
    sum.ledger += step.ledger
    sum.other += step.other
    from = step.next
  }
  return sum
}

async function pruneRandomStates(stage: Stage): Promise<void> {
  const store = await stage.open()
  for (const queue of ['a', 'b']) await stage.setPolicy(store, { maxConcurrent: 100, maxConcurrentPerKey: 1 }, queue)
  await randomRuns(stage, store)
  const before = await allRuns(store)
  const attemptsBefore = await attemptsByRun(stage)
  const isPast = ({ end }: RunSummary) => end !== null && end.at <= stage.clock.now() - keptMs[end.status]
  const past = before.filter(isPast)
  const kept = before.filter((run) => !isPast(run))
  for (const status of ['ready', 'leased', 'parked', 'completed', 'failed', 'cancelled']) {
    assert.ok(
      kept.some((run) => run.status === status),
      `no ${status} run is to be kept: the state is too poor`,
    )
  }

  const pruned = await pruneAll(store, stepMax)
  assert.equal(pruned.runs, past.length)
  assert.ok(pruned.steps >= past.length / stepMax)
  assert.deepEqual(await allRuns(store), kept, 'what was kept has changed')
  for (const table of ['attempt', 'result', 'output', 'ready', 'aside', 'lease']) {
    assert.equal(
      await count(stage, `belfry.${table} where run_id not in (select id from belfry.run)`),
      0,
      `${table} speaks of runs that are gone`,
    )
  }
  const attemptsAfter = await attemptsByRun(stage)
  for (const [runId, attempts] of attemptsAfter) assert.equal(attempts, attemptsBefore.get(runId))
  await assertEachRunStandsOnce(stage)

  const rows = await snapshot(stage)
  const { steps: _, ...again } = await pruneAll(store, stepMax)
  assert.deepEqual(again, { runs: 0, ledger: 0, other: 0, next: null }, 'a second round found something')
  assert.deepEqual(await snapshot(stage), rows)
}

const outcomes: readonly Outcome[] = [
  { kind: 'success' },
  { kind: 'failed', reason: 'x', retryable: false },
  { kind: 'failed', reason: 'x' },
  { kind: 'cancelled' },
  { kind: 'skipped', reason: 'guard' },
  { kind: 'released' },
]

/** Forty days of runs in every state, with output and results, of two queues. */
async function randomRuns(stage: Stage, store: Store): Promise<void> {
  const random = seeded(77)
  const { workerId, lease } = await stage.lessor(store, { leaseMs: 100 * day })
  for (let turn = 0; turn < 30; turn++) {
    const queue = random(2) === 0 ? 'a' : 'b'
    await store.enqueue(
      Array.from({ length: 1 + random(3) }, () => ({
        queue,
        target: { handler: 'noop' },
        ...(random(3) === 0 && { concurrencyKey: `k${random(2)}` }),
        ...(random(2) === 0 && { onExhausted: 'fail' as const }),
        ...(random(6) === 0 && { notBefore: stage.clock.now() + random(60) * day }),
      })),
    )
    for (const held of await lease(3, { queue })) await endSomehow(store, held, random)
    const waiting = (await store.look(listRuns, { limit: 20, status: 'ready' })).runs
    if (random(4) === 0 && waiting.length > 0)
      await store.do(cancelRun, waiting[random(waiting.length)]?.id as string, 'no')
    stage.clock.advance(random(3 * 24) * hour)
    await store.beat([workerId])
  }
  await store.do(setQueue, 'a', { paused: { reason: 'as it may be' }, actor })
}

async function endSomehow(store: Store, held: Lease, random: (below: number) => number): Promise<void> {
  if (random(8) === 0) return
  for (let chunk = random(3); chunk > 0; chunk--) await store.appendOutput(held, `${chunk} of some text\n`)
  const outcome = outcomes[random(outcomes.length)] as Outcome
  await store.settle([{ ...held, outcome, ...(random(2) === 0 && { result: { some: 'result' } }) }])
}

async function allRuns(store: Store): Promise<RunSummary[]> {
  return (await store.look(listRuns, { limit: 1_000 })).runs
}

async function attemptsByRun(stage: Stage): Promise<Map<number, number>> {
  const rows = await stage.sql('select run_id, count(*) as attempts from belfry.attempt group by run_id')
  return new Map(rows.map((row) => [row.run_id as number, Number(row.attempts)]))
}
