import type { RunStatus } from '../run/run-state.ts'
import { afterEnds } from './after-ends.ts'
import { afterFire } from './after-fire.ts'
import type { NextDecision } from './decision.ts'
import { planned } from './next-plan.ts'
import { standsBehind } from './overlap.ts'
import type { LiveScheduleRun, ScheduleState } from './state.ts'
import { type Fire, takeTurn } from './turn.ts'

/** An occurrence whose run starts. */
export interface Foreseen {
  readonly at: number
  readonly dueAt: number
  readonly decision: NextDecision
  /**
   * The instant is an estimate: it counts from an end that has not happened, or from the firing that skips what
   * is overdue.
   */
  readonly isEstimate: boolean
}

export interface ForeseeInput {
  readonly now: number
  readonly schedule: ScheduleState
  /** Its live runs while it is paused; else the state of the schedule names the run it waits for. */
  readonly live?: readonly PausedRun[] | undefined
}

/** A live run of a paused schedule: held until the pause ends, or still executing. */
export interface PausedRun {
  readonly status: RunStatus
  readonly occurrenceAt: number | null
  readonly notBefore: number | null
}

/** A run that would be made, with the instant at which it starts and, since it takes no time here, ends. */
interface RunAhead extends LiveScheduleRun {
  readonly endsAt: number
  readonly starts: boolean
}

/** A schedule at a future instant. */
interface Ahead {
  readonly now: number
  readonly row: ScheduleState
  readonly live: readonly RunAhead[]
  readonly runsMade: number
  readonly isGuess: boolean
}

/** The bound on firings between two runs: usually there are a few, and during a catch-up some hundred. */
const quietLooksMax = 10_000

/**
 * The next runs of a schedule, as many as requested. It simulates the engine on a copy, from one wake-up to the next, with the
 * very functions by which `fireDue` and the ends of runs change the row. A second implementation of pauses or missed occurrences
 * would be wrong wherever it differs.
 *
 * It assumes that a worker fires at once, runs take no time and succeed, and no person intervenes.
 */
export function* foresee(input: ForeseeInput): Generator<Foreseen, void> {
  const { disabledAt, deletedAt } = input.schedule
  if (disabledAt !== null || deletedAt !== null) return
  let ahead = beginning(input)
  for (let looks = 0; looks < quietLooksMax; looks++) {
    const ending = nextEnding(ahead)
    const { wakeAt } = ahead.row
    if (ending === undefined && wakeAt === null) return
    // A due occurrence comes before an end of the same instant: a run takes a moment, and the next firing does not wait for it.
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
 * A leased run ends now, at the earliest: a plan made while it was live could not measure from its end. A broken chain is planned
 * now, as the repair pass will do.
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

/** Held runs start when the pause ends. */
function heldRuns({ pausedUntil }: ScheduleState, now: number, live: readonly PausedRun[]): RunAhead[] {
  const held = live.filter(({ status, occurrenceAt }) => status === 'held' && occurrenceAt !== null)
  return held.map(({ occurrenceAt, notBefore }, index) => {
    const endsAt = Math.max(now, pausedUntil ?? now, notBefore ?? now)
    const made = { dueAt: occurrenceAt, enqueuedAt: occurrenceAt ?? now }
    return { runId: index + 1, occurrenceAt, ...made, isLeased: false, endsAt, starts: true }
  })
}

/** The run that ends first. Null while the schedule is paused: held runs start once the pause has ended. */
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
  // Occurrences that are skipped count as ended at the firing.
  const isGuessed = isGuess || turn.skips.length > 0
  return { now, row: after, live: all, runsMade: runsMade + made.length, isGuess: isGuessed, foreseen }
}

/** The runs that are leased by the next firing: all that could start, and are neither held nor behind another. */
function leasedBy({ row, live }: Ahead, now: number): LiveScheduleRun[] {
  const isAlone = (index: number) => index === 0 || !standsBehind(row.spec)
  return live.map((run, index) => ({
    ...run,
    isLeased: row.pausedUntil === null && run.endsAt <= now && isAlone(index),
  }))
}

/** A run waits for its catch-up spread and for the run before it; it may be too late by then. */
function runOf({ spec }: ScheduleState, fire: Fire, { now, runId, all }: RunAmong): RunAhead {
  const before = standsBehind(spec) ? all.at(-1) : undefined
  const endsAt = Math.max(now, fire.notBefore ?? now, before?.endsAt ?? now)
  const starts = fire.isAsked !== true && endsAt <= (fire.lateAfter ?? endsAt)
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
