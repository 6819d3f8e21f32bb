import { BelfryError } from '../../core/error.ts'
import { parseId } from '../../core/id.ts'
import { reasonText } from '../../core/reason-text.ts'
import { type Outcome, type Verdict, verdict } from '../../core/run/verdict.ts'
import { invalid } from '../check.ts'
import type { AttemptEnd, LeaseName, Settled } from '../port.ts'
import { conclude, type Ending, reasonTold } from '../runs/conclude.ts'
import { callEnded, callEnding, seesPlainEnds } from '../runs/end-hooks.ts'
import { writeResults } from '../runs/result.ts'
import { type JudgingPolicy, judgingPolicy } from '../runs/retry-policy.ts'
import { lockAhead, lockedBy, lockSchedules, type ScheduleRow, scheduleIdsOf } from '../schedules/schedule-row.ts'
import {
  all,
  allAlone,
  both,
  clockNow,
  clockOr,
  dialects,
  each,
  eachAhead,
  inList,
  probes,
  type Request,
  type Row,
  rowsOf,
  run,
  type Step,
  storeClock,
} from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { leasesNamed } from '../verb.ts'
import { checkEnd } from './check-end.ts'
import { byFence, lockLeases, type NumberedEnd, notWritten, plainLeases, takeLeases } from './fence.ts'

const plainColumns = 'run_id, fence, ns, queue_id, worker_id, leased_at'
const plainAttempts = `insert into belfry.attempt
    (run_id, fence, ns, queue_id, worker_id, started_at, ended_at, outcome, ends)
  select ${plainColumns},`
const askedCount = `cardinality(translate($1, '[]', '{}')::bigint[])`
/**
 * A plain success writes only a line of history. Nearly every run ends this way, so such ends have their own statement.
 * PostgreSQL returns the ended runs only where some are missing: reading ids costs more than everything else here.
 */
const endPlainly = dialects('settle end plainly', {
  sqlite: `${plainAttempts} $4, 'success', 'completed' from belfry.lease
    where run_id ${inList.numbers('$1').sqlite} ${plainLeases} returning run_id`,
  postgres: `with gone as (
      delete from belfry.lease where run_id ${inList.numbers('$1').postgres} ${plainLeases} returning ${plainColumns}),
    ended as (
      ${plainAttempts} (select ${clockOr('$4')}), 'success', 'completed' from gone returning run_id)
    select run_id from ended where (select count(*) from ended) < ${askedCount}
    union all select null where (select count(*) from ended) = ${askedCount}`,
})
const dropPlainLeases = dialects('settle drop plain leases', {
  sqlite: `delete from belfry.lease where run_id ${inList.numbers('$1').sqlite}`,
  postgres: null,
})
/** A run that exists has a row here, whether it was attempted or not; a run that was removed has none. */
const findRecorded = both(
  'settle find recorded',
  ({ join, numbers }) => `select d.id, a.fence, a.outcome from belfry.run d ${join.left('attempt a', 'a.run_id = d.id')}
    where d.id ${numbers('$1')} and d.ns = $2`,
)
const findJudged = dialects('settle find judged', {
  sqlite: `select d.id, d.repeatable, d.on_exhausted, d.options, q.policy from belfry.run d join belfry.queue q on q.id = d.queue_id
    where d.id = $1`,
  postgres: `select d.id, d.repeatable, d.on_exhausted, d.options, q.policy from belfry.run d join belfry.queue q on q.id = d.queue_id
    where d.id = any ($1::bigint[])`,
})
const deferralsOf = (
  run: string,
  isHeld: string,
) => `select run_id, ended_at from belfry.attempt where run_id = ${run} and outcome = 'deferred' and not reason ${isHeld}
  and fence > coalesce((select max(a.fence) from belfry.attempt a
    where a.run_id = ${run} and a.outcome not in ('deferred', 'released')), 0) order by fence limit 1`
