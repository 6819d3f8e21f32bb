import type { EndedStatus } from '../core/run/run-state.ts'
import type { RunSource } from './port.ts'

/**
 * Where a reader of events stands: behind this one. Events are in the order of their instants; those of one instant in the order of
 * what they are, and then of their numbers.
 */
export interface EventCursor {
  readonly at: number
  readonly rank: number
  readonly number: number
  readonly fence: number
}

/** Which of two places comes first: negative where the first does. */
export function compareCursors(a: EventCursor, b: EventCursor): number {
  return a.at - b.at || a.rank - b.rank || a.number - b.number || a.fence - b.fence
}

/** Something that has happened. Its id is the same whenever it is read. */
export interface EventView {
  readonly place: EventCursor
  readonly id: string
  readonly happened: Happened
}

export type Happened =
  | ({ readonly kind: `run.${EndedStatus}` } & AttemptFacts)
  /** An attempt has ended, and the run has not. */
  | ({ readonly kind: 'run.attempt-ended' } & AttemptFacts)
  | {
      readonly kind: 'schedule.fired'
      readonly runId: string
      readonly queue: string
      readonly schedule: string
      readonly occurrenceAt: number | null
      readonly source: RunSource
    }
  | {
      readonly kind: 'changed'
      readonly actor: string
      readonly door: string
      readonly verb: string
      readonly subject: string
      readonly detail: unknown
    }

interface AttemptFacts {
  readonly runId: string
  /** The number of the attempt; 0 where it ended without one. */
  readonly fence: number
  readonly queue: string
  readonly schedule: string | null
  readonly outcome: string
  readonly reason: string | null
  readonly startedAt: number | null
}

export interface EventPage {
  readonly events: readonly EventView[]
  /** Everything up to here has been told; the next look begins behind it. */
  readonly place: EventCursor
  /** There may be more to be had at once. */
  readonly more: boolean
}
