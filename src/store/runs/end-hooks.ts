import type { RateLimited } from '../../core/run/expect.ts'
import type { LastEffect } from '../../core/run/last-effect.ts'
import type { Usage } from '../../core/run/usage.ts'
import type { Utilisation } from '../../core/run/utilisation.ts'
import type { Outcome, Verdict } from '../../core/run/verdict.ts'
import type { AttemptEnd } from '../port.ts'
import { lockSchedules, type ScheduleRow } from '../schedules/schedule-row.ts'
import type { Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/**
 * The end of an attempt, or of a run that ended without one. It has the facts that the ending step knows already; a hook that
 * needs more reads the run by its id.
 */
export interface RunEnd {
  readonly runId: number
  /** Reclaim and prune work on every namespace of the store, so this may differ from the context's. */
  readonly ns: number
  readonly scheduleId: number | null
  /** The fence of the attempt; 0 for an end without a lease. */
  readonly fence: number
  readonly outcome: Outcome['kind']
  readonly status: Verdict['status']
  /** Whether the run has ended or is parked; `false` when another attempt follows. */
  readonly isOver: boolean
  readonly reason: string
  /** The result from the worker, before it is shortened. */
  readonly result?: unknown
  /** What the attempt used, where it was reported. */
  readonly usage?: Usage | undefined
  /** How much of its account's limits is used, where it was reported. */
  readonly utilisation?: readonly Utilisation[] | undefined
  /** The provider's limit refused the attempt. */
  readonly rateLimited?: RateLimited | undefined
  /** Facts that the worker gathered for parts before it wrote the end, by the name of the part. */
  readonly learned?: AttemptEnd['learned']
  /**
   * A part has reserved something for this attempt. Never set for a lost attempt, even if a part has
   * reserved something.
   */
  readonly isWatched?: boolean | undefined
  /** The last effect of the attempt, which its part recognises. */
  readonly effect?: LastEffect | undefined
  /** When the attempt was leased. */
  readonly startedAt?: number | null | undefined
}

export interface Ends<Schedule> {
  readonly now: number
  readonly ends: readonly RunEnd[]
  /** The schedules of these ends, by id, locked by the step. */
  readonly schedules: ReadonlyMap<number, Schedule>
}

/** A schedule before its runs ended, and the effect of these ends. */
export interface MovedSchedule {
  readonly before: ScheduleRow
  /** The failures in a row after each run whose end counts, in the order of the ends. */
  readonly failures: ReadonlyMap<number, number>
}

/**
 * Called in the transaction that ends runs, once per ended attempt and per run that ends without one. It must not fail: a run
 * whose end cannot be written keeps its lease.
 */
export interface EndHook<Schedule, Answer> {
  (context: StoreContext, ends: Ends<Schedule>): Step<Answer>
  /**
   * A plain end is the success of a run without a schedule, a key, a cancel request, a usage report, or a part that watches it. Set this for a hook that does nothing at
   * plain ends: if all hooks set it, one statement that is its own transaction writes plain ends.
   */
  readonly skipsPlain?: true
}

export interface EndHooks {
  /** Before schedules move. Returns the ids of the schedules that it wrote, which are then read again. */
  readonly ending?: EndHook<ScheduleRow, readonly number[]>
  /** After schedules moved. */
  readonly ended?: EndHook<MovedSchedule, void>
}

/** Whether some part has a hook for plain ends. */
export function seesPlainEnds({ parts }: StoreContext): boolean {
  return parts.some(({ ending, ended }) =>
    [ending, ended].some((hook) => hook !== undefined && hook.skipsPlain !== true),
  )
}

/** Calls the hooks before schedules move. Returns the current schedules. */
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

/** Calls the hooks after schedules moved. */
export function* callEnded(context: StoreContext, ends: Ends<MovedSchedule>): Step<void> {
  for (const { ended } of context.parts) if (ended !== undefined) yield* ended(context, ends)
}