/** The first deferral of each run since its last real attempt that came without a hold. Read only when a run is deferred once more. */
const findFirstDeferrals = dialects('settle find first deferrals', {
  sqlite: deferralsOf('$2', inList.texts('$1').sqlite),
  postgres: `select d.run_id, d.ended_at from unnest($2::bigint[]) as i (id)
    cross join lateral (${deferralsOf('i.id', inList.texts('$1').postgres)}) d`,
})
const findListed = dialects('settle find listed', {
  sqlite: 'select run_id from belfry.schedule_run where schedule_id = $1 and run_id = $2',
  postgres: `select s.run_id from unnest($1::bigint[], $2::bigint[]) as i (schedule_id, run_id)
    ${probes.inner('schedule_run s', 's.schedule_id = i.schedule_id and s.run_id = i.run_id')}`,
})

/** Whether the end may write only history and a result; the lease decides finally. */
export function mayBePlain({ outcome, scheduleId, usage, isWatched, learned, effect }: AttemptEnd): boolean {
  if (outcome?.kind !== 'success' || outcome.noop === true || scheduleId) return false
  return usage === undefined && isWatched !== true && learned === undefined && effect === undefined
}

/**
 * Settles the plain ends among these ends. The other ends follow in another transaction: a concurrent renew locks all these
 * leases in id order, and a transaction that held some and then wanted others could deadlock.
 */
export function* settlePlain(context: StoreContext, ends: readonly AttemptEnd[]): Step<Map<AttemptEnd, Settled>> {
  const settled = new Map<AttemptEnd, Settled>()
  const written: NumberedEnd[] = []
  const hopeful = ends.map(numbered)
  const fences = byFence(hopeful)
  const now = seesPlainEnds(context) ? yield* clockNow() : null
  const isAlone = now === null && fences.size === 1 && ends.every(({ result }) => result === undefined)
  if (fences.size > 1) yield* lockLeases(hopeful.map(({ runId }) => runId))
  for (const [fence, byRun] of fences) {
    const params = [listOf(byRun), fence, context.ns, now ?? storeClock] as const
    const rows = yield* (isAlone ? allAlone : all)<{ run_id: number | null }>(endPlainly, ...params)
    if (rows.length === 0) continue
    const runIds = rows[0]?.run_id === null ? [...byRun.keys()] : rows.map((row) => row.run_id as number)
    yield* run(dropPlainLeases, JSON.stringify(runIds))
    for (const runId of runIds) {
      const one = byRun.get(runId) as NumberedEnd
      const { end } = one
      written.push(one)
      settled.set(end, { runId: end.runId, fence, answer: 'written', status: 'completed', reason: 'success' })
    }
  }
  if (now !== null && written.length > 0) yield* callHooks(context, now, written)
  yield* keepResults(context, written)
  return settled
}

/** A plain end moves no schedule. */
function* callHooks(context: StoreContext, now: number, written: readonly NumberedEnd[]): Step<void> {
  const plain = { scheduleId: null, outcome: 'success', status: 'completed', isOver: true, reason: 'success' } as const
  const ends = written.map(({ runId, end: { fence, result } }) => ({ runId, ns: context.ns, fence, result, ...plain }))
  yield* callEnding(context, { now, ends, schedules: new Map() })
  yield* callEnded(context, { now, ends, schedules: new Map() })
}

function* keepResults({ ns }: StoreContext, ends: readonly NumberedEnd[]): Step<void> {
  yield* writeResults(
    ends.flatMap(({ runId, end: { fence, result, resultBytesMax: bytesMax } }) =>
      result === undefined ? [] : [{ runId, ns, fence, result, bytesMax }],
    ),
  )
}

