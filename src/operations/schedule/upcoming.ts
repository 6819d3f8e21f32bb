import type { ClockMark } from '../../core/cron/clock-mark.ts'
import { cron } from '../../core/cron/cron.ts'
import { type GovernorState, type NextRun, nextRun, type Source, type Winner } from '../../core/governor.ts'
import { governed } from '../../core/question.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import { dueAt } from '../../core/spread.ts'
import { gridFor } from '../../core/wishes.ts'
import type { ScheduleView } from '../../store/view.ts'

/** An occurrence to come. */
export interface UpcomingRun {
  /** The nominal instant. */
  readonly at: number
  /** When it will start at the earliest: nominal and spread. */
  readonly dueAt: number
  readonly source: Source
  /** It is measured from the end of a run that has not ended yet, as if every run took no time. */
  readonly isEstimate: boolean
  /** The zone of the schedule's cron, by whose clocks people read it. */
  readonly zone?: string
  /** What a change of those clocks does to it, or to the time since the one before. */
  readonly dst?: ClockMark
}

export interface UpcomingInput {
  readonly now: number
  readonly schedule: ScheduleView
  readonly count: number
}

/** What is simulated: the governor's memory, and whether it rests on ends that nobody knows yet. */
interface Ahead {
  readonly now: number
  readonly state: GovernorState
  readonly isGuess: boolean
}

/**
 * The next occurrences of a schedule: the governor is asked, and asked again as if what it answered had come to pass
 * without a failure, which is what the engine will do. A pause without end has nothing after it.
 */
export function upcoming({ now, schedule: view, count }: UpcomingInput): UpcomingRun[] {
  const runs: UpcomingRun[] = []
  let ahead = beginning(view, now)
  let answer = ahead === null ? null : (madePlan(view, now) ?? asked(view, ahead))
  while (ahead !== null && answer !== null && runs.length < count) {
    runs.push(byItsClocks(view.spec, answer, runs.at(-1)?.at))
    ahead = after(answer, ahead)
    answer = asked(view, ahead)
  }
  return runs
}

function beginning(view: ScheduleView, now: number): Ahead | null {
  if (view.disabled !== null || view.deletedAt !== null) return null
  const state = stateOf(view)
  const { paused, waitsFor } = view
  if (paused !== null && paused.until > now) {
    return { now: endOfPause(view, paused.until), state: resumed(state), isGuess: false }
  }
  // A fixed delay counts from the end of a run that is still at work: at the earliest it ends now.
  if (waitsFor !== null) return { now, state: { ...state, anchorAt: now, failureCount: 0 }, isGuess: true }
  return { now, state: resumed(state), isGuess: false }
}

/** What comes during the pause passes by. A calendar names what comes after an instant, and its end is not the pause. */
function endOfPause(view: ScheduleView, until: number): number {
  const grid = gridFor({ now: until, schedule: governed(view.spec), state: stateOf(view) })
  return grid?.atOrAfter(until) === until ? until - 1 : until
}

function stateOf({ failureCount, hints, paused, anchorAt, lastPlannedAt, runsCount, nextDecision }: ScheduleView) {
  return {
    failureCount,
    hints,
    pausedUntil: paused?.until,
    anchorAt,
    lastPlannedAt: lastPlannedAt ?? undefined,
    gridAnchorAt: nextDecision?.state?.gridAnchorAt,
    runsCount,
  }
}

function resumed(state: GovernorState): GovernorState {
  return { ...state, pausedUntil: undefined }
}

interface Answer {
  readonly run: UpcomingRun
  readonly winner: Winner | null
}

/** The plan that the engine has made already, unless it will ask again before it carries it out. */
function madePlan({ nextRunAt, nextDueAt, nextDecision, wakeAt }: ScheduleView, now: number): Answer | null {
  if (nextRunAt === null || nextDueAt === null || nextDecision === null) return null
  if (nextRunAt > now && wakeAt !== null && wakeAt < nextDueAt) return null
  const { source, winner } = nextDecision
  return { run: { at: nextRunAt, dueAt: nextDueAt, source: source as Source, isEstimate: false }, winner }
}

/** The governor's answer once nothing that time alone changes comes before it: a hint may expire while one waits. */
function asked(view: ScheduleView, ahead: Ahead): Answer | null {
  const schedule = governed(view.spec)
  for (let { now } = ahead; ; ) {
    const next = nextRun({ now, schedule, state: ahead.state })
    const run = next.at === null ? null : runOf(view, ahead, next, next.at)
    if (next.askAgainAt === null) return run === null ? null : { run, winner: next.winner }
    if (run !== null && run.dueAt <= next.askAgainAt) return { run, winner: next.winner }
    now = next.askAgainAt
  }
}

function runOf(view: ScheduleView, ahead: Ahead, { source, winner, waitsForEnd }: NextRun, at: number): UpcomingRun {
  const isMeasured = waitsForEnd || source === 'clamped-max' || (source === 'clamped-min' && winner !== 'baseline')
  const due = winner === 'baseline' ? spreadDueAt(view, ahead.state, at) : at
  return { at, dueAt: due, source, isEstimate: ahead.isGuess && isMeasured }
}

/** When an occurrence of the schedule's own timing is due: nominal and spread. */
export function spreadDueAt(
  { id, spec, createdAt, anchorAt }: Pick<ScheduleView, 'id' | 'spec' | 'createdAt' | 'anchorAt'>,
  state: GovernorState,
  at: number,
): number {
  const { timing, spread: config } = spec
  if (config === undefined) return at
  if (timing.at !== undefined) return dueAt({ id, kind: 'one-shot', plannedAt: at, config, createdAt: anchorAt })
  const nextAt = gridFor({ now: at, schedule: governed(spec), state })?.atOrAfter(at + 1) ?? null
  const intervalMs = timing.everyMs ?? (nextAt === null ? 0 : nextAt - at)
  return dueAt({ id, kind: 'recurring', plannedAt: at, intervalMs, config, createdAt })
}

/** What only hints or bounds asked for is no time of the calendar, so no change of the clocks moved it. */
function byItsClocks({ timing }: ScheduleSpec, { run, winner }: Answer, previousAt?: number): UpcomingRun {
  if (timing.cron === undefined) return run
  const { zone } = timing
  if (winner !== 'baseline' || run.source === 'clamped-max') return { ...run, zone }
  const calendar = cron(timing.cron, zone)
  const dst = calendar.clockMark(run.at, previousAt ?? calendar.previous(run.at))
  return dst === null ? { ...run, zone } : { ...run, zone, dst }
}

/** The memory after an occurrence that ended well, in no time. */
function after({ run, winner }: Answer, { state }: Ahead): Ahead {
  const hints = winner === 'oneshot-hint' ? { ...state.hints, oneshot: undefined } : state.hints
  const runsCount = (state.runsCount ?? 0) + 1
  const next = { ...state, hints, runsCount, failureCount: 0, lastPlannedAt: run.at, anchorAt: run.dueAt }
  return { now: run.dueAt, state: next, isGuess: true }
}
