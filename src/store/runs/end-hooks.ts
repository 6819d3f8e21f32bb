import type { Outcome, Verdict } from '../../core/run/verdict.ts'
import { lockSchedules, type ScheduleRow } from '../schedules/schedule-row.ts'
import type { Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/**
 * The end of an attempt, or of a run that ended without one. It says what the step that ended it knows anyhow; a hook that needs more of a
 * run reads it by its id.
 */
export interface RunEnd {
  readonly runId: number
  /** A step reclaims and prunes for every namespace of the store, so that this may be another one than the context's. */
  readonly ns: number
  readonly scheduleId: number | null
  /** The fence of the attempt; 0 when no lease made this end. */
  readonly fence: number
  readonly outcome: Outcome['kind']
  readonly status: Verdict['status']
  /** Whether the run has ended or is parked; `false` when another attempt follows. */
  readonly isOver: boolean
  readonly reason: string
  /** What the holder gave as the result, before it is shortened to be kept. */
  readonly result?: unknown
}

/** What ended in one step. */
export interface Ends<Schedule> {
  readonly now: number
  readonly ends: readonly RunEnd[]
  /** The schedules of these ends, by id. The step has locked them. */
  readonly schedules: ReadonlyMap<number, Schedule>
}

/** A schedule as it was before its runs ended, and what they did to it. */
export interface MovedSchedule {
  readonly before: ScheduleRow
  /** How many occurrences had failed in a row after each run whose end counts for it, in the order in which they ended. */
  readonly failures: ReadonlyMap<number, number>
}

/**
 * Called in the transaction that ends runs, once for every attempt that ends and for every run that ends without one. It must not fail: a run
 * whose end cannot be written keeps its lease.
 */
export interface EndHook<Schedule, Answer> {
  (context: StoreContext, ends: Ends<Schedule>): Step<Answer>
  /**
   * A plain end is the success of a run without a schedule, a key or a request to cancel it. A hook that does nothing at such an end says so:
   * while every hook does, plain ends are written by one statement that is a transaction of its own.
   */
  readonly skipsPlain?: true
}

export interface EndHooks {
  /** Before schedules move; answers the ids of the schedules that it wrote, which are then read again. */
  readonly ending?: EndHook<ScheduleRow, readonly number[]>
  /** After schedules moved. */
  readonly ended?: EndHook<MovedSchedule, void>
}

/** Whether some part does something at plain ends. */
export function seesPlainEnds({ parts }: StoreContext): boolean {
  return parts.some(({ ending, ended }) =>
    [ending, ended].some((hook) => hook !== undefined && hook.skipsPlain !== true),
  )
}

/** Calls the hooks that come before schedules move; answers the schedules as they are then. */
export function* callEnding(
  context: StoreContext,
  { now, ends, schedules }: Ends<ScheduleRow>,
): Step<ReadonlyMap<number, ScheduleRow>> {
  let rows = schedules
  for (const { ending } of context.parts) {
    if (ending === undefined) continue
    const written = yield* ending(context, { now, ends, schedules: rows })
    if (written.length > 0) rows = new Map([...rows, ...(yield* lockSchedules(written, { wait: true }))])
  }
  return rows
}

/** Calls the hooks that come after schedules moved. */
export function* callEnded(context: StoreContext, ends: Ends<MovedSchedule>): Step<void> {
  for (const { ended } of context.parts) if (ended !== undefined) yield* ended(context, ends)
}