/** All ends in one transaction, for a database with one writer at a time: no deadlock is possible there. */
export function* settleTogether(context: StoreContext, ends: readonly AttemptEnd[]): Step<Settled[]> {
  const plain = yield* settlePlain(context, ends.filter(mayBePlain))
  if (plain.size === ends.length) return ends.map((end) => plain.get(end) as Settled)
  const rest = ends.filter((end) => !plain.has(end))
  const settled = new Map((yield* settle(context, rest)).map((answer, index) => [rest[index], answer]))
  return ends.map((end) => plain.get(end) ?? (settled.get(end) as Settled))
}

/**
 * Ends attempts under their fences, with all consequences. Each end has its own answer: `written`, or what happened to its lease.
 */
export function* settle(context: StoreContext, ends: readonly AttemptEnd[]): Step<Settled[]> {
  const named = ends.map(numbered)
  const locking = yield* lockAhead(ends.flatMap(scheduleIdOf))
  const verdicts = yield* settleFully(context, named, locking)
  const records = yield* recordsOf(
    context,
    named.filter((end) => !verdicts.has(end)),
  )
  return named.map((numberedEnd) => {
    const { end } = numberedEnd
    const given = verdicts.get(numberedEnd)
    if (given !== undefined) return written(end, given)
    return { runId: end.runId, fence: end.fence, answer: notWritten(numberedEnd, records) }
  })
}
settle.audits = (answers: readonly Settled[]) =>
  leasesNamed(
    'ended',
    answers.filter(({ answer }) => answer === 'written'),
  )

function numbered(end: AttemptEnd): NumberedEnd {
  checkEnd(end)
  return { runId: runIdOf(end), end }
}

function listOf(byRun: ReadonlyMap<number, NumberedEnd>): string {
  return JSON.stringify([...byRun.keys()])
}

function* settleFully(
  context: StoreContext,
  ends: readonly NumberedEnd[],
  locking: Request,
): Step<Map<NumberedEnd, Verdict>> {
  const fences = byFence(ends)
  if (fences.size > 1) yield* lockLeases(ends.map(({ runId }) => runId))
  const rows: Row[] = []
  for (const [fence, byRun] of fences) {
    rows.push(...(yield* all(takeLeases, listOf(byRun), fence, context.ns, storeClock)))
  }
  // If no lease was taken, the instant is not used.
  const now = (rows[0]?.now ?? 0) as number
  const locked = yield* lockedBy(locking)
  const leases = new Map(rows.map((row) => [`${row.run_id} ${row.fence}`, row]))
  yield* lockForEffects(ends)
  const held = [...new Map(ends.map((one) => [nameOf(one), one])).values()].flatMap((one) => {
    const lease = leases.get(nameOf(one))
    return lease === undefined ? [] : [{ one, lease, outcome: lastOutcome(one.end) }]
  })
  const schedules = yield* withForgotten(locked, rows)
  const verdicts = yield* judge(context, now, held, schedules)
  const judged = held.map((each) => ({ given: verdicts.get(each.one.runId) as Verdict, ...each }))
  const endings = judged.map(({ one: { end }, lease, outcome, given }) => endingOf(lease, outcome.kind, given, end))
  yield* conclude(context, { now, endings, schedules })
  yield* keepResults(
    context,
    held.map(({ one }) => one),
  )
  return new Map(judged.map(({ one, given }) => [one, given]))
}

/** Locks in one order, so that no two steps wait for each other. */
function* lockForEffects(ends: readonly NumberedEnd[]): Step<void> {
  const locks = ends.flatMap(({ end: { effect } }) => effect?.locks ?? []).sort((a, b) => a.order - b.order)
  for (const lock of locks) yield* lock.take() as Step<unknown>
}

/** At this point the fence has been checked, and the lease row is deleted in this transaction only. */
function lastOutcome({ outcome, effect }: AttemptEnd): Outcome {
  try {
    return effect?.take(outcome) ?? outcome
  } catch (error) {
    return { kind: 'failed', reason: `its last effect failed: ${reasonText((error as Error).message)}` }
  }
}

