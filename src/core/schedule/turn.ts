import { byCalendar } from '../timing/by-calendar.ts'
import { type LateOccurrence, type LateSchedule, maxLatenessMs, merelyLateMs, missed } from '../timing/missed.ts'
import { caughtUpAt } from '../timing/spread.ts'
import type { NextDecision } from './decision.ts'
import { periodMs } from './due.ts'
import type { Hints, OneshotHint, RankedHint } from './governor.ts'
import { type EndedHint, endsOf, everyHint, expiredHints, hintKinds, isIntervalOver, withoutHints } from './hints.ts'
import { planned } from './next-plan.ts'
import { type LiveRun, overlapDecision, standsBehind } from './overlap.ts'
import { closedBy, type Passed, passedBy, summed } from './passed-by.ts'
import { isPaused, type LiveScheduleRun, lastRunId, lateSchedule, lateState, type ScheduleState } from './state.ts'
import { withoutPauses } from './steering.ts'
import { reasonUnderStops, type StopSpan } from './stop-span.ts'
import { refuseUnworkable } from './workable.ts'

/** An occurrence that becomes a run. */
export interface Fire {
  readonly plannedAt: number
  readonly dueAt: number
  /** When its catch-up spread is over. */
  readonly notBefore: number | null
  readonly lateAfter: number | null
  readonly isMissed: boolean
  /** The run is created parked, and a person decides about it. */
  readonly isAsked?: true
  readonly decision: NextDecision
  /** The run it must not overlap: a live one, or one of this turn. */
  readonly behind: LiveName | null
}

/** A live run by its id, or a run of this turn by its index among the fires. */
export type LiveName = { readonly runId: number } | { readonly fire: number }

/** Occurrences that end without a run; the causing run is given by its id, or by its index among the fires. */
export interface Skip extends Passed {
  readonly causedBy: LiveName | null
}

/** What `fireDue` does with one schedule. */
export interface Turn<Row extends ScheduleState = ScheduleState> {
  /** The schedule after everything that time alone changed, before its next run is planned. */
  readonly row: Row
  readonly live: readonly LiveScheduleRun[]
  /** Its planned instant has come; the fields below have the outcome. */
  readonly wasDue: boolean
  readonly passed: readonly Passed[]
  readonly fires: readonly Fire[]
  readonly skips: readonly Skip[]
  readonly endedHints: readonly EndedHint[]
  /** The pause is over and held runs may start. */
  readonly releases: boolean
  /** The live runs are to be cancelled, because a new one replaces them. */
  readonly cancels: boolean
  /** A one-shot hint whose run overlap forbids; it waits for the live run's end. */
  readonly waitingHint: boolean
  /** No occurrence becomes a run before this instant, so the plan starts there. */
  readonly postponed?: Postponed | undefined
}

export interface Postponed {
  readonly until: number
  /** The outcome of the occurrences until then. */
  readonly outcome: string
}

/** What holds do to the occurrences of a schedule. */
export interface UnderHolds {
  /** The reason of the hold under which they end without a run. */
  readonly skipped?: string | undefined
  /** Until when no occurrence can become a run, where that is known for all holds. */
  readonly until?: number | undefined
  /** The times during which past stops kept the schedule from firing. */
  readonly stops?: readonly StopSpan[] | undefined
}

/**
 * Decides what a due schedule does. Events since a worker last fired are applied in their order: first a pause that ended or a
 * hint that expired, then the occurrences that came due after that.
 */
export function takeTurn<Row extends ScheduleState>(
  row: Row,
  now: number,
  live: readonly LiveScheduleRun[],
  holds: UnderHolds = {},
): Turn<Row> {
  refuseUnworkable(row.spec)
  const turn = untilNow(row, now, live)
  const { nextDueAt } = turn.row
  if (nextDueAt !== null && nextDueAt <= now && !isPaused(turn.row, now)) return withDue(turn, now, holds)
  if (turn.row.nextDecision?.closedFor === undefined) return turn
  // The schedule is evaluated again before the instant to which it was postponed.
  const { row: asked, entries } = closedBy(turn.row, now)
  return { ...turn, row: asked, passed: [...turn.passed, ...entries] }
}

