import type { RunStatus } from '../run/run-state.ts'
import { afterEnds } from './after-ends.ts'
import { afterFire } from './after-fire.ts'
import type { NextDecision } from './decision.ts'
import { planned } from './next-plan.ts'
import { standsBehind } from './overlap.ts'
import type { LiveScheduleRun, ScheduleState } from './state.ts'
import { type Fire, takeTurn } from './turn.ts'

/** An occurrence that becomes a run which starts. */
export interface Foreseen {
  readonly at: number
  readonly dueAt: number
  readonly decision: NextDecision
  /** It counts from an instant that is not known yet: an end, or the look that leaves out what is overdue. */
  readonly isEstimate: boolean
}

export interface ForeseeInput {
  readonly now: number
  readonly schedule: ScheduleState
  /** Its live runs while it is paused; else the state of the schedule names the run it waits for. */
  readonly live?: readonly PausedRun[] | undefined
}

/** What is asked of a run that is live while its schedule is paused: held until the pause ends, or still at work. */
export interface PausedRun {
  readonly status: RunStatus
  readonly occurrenceAt: number | null
  readonly notBefore: number | null
}

/** A run that would have been made, with the instant at which it starts and, for it takes no time, ends. */
interface RunAhead extends LiveScheduleRun {
  readonly endsAt: number
  readonly starts: boolean
}

/** A schedule as it would stand at an instant to come. */
interface Ahead {
  readonly now: number
  readonly row: ScheduleState
  readonly live: readonly RunAhead[]
  readonly runsMade: number
  readonly isGuess: boolean
}

/** Between two runs a schedule is looked at a few times, and while a catch-up lasts some hundred times. */
const quietLooksMax = 10_000

/**
 * The runs of a schedule that are to come, as many as are asked for: what the engine does is done to a copy, from one
 * instant at which it would look to the next, by the very functions by which `fire` and the ends of runs change the row.
 * A second idea of what a pause lets pass or what counts as missed would be wrong wherever it differs.
 *
 * A worker looks as soon as there is something to look at, runs take no time and succeed, and no person intervenes.
 */
export function* foresee(input: ForeseeInput): Generator<Foreseen, void> {
  const { disabledAt, deletedAt } = input.schedule
  if (disabledAt !== null || deletedAt !== null) return
  let ahead = beginning(input)
  for (let looks = 0; looks < quietLooksMax; looks++) {
    const ending = nextEnding(ahead)
    const { wakeAt } = ahead.row
    if (ending === undefined && wakeAt === null) return
    // What is due comes before an end of the same instant: a run takes a moment, and the next look does not wait for it.
    if (ending !== undefined && (wakeAt === null || ending.endsAt < wakeAt)) {
      ahead = afterEnd(ahead, ending)
    } else {
      const { foreseen, ...after } = afterLook(ahead, Math.max(ahead.now, wakeAt ?? ahead.now))
      yield* foreseen
      if (foreseen.length > 0) looks = 0
      ahead = after
    }
  }
}

/**
 * A run that is leased ends now, at the earliest: a plan made while it was live could not measure from its end. A
 * chain that is broken is asked about now, as the repair pass will.
 */
function beginning({ now, schedule: row, live = [] }: ForeseeInput): Ahead {
  const { nextDecision, wakeAt, lastPlannedAt } = row
  const held = heldRuns(row, now, live)
  const start = { now, live: held, runsMade: held.length }
  const isLastAtWork = live.some(({ status, occurrenceAt }) => status === 'leased' && occurrenceAt === lastPlannedAt)
  if (nextDecision?.unmeasured !== undefined || isLastAtWork) {
    const ended = { ...row, failureCount: 0, anchorAt: now }
    return { ...start, row: planned(ended, { now, lastRunId: null }), isGuess: true }
  }
  const isBroken = wakeAt === null && nextDecision?.source !== 'none'
  return { ...start, row: isBroken ? planned(row, { now, lastRunId: null }) : row, isGuess: false }
}