function nameOf({ runId, end }: NumberedEnd): string {
  return `${runId} ${end.fence}`
}

/**
 * If an end does not name the schedule of its lease, that schedule is locked out of order, which the database may
 * refuse once.
 */
function* withForgotten(locked: Map<number, ScheduleRow>, leases: readonly Row[]): Step<Map<number, ScheduleRow>> {
  const forgotten = scheduleIdsOf(leases).filter((id) => !locked.has(id))
  return forgotten.length === 0 ? locked : new Map([...locked, ...(yield* lockSchedules(forgotten, { wait: true }))])
}

interface EndedAttempt {
  readonly lease: Row
  readonly outcome: Outcome
}

/** A worker that obeys a request need not give a reason: the request has one. */
function withReasonAsked(outcome: Outcome, lease: Row): Outcome {
  if (outcome.kind === 'forced-stop' && lease.release_reason !== null) {
    return { kind: 'forced-stop', reason: lease.release_reason as string }
  }
  if (outcome.kind !== 'cancelled' || outcome.reason !== undefined || lease.cancel_reason === null) return outcome
  return { kind: 'cancelled', reason: lease.cancel_reason as string }
}

/** The verdict on each leased run. The run's own retries and the queue's current policy set the attempt budget. */
export function* judge(
  context: StoreContext,
  now: number,
  attempts: readonly EndedAttempt[],
  schedules: ReadonlyMap<number, ScheduleRow>,
): Step<Map<number, Verdict>> {
  const ids = attempts.flatMap(({ lease, outcome }) => (outcome.kind === 'success' ? [] : [[lease.run_id as number]]))
  const facts = new Map((yield* each(findJudged, ids)).map((row) => [row.id as number, row]))
  const orphans = yield* orphansAmong(attempts, schedules)
  const deferredAt = yield* firstDeferrals(context, attempts)
  return new Map(
    attempts.map(({ lease, outcome }) => {
      const runId = lease.run_id as number
      const given = verdictOn({ now, lease, outcome, facts: facts.get(runId), firstDeferredAt: deferredAt.get(runId) })
      return [runId, orphans.has(runId) ? withoutFurtherAttempt(given) : given]
    }),
  )
}

/** Runs whose schedule was deleted while they were leased. A run that a person revived afterwards is not included. */
function* orphansAmong(
  attempts: readonly EndedAttempt[],
  schedules: ReadonlyMap<number, ScheduleRow>,
): Step<Set<number>> {
  const ofDeleted = attempts.flatMap(({ lease }) => {
    const deletedAt = schedules.get(lease.schedule_id as number)?.deletedAt ?? null
    return deletedAt === null ? [] : [[lease.schedule_id as number, lease.run_id as number]]
  })
  return new Set((yield* each<{ run_id: number }>(findListed, ofDeleted)).map((row) => row.run_id))
}

/** A run of a deleted schedule is not retried: it ends. */
function withoutFurtherAttempt(given: Verdict): Verdict {
  if (given.status !== 'ready') return given
  const { attempts, releases, deaths, reason } = given
  return { status: 'cancelled', attempts, releases, deaths, reason: `${reason} (schedule-deleted)` }
}

function* firstDeferrals(context: StoreContext, attempts: readonly EndedAttempt[]): Step<Map<number, number>> {
  const ids = attempts.flatMap(({ lease, outcome }) => (outcome.kind === 'deferred' ? [[lease.run_id as number]] : []))
  if (ids.length === 0) return new Map()
  const held = JSON.stringify(context.parts.flatMap(({ heldDeferrals = [] }) => heldDeferrals))
  const rows = yield* rowsOf<{ run_id: number; ended_at: number }>(yield* eachAhead(findFirstDeferrals, ids, held))
  return new Map(rows.map((row) => [row.run_id, row.ended_at]))
}

interface Judging extends EndedAttempt {
  readonly now: number
  readonly facts: Row | undefined
  readonly firstDeferredAt: number | undefined
}