/** A schedule after the pauses and hints that have ended since a worker last fired, up to the first due occurrence. */
export function untilNow<Row extends ScheduleState>(
  row: Row,
  now: number,
  live: readonly LiveScheduleRun[],
): Turn<Row> {
  const quiet: Turn<Row> = {
    row,
    live,
    wasDue: false,
    passed: [],
    fires: [],
    skips: [],
    endedHints: [],
    releases: false,
    cancels: false,
    waitingHint: false,
    postponed: undefined,
  }
  return throughEvents(quiet, now)
}

function throughEvents<Row extends ScheduleState>(turn: Turn<Row>, now: number): Turn<Row> {
  const at = nextEvent(turn.row, now)
  if (at === null || (turn.row.nextDueAt !== null && turn.row.nextDueAt < at)) return turn
  return throughEvents(at === turn.row.pausedUntil ? pauseEnded(turn, at) : hintsExpired(turn, at), now)
}

function nextEvent({ pausedUntil, hints }: ScheduleState, now: number): number | null {
  const over = [pausedUntil, ...hintKinds.map((kind) => hints[kind]?.expiresAt)].filter((at) => (at ?? now + 1) <= now)
  return over.length === 0 ? null : Math.min(...(over as number[]))
}

/** An occurrence at the very instant at which the pause ends is no longer paused. */
function pauseEnded<Row extends ScheduleState>(turn: Turn<Row>, at: number): Turn<Row> {
  const { row, entries } = passedBy(turn.row, { by: at - 1, now: at, outcome: 'paused' })
  const resumed = { ...withoutPauses(row), nextDecision: null }
  const asked = { now: at - 1, lastRunId: lastRunId(row, turn.live) }
  const early = planned(resumed, asked)
  const isEarly = early.nextRunAt !== null && early.nextRunAt < at
  const next = isEarly ? planned(resumed, { ...asked, now: at }) : early
  return { ...turn, row: next, passed: [...turn.passed, ...entries], releases: true }
}

function hintsExpired<Row extends ScheduleState>(turn: Turn<Row>, at: number): Turn<Row> {
  const { row, live, endedHints } = turn
  const expired = expiredHints(row.hints, at)
  const hints = withoutHints(row.hints, expired, at)
  const { outranked: _, ...before } = row.hints
  // The governor is asked while the row still has the hint, unless another hint takes its place: a cron instant equal to the
  // expiry belongs to the baseline.
  const asking = { ...row, hints: { ...before, ...hints } }
  const asked = stands(row, hints, at)
    ? row
    : planned(withoutPlanOf(asking, row), { now: at, lastRunId: lastRunId(row, live) })
  const next = { ...asked, hints }
  return { ...turn, row: next, endedHints: [...endedHints, ...endsOf(row.id, expired, at, 'expired')] }
}

/** The row without the plan of a hint whose place another has taken. */
function withoutPlanOf<Row extends ScheduleState>(row: Row, before: ScheduleState): Row {
  const kind = row.nextDecision?.winner === 'interval-hint' ? 'interval' : 'oneshot'
  const [mine, other] = [row.hints[kind], before.hints[kind]]
  const isOther = mine?.expiresAt !== other?.expiresAt || mine?.by !== other?.by
  return isOther && row.nextDecision?.winner !== 'baseline' ? { ...row, nextRunAt: null, nextDueAt: null } : row
}

/**
 * Whether a plan stays the same when hints expire: a pause already knows the first instant that it skips, and the cron's
 * instant does not depend on a one-shot. A new plan as of the expiry would be moved by a hint or timing that was written
 * later.
 */
function stands(row: ScheduleState, after: Hints, at: number): boolean {
  const { nextRunAt, nextDecision, hints } = row
  if (isPaused(row, at)) return nextDecision !== null
  if (isIntervalOver(hints, at) || nextRunAt === null || nextDecision?.winner !== 'baseline') return false
  return after.oneshot === undefined || after.oneshot.expiresAt === hints.oneshot?.expiresAt
}

