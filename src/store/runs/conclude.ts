import type { Outcome, Verdict } from '../../core/run/verdict.ts'
import { keepableText } from '../check.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { occurrencesEnded } from '../schedules/occurrence-end.ts'
import { type ScheduleRow, setsAside } from '../schedules/schedule-row.ts'
import { both, dialects, each, type Row, run, runEach, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { admit, gateName, regateAll } from './admit.ts'
import { callEnded, callEnding, type RunEnd } from './end-hooks.ts'
import { type Gate, lockGates } from './key-gate.ts'
import { setAside } from './ready-aside.ts'

/** The end of an attempt, or of a run that ended without one (fence 0), with its verdict. */
export interface Ending {
  readonly runId: number
  readonly ns: number
  readonly queueId: number
  readonly scheduleId: number | null
  readonly key: string | null
  readonly dedupeKey: string | null
  readonly workerId: number | null
  /** The fence of the attempt; 0 for an end without a lease. */
  readonly fence: number
  /** The run's highest fence. */
  readonly lastFence: number
  readonly startedAt: number | null
  readonly outcome: Outcome['kind']
  readonly verdict: Verdict
  /** For its schedule the run ended earlier, when it was parked. */
  readonly wasParked?: boolean
  /** The result from the worker. */
  readonly result?: unknown
  readonly usage?: RunEnd['usage']
  readonly utilisation?: RunEnd['utilisation']
  readonly rateLimited?: RunEnd['rateLimited']
  readonly learned?: RunEnd['learned']
  readonly isWatched?: RunEnd['isWatched']
  readonly effect?: RunEnd['effect']
}

const insertAttempts = dialects('conclude insert attempts', tables.attempt.insert())
/**
 * Only one run has a dedupe key, so the ids of the ended runs would do; the keys are given because
 * the index needs them.
 */
const deleteDedupe = both('conclude delete dedupe', ({ numbers, texts }) => {
  return `delete from belfry.dedupe where ns = $1 and key ${texts('$2')} and run_id ${numbers('$3')}`
})
const findPlaces = dialects('conclude find places', {
  sqlite: 'select id, need_id, priority, enqueued_at from belfry.run where id = $1',
  postgres: 'select id, need_id, priority, enqueued_at from belfry.run where id = any ($1::bigint[])',
})
const findKeyLimits = dialects('conclude find key limits', {
  sqlite: 'select id, policy from belfry.queue where id = $1',
  postgres: 'select id, policy from belfry.queue where id = any ($1::bigint[])',
})

interface Concluded {
  readonly now: number
  readonly endings: readonly Ending[]
  readonly schedules: ReadonlyMap<number, ScheduleRow>
}

/**
 * Records how attempts ended and applies all consequences in the same transaction: the history, the run's next place, the keys it
 * frees, its schedule's next occurrence, and the parts' hooks.
 */
export function* conclude(context: StoreContext, { now, endings, schedules }: Concluded): Step<void> {
  const notable = endings.filter(isNotable)
  const keyLimits = yield* keyLimitsOf(notable)
  const gates = gatesOf(notable, keyLimits)
  yield* lockGates(gates.values())
  yield* runEach(
    insertAttempts,
    endings.map((ending) => attemptTuple(now, ending)),
  )
  const over = notable.filter(({ verdict }) => verdict.status !== 'ready')
  if (notable.length > 0) {
    yield* returnToQueue(now, notable, schedules, keyLimits)
    yield* freeDedupeKeys(over)
    yield* regateAll(gates)
  }
  const ends = endings.map(runEndOf)
  const before = yield* callEnding(context, { now, ends, schedules })
  const moved = yield* occurrencesEnded(
    now,
    before,
    over.flatMap(({ runId, scheduleId, verdict, wasParked = false }) =>
      scheduleId === null || wasParked ? [] : [{ runId, scheduleId, status: verdict.status, reason: verdict.reason }],
    ),
  )
  yield* callEnded(context, { now, ends, schedules: moved })
}

function runEndOf(ending: Ending): RunEnd {
  const { runId, ns, scheduleId, fence, outcome, result } = ending
  const { usage, utilisation, rateLimited, learned, isWatched, effect, startedAt } = ending
  const { status, reason } = ending.verdict
  const reported = { result, usage, utilisation, rateLimited, learned, isWatched, effect, startedAt }
  return { runId, ns, scheduleId, fence, outcome, status, isOver: status !== 'ready', reason, ...reported }
}

function* freeDedupeKeys(over: readonly Ending[]): Step<void> {
  const holders = over.filter(({ dedupeKey }) => dedupeKey !== null)
  for (const ns of new Set(holders.map((holder) => holder.ns))) {
    const ofNamespace = holders.filter((holder) => holder.ns === ns)
    const keys = JSON.stringify(ofNamespace.map(({ dedupeKey }) => dedupeKey))
    yield* run(deleteDedupe, ns, keys, JSON.stringify(ofNamespace.map(({ runId }) => runId)))
  }
}

/** A plain success needs only its history; nearly every run is one, and this function does nearly nothing for it. */
function isNotable({ verdict, key, dedupeKey, scheduleId }: Ending): boolean {
  return (
    verdict.status === 'ready' ||
    verdict.status === 'parked' ||
    verdict.status === 'failed' ||
    key !== null ||
    dedupeKey !== null ||
    scheduleId !== null
  )
}

/** The reason of an end, as recorded and returned: a success after a cancel request is marked. */
export function reasonTold({ lateCancel, reason }: Verdict): string {
  return lateCancel === true ? 'late-cancel' : reason
}

function attemptTuple(now: number, { runId, fence, ns, queueId, workerId, startedAt, outcome, verdict }: Ending) {
  const said = reasonTold(verdict)
  const reason = said === 'success' ? null : keepableText(said)
  const ends = verdict.status === 'ready' || verdict.status === 'parked' ? null : verdict.status
  return tables.attempt.tuple({ runId, fence, ns, queueId, workerId, startedAt, endedAt: now, outcome, reason, ends })
}

function* returnToQueue(
  now: number,
  endings: readonly Ending[],
  schedules: ReadonlyMap<number, ScheduleRow>,
  keyLimits: ReadonlyMap<number, number | null>,
): Step<void> {
  const staying = endings.filter(({ verdict }) => verdict.status === 'ready' || verdict.status === 'parked')
  const ids = staying.map(({ runId }) => [runId])
  const places = new Map((yield* each(findPlaces, ids)).map((row) => [row.id as number, row]))
  const placed = staying.flatMap((ending) => {
    const place = places.get(ending.runId)
    return place === undefined ? [] : [{ ending, standing: standingAfter(ending, place) }]
  })
  yield* setAside(
    placed.flatMap(({ ending: { verdict }, standing }) => {
      if (verdict.status !== 'parked') return []
      return [{ standing, kind: 'parked', at: now, reason: keepableText(verdict.reason) }] as const
    }),
  )
  yield* admit(
    now,
    placed.flatMap(({ ending: { verdict, outcome, scheduleId, queueId }, standing }) => {
      if (verdict.status !== 'ready') return []
      const { nextEligibleAt, reason } = verdict
      const why = outcome === 'deferred' ? `deferred: ${keepableText(reason)}` : 'backoff'
      const eligible = nextEligibleAt === undefined ? null : { at: nextEligibleAt, reason: why }
      const schedule = scheduleId === null ? undefined : schedules.get(scheduleId)
      const kept = schedule !== undefined && setsAside(schedule, now) ? 'held' : null
      return [{ standing, eligible, kept, keyLimit: keyLimits.get(queueId) ?? null }] as const
    }),
  )
}

function standingAfter({ runId, ns, queueId, key, lastFence, verdict }: Ending, place: Row) {
  return {
    runId,
    ns,
    queueId,
    needId: place.need_id as number,
    priority: place.priority as number,
    enqueuedAt: place.enqueued_at as number,
    key,
    fence: lastFence,
    attempts: verdict.attempts,
    releases: verdict.releases,
    deaths: verdict.deaths,
  }
}

function* keyLimitsOf(endings: readonly Ending[]): Step<Map<number, number | null>> {
  const queueIds = new Set(endings.flatMap(({ key, queueId }) => (key === null ? [] : [queueId])))
  const rows = yield* each(
    findKeyLimits,
    [...queueIds].map((id) => [id]),
  )
  return new Map(rows.map((row) => [row.id as number, readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null]))
}

/** The keys of runs that left their slot or place: the next run behind each gate may start. */
function gatesOf(endings: readonly Ending[], keyLimits: ReadonlyMap<number, number | null>): Map<string, Gate> {
  const gates = new Map<string, Gate>()
  for (const { ns, queueId, key } of endings) {
    if (key !== null) gates.set(gateName({ queueId, key }), { ns, queueId, key, limit: keyLimits.get(queueId) ?? null })
  }
  return gates
}