function verdictOn({ now, lease, outcome, facts, firstDeferredAt }: Judging): Verdict {
  const policy = judgingPolicy(facts)
  const run = {
    id: String(lease.run_id),
    attempts: lease.attempts as number,
    releases: lease.releases as number,
    deaths: lease.deaths as number,
    cancelRequestedAt: lease.cancel_requested_at as number | null,
    repeatable: facts?.repeatable !== 0,
    onExhausted: onExhaustedOf(lease, facts, policy),
    firstDeferredAt,
  }
  return verdict({ now, run, outcome: withReasonAsked(outcome, lease), policy })
}

/** Enqueued work is parked when its attempts are used up; an occurrence fails, because another one follows. */
function onExhaustedOf(lease: Row, facts: Row | undefined, policy: JudgingPolicy): 'park' | 'fail' {
  const own = (facts?.on_exhausted ?? null) as 'park' | 'fail' | null
  return own ?? policy.onExhausted ?? (lease.schedule_id === null ? 'park' : 'fail')
}

/**
 * A deferral that fails or parks the run is recorded as a failure, so that the deferral limit starts again after a reset.
 */
export function endingOf(lease: Row, kind: Outcome['kind'], given: Verdict, reported: Reported = {}): Ending {
  const isSpent = given.status === 'failed' || given.status === 'parked'
  return {
    runId: lease.run_id as number,
    ns: lease.ns as number,
    queueId: lease.queue_id as number,
    scheduleId: lease.schedule_id as number | null,
    key: lease.concurrency_key as string | null,
    dedupeKey: lease.dedupe_key as string | null,
    workerId: lease.worker_id as number,
    fence: lease.fence as number,
    lastFence: lease.fence as number,
    startedAt: lease.leased_at as number,
    outcome: kind === 'deferred' && isSpent ? 'failed' : kind,
    verdict: given,
    result: reported.result,
    usage: reported.usage,
    utilisation: reported.utilisation,
    rateLimited: reported.rateLimited,
    learned: reported.learned,
    isWatched: reported.isWatched,
    effect: reported.effect,
  }
}

/** What a worker reports with an end. */
type Reported = Pick<
  AttemptEnd,
  'result' | 'usage' | 'utilisation' | 'rateLimited' | 'learned' | 'isWatched' | 'effect'
>

/** Recorded attempts of each run by fence; no entry for a run that was removed. */
function* recordsOf({ ns }: StoreContext, ends: readonly NumberedEnd[]): Step<Map<number, Map<number, string>>> {
  const records = new Map<number, Map<number, string>>()
  if (ends.length === 0) return records
  for (const { id, fence, outcome } of yield* all(findRecorded, JSON.stringify(ends.map(({ runId }) => runId)), ns)) {
    const byFence = records.get(id as number) ?? new Map<number, string>()
    if (fence !== null) byFence.set(fence as number, outcome as string)
    records.set(id as number, byFence)
  }
  return records
}

function written({ runId, fence }: AttemptEnd, given: Verdict): Settled {
  const { status, nextEligibleAt } = given
  const reason = reasonTold(given)
  return { runId, fence, answer: 'written', status, reason, ...(nextEligibleAt !== undefined && { nextEligibleAt }) }
}

export function runIdOf({ runId }: Pick<LeaseName, 'runId'>): number {
  const id = parseId('run', runId)
  if (id === null) throw invalid('runId', `is ${JSON.stringify(runId)}`, 'the id of a run, such as r-15')
  return id
}

function scheduleIdOf({ scheduleId }: AttemptEnd): number[] {
  if (scheduleId === null || scheduleId === undefined) return []
  const id = parseId('schedule', scheduleId)
  if (id === null) throw new BelfryError('invalid', `${JSON.stringify(scheduleId)} is not the id of a schedule.`)
  return [id]
}