/** A due schedule while its occurrences are decided one after the other, oldest first. */
interface Deciding {
  readonly row: ScheduleState
  readonly schedule: LateSchedule
  readonly holds: UnderHolds
  readonly now: number
  readonly live: LiveRun[]
  readonly fires: Fire[]
  readonly skips: Skip[]
  lastPlannedAt: number | null
  cancels: boolean
  waitingHint: boolean
}

/**
 * A one-shot is used up by its own run, and by any run planned for its instant or later: in a tie the other candidate wins,
 * and a second run right after it would be one too many.
 */
function usedUp({ row, fires, waitingHint }: Deciding): RankedHint[] {
  const { nextDecision, hints } = row
  return everyHint(hints).filter((hint) => {
    if (hint.kind !== 'oneshot') return false
    const isPlanned = nextDecision?.winner === 'oneshot-hint' && isPlanOf(nextDecision, hint)
    if (isPlanned && hint.at === hints.oneshot?.at) return !waitingHint
    return fires.some(({ plannedAt }) => plannedAt >= hint.at)
  })
}

/** Whether a plan was made for this one-shot: an overdue plan stays when another hint replaces the one it was made for. */
function isPlanOf({ state }: NextDecision, { at, expiresAt }: OneshotHint): boolean {
  const asked = state?.hints?.oneshot
  return asked === undefined || (asked.at === at && asked.expiresAt === expiresAt)
}

function withDue<Row extends ScheduleState>(turn: Turn<Row>, now: number, holds: UnderHolds): Turn<Row> {
  const { row, entries: closed } = closedBy(turn.row, now)
  const schedule = lateSchedule(row)
  const { occurrences, before } = missed({ now, schedule, state: lateState(row) })
  const live = turn.live.map((run): LiveRun => {
    const { runId, isLeased } = run
    return { id: String(runId), status: isLeased ? 'leased' : 'ready', isCatchUp: wasMissed(run, turn.live) }
  })
  const deciding: Deciding = {
    row,
    schedule,
    holds,
    now,
    live,
    fires: [],
    skips: [],
    lastPlannedAt: row.lastPlannedAt,
    cancels: false,
    waitingHint: false,
  }
  for (const range of before === null ? [] : byCalendar(before, schedule, lateState(row))) {
    skip(deciding, range, reasonUnderStops(range.reason, range, holds.stops ?? []), null)
  }
  for (const one of occurrences) decide(deciding, one)

  const { fires, skips, cancels } = deciding
  const consumed = usedUp(deciding)
  const unused = withoutHints(row.hints, consumed, now)
  const expired = expiredHints(unused, now)
  const after = {
    ...row,
    hints: withoutHints(unused, expired, now),
    lastPlannedAt: deciding.lastPlannedAt,
    anchorAt: skips.length > 0 ? now : row.anchorAt,
  }
  const endedHints = [...endsOf(row.id, consumed, now, 'consumed'), ...endsOf(row.id, expired, now, 'expired')]
  const waitingHint = deciding.waitingHint && after.hints.oneshot !== undefined
  const all = [...turn.endedHints, ...endedHints]
  const passed = [...turn.passed, ...closed]
  const { skipped, until } = holds
  const isPostponed = skipped !== undefined && until !== undefined && skips.at(-1)?.outcome === skipped
  const postponed = isPostponed ? { until, outcome: skipped } : undefined
  return { ...turn, row: after, wasDue: true, passed, fires, skips, endedHints: all, cancels, waitingHint, postponed }
}

