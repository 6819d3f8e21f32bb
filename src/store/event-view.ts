import type { CallerKind } from '../core/caller.ts'
import type { EndedStatus } from '../core/run/run-state.ts'
import type { RunSource } from './port.ts'

/** A position in the event stream: everything up to it was read. Events are ordered by instant, then by kind, then by number. */
export interface EventCursor {
  readonly at: number
  readonly rank: number
  readonly number: number
  readonly fence: number
}

/** Negative where the first cursor comes first. */
export function compareCursors(a: EventCursor, b: EventCursor): number {
  return a.at - b.at || a.rank - b.rank || a.number - b.number || a.fence - b.fence
}

/** The id is the same at every read. */
export interface EventView {
  readonly place: EventCursor
  readonly id: string
  readonly happened: Happened
}

export type Happened =
  | ({ readonly kind: `run.${EndedStatus}` } & AttemptFacts)
  /** An attempt ended, but its run did not. */
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
      /** `changed`, or the event of a part that is recorded as a change. */
      readonly kind: 'changed' | `${string}.made`
      readonly actor: string
      readonly door: string
      readonly caller: CallerKind
      readonly verb: string
      readonly subject: string
      readonly detail: unknown
    }

interface AttemptFacts {
  readonly runId: string
  /** The fence of the attempt; 0 where the run ended without one. */
  readonly fence: number
  readonly queue: string
  readonly schedule: string | null
  /** Why the run exists; null where it was removed. */
  readonly source: RunSource | null
  readonly outcome: string
  readonly reason: string | null
  readonly startedAt: number | null
}

export interface EventPage {
  readonly events: readonly EventView[]
  /** Everything up to here was returned; the next read starts after it. */
  readonly place: EventCursor
  /** Another read may return more at once. */
  readonly more: boolean
}