/** Held runs go when the pause ends. */
function heldRuns({ pausedUntil }: ScheduleState, now: number, live: readonly PausedRun[]): RunAhead[] {
  const held = live.filter(({ status, occurrenceAt }) => status === 'held' && occurrenceAt !== null)
  return held.map(({ occurrenceAt, notBefore }, index) => {
    const endsAt = Math.max(now, pausedUntil ?? now, notBefore ?? now)
    const made = { dueAt: occurrenceAt, enqueuedAt: occurrenceAt ?? now }
    return { runId: index + 1, occurrenceAt, ...made, isLeased: false, endsAt, starts: true }
  })
}

/** The run that ends first. While the schedule is paused none does: what is held goes once the look has ended the pause. */
function nextEnding({ row, live }: Ahead): RunAhead | undefined {
  if (row.pausedUntil !== null) return undefined
  return live.toSorted((a, b) => a.endsAt - b.endsAt || a.runId - b.runId)[0]
}

function afterLook(ahead: Ahead, now: number): Ahead & { readonly foreseen: Foreseen[] } {
  const { row, live, runsMade, isGuess } = ahead
  const turn = takeTurn(row, now, leasedBy(ahead, now))
  const all = [...live]
  for (const fire of turn.fires)
    all.push(runOf(row, fire, { now, runId: runsMade + all.length - live.length + 1, all }))
  const made = all.slice(live.length)
  const rows = made.map(({ runId: id, occurrenceAt }) => ({ id, occurrenceAt }))
  const after = afterFire(turn, now, rows)
  const foreseen = turn.fires.flatMap(({ plannedAt: at, dueAt, decision }, index) => {
    return made[index]?.starts ? [{ at, dueAt, decision, isEstimate: isGuess && isMeasured(decision) }] : []
  })
  // What is left out counts as ended at the look.
  const isGuessed = isGuess || turn.skips.length > 0
  return { now, row: after, live: all, runsMade: runsMade + made.length, isGuess: isGuessed, foreseen }
}

/** By the next look a run that could start has been leased, unless it is held or stands behind another. */
function leasedBy({ row, live }: Ahead, now: number): LiveScheduleRun[] {
  const isAlone = (index: number) => index === 0 || !standsBehind(row.spec)
  return live.map((run, index) => ({
    ...run,
    isLeased: row.pausedUntil === null && run.endsAt <= now && isAlone(index),
  }))
}

/** A run waits for its share of a catch-up, and behind the one before it; by then it may be too late. */
function runOf({ spec }: ScheduleState, fire: Fire, { now, runId, all }: RunAmong): RunAhead {
  const before = standsBehind(spec) ? all.at(-1) : undefined
  const endsAt = Math.max(now, fire.notBefore ?? now, before?.endsAt ?? now)
  const starts = endsAt <= fire.lateAfter
  const made = { occurrenceAt: fire.plannedAt, dueAt: fire.dueAt, enqueuedAt: now }
  return { runId, ...made, isLeased: false, endsAt, starts }
}

interface RunAmong {
  readonly now: number
  readonly runId: number
  readonly all: readonly RunAhead[]
}

function afterEnd(ahead: Ahead, { runId, endsAt, starts }: RunAhead): Ahead {
  const live = ahead.live.filter((run) => run.runId !== runId)
  const end = { runId, status: starts ? 'completed' : 'skipped' } as const
  const row = afterEnds(ahead.row, endsAt, { ends: [end], counted: new Set([runId]), live })
  return { ...ahead, now: endsAt, row, live, isGuess: true }
}

/** Whether it counts from an end. `min` of a calendar counts from the instant planned before. */
function isMeasured({ source, winner, waitsForEnd }: NextDecision): boolean {
  return waitsForEnd || source === 'clamped-max' || (source === 'clamped-min' && winner !== 'baseline')
}
