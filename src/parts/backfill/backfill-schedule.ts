import { formatId } from '../../core/id.ts'
import { overlapOf } from '../../core/schedule/overlap.ts'
import { instantsBetween } from '../../core/timing/instants-between.ts'
import { gridOf } from '../../core/timing/timing.ts'
import { checkFields, checkInstant, hashOf, invalid } from '../../store/check.ts'
import { readPolicy } from '../../store/queues/queue-row.ts'
import { admit } from '../../store/runs/admit.ts'
import { arrivalOf } from '../../store/runs/enqueue.ts'
import { firstsOf, type KeyedRun } from '../../store/runs/idempotency.ts'
import { type RunRow, writeRuns } from '../../store/runs/run-row.ts'
import { listLiveRuns, liveRunsOf } from '../../store/schedules/live-run.ts'
import { askForWork, refuseUnfit, runOf, type Work, workOf } from '../../store/schedules/occurrence-run.ts'
import { lockNamedSchedule, type ScheduleRow, setsAside } from '../../store/schedules/schedule-row.ts'
import { all, both, clockNow, freshIds, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { runsNamed } from '../../store/verb.ts'

export interface BackfillRequest {
  readonly from: number
  /** The exclusive end of the range; not after now. */
  readonly to: number
  /** Whether instants that have had, or may have had, a run get another. */
  readonly again?: boolean
}

export type BackfillAnswer =
  | {
      readonly answer: 'made'
      /** Oldest first, the order in which they run. */
      readonly made: readonly { readonly at: number; readonly run: string }[]
      readonly left: readonly LeftInstant[]
      /** Why the runs do not start at once: the schedule is paused, or each run waits for the previous one. */
      readonly kept?: 'held' | 'overlap'
    }
  /**
   * The range has more instants than one step may create; a range that ends at `fitsUntil` has as
   * many as are allowed.
   */
  | {
      readonly answer: 'too-many'
      readonly count: number
      readonly countIsAtLeast: boolean
      readonly most: number
      readonly fitsUntil: number
    }
  /**
   * The schedule has no past nominal instants: it runs once, is measured from its own ends, or runs only
   * by hints and by hand.
   */
  | { readonly answer: 'no-instants'; readonly because: 'once' | 'delay' | 'no-timing' }
  | { readonly answer: 'not-found' }

/**
 * An instant without a new run. `has-run`: it became a run when it was due. `made-before`: an earlier backfill created its run.
 * `forgotten`: it is older than the ledger keeps, so it may have run. `due`: the instant is not decided yet, and a worker fires it next.
 * The other two are outside the schedule's start and end.
 */
export interface LeftInstant {
  readonly at: number
  readonly because: 'has-run' | 'made-before' | 'forgotten' | 'due' | 'before-start' | 'after-end'
  readonly run?: string
}

const findEntries = both(
  'backfill find entries',
  ({ numbers }) => `select from_at, run_id from belfry.ledger where schedule_id = $1 and from_at ${numbers('$2')}`,
)
/** Only for instants older than the ledger keeps, so there are few. */
const findRanges = both(
  'backfill find ranges',
  `select from_at, to_at from belfry.ledger where schedule_id = $1 and from_at <= $2 and to_at > from_at
    order by from_at limit $3`,
)
const findPolicy = both('backfill find policy', 'select policy from belfry.queue where id = $1')

/** The most runs of one step, so that a careless range does not block other writers. */
const instantsMax = 1_000

const requestFields: ReadonlySet<string> = new Set<keyof BackfillRequest>(['from', 'to', 'again'])

/**
 * Creates runs for past instants of a schedule. They are not occurrences: they use up no instant and move no plan. Each has a key made of
 * its instant, so a repeated request creates nothing twice.
 */
export function* backfillSchedule(context: StoreContext, name: string, request: BackfillRequest): Step<BackfillAnswer> {
  checkRequest(request)
  const schedule = yield* lockNamedSchedule(context, name)
  if (schedule === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const { from, to, again = false } = request
  if (to > now) throw invalid('to', `is ${to}`, `at most ${now}, which is now`)
  refuseUnfit(schedule)
  const { timing, startAt } = schedule.spec
  const grid = gridOf({ timing, startAt, gridAnchorAt: schedule.gridAnchorAt })
  if (grid === null) return { answer: 'no-instants', because: withoutGrid(schedule) }
  const { listed: instants, beyond } = instantsBetween(grid, { from, to, listMax: instantsMax })
  if (beyond !== null) {
    const { count, countIsAtLeast, from: fitsUntil } = beyond
    return { answer: 'too-many', count: instants.length + count, countIsAtLeast, most: instantsMax, fitsUntil }
  }
  const left = again ? new Map<number, LeftInstant>() : yield* doneOf(schedule, instants, now)
  for (const at of instants) {
    const because = outside(schedule, at)
    if (because !== null) left.set(at, { at, because })
  }
  const wanted = instants.filter((at) => !left.has(at))
  const { fresh, known } = yield* claimed(context, schedule, wanted, now)
  for (const one of known) left.set(one.at, one)
  const kept = yield* make(context, schedule, fresh, now)
  const made = fresh.map(({ id, at }) => ({ at, run: formatId('run', id) }))
  return { answer: 'made', made, left: [...left.values()].sort((a, b) => a.at - b.at), ...(kept !== null && { kept }) }
}
backfillSchedule.audits = (answer: BackfillAnswer) =>
  answer.answer === 'made' && answer.made.length > 0 ? { detail: runsNamed(answer.made.map(({ run }) => run)) } : null
backfillSchedule.rehearses = true as const

function checkRequest(request: BackfillRequest): void {
  checkFields(request, 'backfill', requestFields)
  const { from, to, again } = request
  checkInstant(from, 'from')
  checkInstant(to, 'to')
  if (to <= from) throw invalid('to', `is ${to}`, `after from, which is ${from}`)
  if (again !== undefined && typeof again !== 'boolean') throw invalid('again', `is ${typeof again}`, 'true or false')
}

function withoutGrid({ spec: { timing } }: ScheduleRow): 'once' | 'delay' | 'no-timing' {
  if (timing.at !== undefined) return 'once'
  return timing.everyMs === undefined ? 'no-timing' : 'delay'
}

/** The instants that became a run when they were due, and those older than the ledger. */
function* doneOf(schedule: ScheduleRow, instants: readonly number[], now: number): Step<Map<number, LeftInstant>> {
  if (instants.length === 0) return new Map()
  const listed = JSON.stringify(instants)
  const entries = yield* all<{ from_at: number; run_id: number | null }>(findEntries, schedule.id, listed)
  const left = new Map<number, LeftInstant>()
  for (const { from_at: at, run_id: runId } of entries) {
    if (runId !== null) left.set(at, { at, because: 'has-run', run: formatId('run', runId) })
  }
  const known = new Set(entries.map((entry) => entry.from_at))
  const unknown = instants.filter((at) => at >= schedule.createdAt && !known.has(at))
  for (const at of yield* forgottenOf(schedule, unknown, now)) left.set(at, { at, because: 'forgotten' })
  return left
}

/**
 * The ledger keeps the result of an instant for a while. Without this check, a backfill of a year would silently repeat every instant that
 * is older than the ledger.
 */
function* forgottenOf(schedule: ScheduleRow, unknown: readonly number[], now: number): Step<number[]> {
  const policy = readPolicy((yield* one<{ policy: string }>(findPolicy, schedule.queueId))?.policy ?? '')
  const keptFrom = now - (policy?.retention.ledgerMs ?? Number.POSITIVE_INFINITY)
  const old = unknown.filter((at) => at <= keptFrom)
  const last = old.at(-1)
  if (last === undefined) return []
  const ranges = yield* all<{ from_at: number; to_at: number }>(findRanges, schedule.id, last, instantsMax)
  return old.filter((at) => !ranges.some((range) => range.from_at <= at && at <= range.to_at))
}

/** Why an instant gets no run whatever the ledger says. An instant at or after the planned one is not decided yet: a worker fires it next, and a backfilled run would duplicate it. */
function outside(schedule: ScheduleRow, at: number): 'due' | 'before-start' | 'after-end' | null {
  const { startAt, endAt } = schedule.spec
  if (startAt !== undefined && at < startAt) return 'before-start'
  if (endAt !== undefined && at > endAt) return 'after-end'
  return at >= undecidedFrom(schedule) ? 'due' : null
}

/** While the schedule is paused without end nothing is decided, and instants pass without a run. */
function undecidedFrom({ disabledAt, nextRunAt, pausedUntil }: ScheduleRow): number {
  if (disabledAt !== null) return Number.POSITIVE_INFINITY
  return Math.min(nextRunAt ?? Number.POSITIVE_INFINITY, pausedUntil ?? Number.POSITIVE_INFINITY)
}

interface Claim extends KeyedRun {
  readonly at: number
}

interface Claimed {
  readonly fresh: readonly Claim[]
  readonly known: readonly LeftInstant[]
}

/** Takes the keys of instants; a key in use names the run of an earlier backfill. */
function* claimed(
  context: StoreContext,
  { id: scheduleId }: ScheduleRow,
  instants: readonly number[],
  now: number,
): Step<Claimed> {
  const ids = yield* freshIds(instants.length)
  const claims = instants.map((at, index) => {
    const key = `backfill:${formatId('schedule', scheduleId)}:${new Date(at).toISOString()}`
    return { at, id: ids[index] as number, key, hash: hashOf({ backfill: scheduleId, at }) }
  })
  const firsts = yield* firstsOf(context, claims, now)
  const isFresh = ({ key, id }: Claim) => firsts.get(key)?.runId === id
  const known = claims.flatMap((claim): LeftInstant[] => {
    const first = firsts.get(claim.key)
    if (first === undefined || isFresh(claim)) return []
    return [{ at: claim.at, because: 'made-before', run: formatId('run', first.runId) }]
  })
  return { fresh: claims.filter(isFresh), known }
}

/**
 * Creates the runs, and returns why they do not start at once. Unless overlap is allowed, they wait one behind the other, oldest first,
 * after the live runs of the schedule: no run is skipped or replaced for them, and any number may wait.
 */
function* make(
  context: StoreContext,
  schedule: ScheduleRow,
  claims: readonly Claim[],
  now: number,
): Step<'held' | 'overlap' | null> {
  if (claims.length === 0) return null
  const work = (yield* workOf(context, [schedule], yield* askForWork([schedule]))).get(schedule.id) as Work
  const isSerial = overlapOf(schedule.spec) !== 'allow'
  const live = isSerial ? (yield* liveRunsOf([schedule.id])).get(schedule.id) : undefined
  let behind = live?.at(-1)?.runId ?? null
  const rows = claims.map((claim) => {
    const row = rowOf(schedule, work, claim, { now, waitsFor: behind })
    if (isSerial) behind = row.id
    return row
  })
  yield* writeRuns(rows, { context, now, over: 'refused' })
  yield* listLiveRuns(rows.map(({ id }) => ({ ns: schedule.ns, scheduleId: schedule.id, id })))
  const isHeld = setsAside(schedule, now)
  const keptOf = ({ waitsFor }: RunRow) => (isHeld ? 'held' : waitsFor === null ? null : 'overlap')
  const keyLimit = work.queue.policy?.maxConcurrentPerKey ?? null
  yield* admit(
    now,
    rows.map((row) => ({ ...arrivalOf(row), kept: keptOf(row), keyLimit })),
  )
  return keptOf(rows.at(-1) as RunRow)
}

/** A backfilled run has a nominal instant, which its target receives, but is never too late for it. */
function rowOf(
  schedule: ScheduleRow,
  work: Work,
  { id, at, key }: Claim,
  { now, waitsFor }: { now: number; waitsFor: number | null },
): RunRow {
  const parts = { id, occurrenceAt: null, dueAt: at, source: 'backfill', notBefore: null, lateAfter: null } as const
  return { ...runOf(schedule, work, now, { ...parts, waitsFor, decision: null }), idempotencyKey: key }
}