function decide(deciding: Deciding, one: LateOccurrence): void {
  const { row, live, now, holds } = deciding
  const { plannedAt, action, reason } = one
  const alone = { from: plannedAt, to: plannedAt, count: 1 }
  if (action === 'ask') {
    ask(deciding, one)
    return
  }
  if (action === 'skip') {
    const due = { from: one.dueAt, to: one.dueAt }
    skip(deciding, alone, reasonUnderStops(reason, due, holds.stops ?? []), null)
    return
  }
  if (holds.skipped !== undefined) {
    skip(deciding, alone, holds.skipped, null)
    return
  }
  const { overlap, missed: missedMode, queueMax } = row.spec
  const cause = one.isMissed ? 'occurrence' : 'punctual-occurrence'
  const decision = overlapDecision({ overlap, missed: missedMode, queueMax, live, cause })
  if (decision.action === 'skip' || decision.action === 'refuse') {
    if (plannedAt === row.nextRunAt && row.nextDecision?.winner === 'oneshot-hint') deciding.waitingHint = true
    else skip(deciding, alone, 'overlap', nameOf(decision.because))
    return
  }
  deciding.cancels ||= decision.action === 'make-and-cancel'
  const newest = standsBehind(row.spec) ? live.at(-1) : undefined
  const lateAt = lateAfter(deciding, one)
  const startsAt = caughtUpAt({
    now,
    shareMs: (one.notBefore ?? now) - now,
    lateAfter: lateAt,
    config: deciding.schedule.catchUp,
  })
  deciding.fires.push({
    plannedAt,
    dueAt: one.dueAt,
    notBefore: startsAt > now ? startsAt : null,
    lateAfter: lateAt,
    isMissed: one.isMissed,
    decision: decisionFor(row, one, now),
    behind: newest === undefined ? null : nameOf(newest.id),
  })
  live.push({ id: `fire ${deciding.fires.length - 1}`, status: 'ready', isCatchUp: one.isMissed })
  deciding.lastPlannedAt = plannedAt
}

/**
 * The run is not a missed occurrence that is caught up: it starts only when a person says so, and is then not too late.
 */
function ask(deciding: Deciding, one: LateOccurrence): void {
  const { row, now, fires } = deciding
  const { plannedAt, dueAt } = one
  const waits = { notBefore: null, lateAfter: null, behind: null, isMissed: false, isAsked: true } as const
  fires.push({ plannedAt, dueAt, ...waits, decision: decisionFor(row, one, now) })
  deciding.lastPlannedAt = plannedAt
}

function nameOf(id: string): LiveName {
  return id.startsWith('fire ') ? { fire: Number(id.slice(5)) } : { runId: Number(id) }
}

type Stretch = Pick<Passed, 'from' | 'to' | 'count'> & Partial<Pick<Passed, 'countIsAtLeast'>>

/** Occurrences in a row with the same reason end as one: there may be a hundred of them. */
function skip(deciding: Deciding, stretch: Stretch, outcome: string, causedBy: LiveName | null): void {
  const { from, to, count, countIsAtLeast = false } = stretch
  const { row, skips, fires } = deciding
  const last = skips.at(-1)
  const isAlike = last?.outcome === outcome && last.causedBy === null && causedBy === null
  if (isAlike && (fires.at(-1)?.plannedAt ?? 0) < last.from) {
    skips[skips.length - 1] = { ...last, to, ...summed(last, stretch) }
  } else {
    const decision = from === row.nextRunAt ? row.nextDecision : null
    skips.push({ from, to, count, countIsAtLeast, outcome, causedBy, decision })
  }
  deciding.lastPlannedAt = to
}

/** Whether a live run was made for a missed occurrence: a minute late, or together with a later one. */
function wasMissed({ dueAt, enqueuedAt, occurrenceAt }: LiveScheduleRun, live: readonly LiveScheduleRun[]): boolean {
  if (occurrenceAt === null || dueAt === null) return false
  if (enqueuedAt - dueAt > merelyLateMs) return true
  return live.some((other) => other.enqueuedAt === enqueuedAt && (other.occurrenceAt ?? 0) > occurrenceAt)
}

function lateAfter({ schedule }: Deciding, { plannedAt, dueAt }: LateOccurrence): number {
  const allowedMs = maxLatenessMs({ schedule, periodMs: periodMs(schedule.timing, plannedAt) })
  return dueAt + Math.max(allowedMs, merelyLateMs)
}

/** The governor decided only about the first occurrence; later ones come from the timing. */
function decisionFor(row: ScheduleState, { plannedAt }: LateOccurrence, now: number): NextDecision {
  if (plannedAt === row.nextRunAt && row.nextDecision !== null) return row.nextDecision
  return {
    at: now,
    version: row.version,
    source: row.spec.timing.cron === undefined ? 'baseline-interval' : 'baseline-cron',
    winner: 'baseline',
    waitsForEnd: false,
    trail: [
      { rule: 'baseline', from: plannedAt, at: plannedAt, effect: 'won', why: 'it came due while no worker ran' },
    ],
  }
}
