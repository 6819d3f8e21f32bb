import type { AttemptView, LedgerView } from '../../src/store/views.ts'
import type { Witnessed } from './witness.ts'

/** All that is known of one round when it is over, from both sides: what the store says, and what was seen outside it. */
export interface History {
  readonly runs: readonly RecordedRun[]
  readonly schedules: readonly RecordedSchedule[]
  readonly ceilings: readonly Ceiling[]
  readonly witnessed: Witnessed
  readonly samples: readonly Sample[]
  /** The account that some runs name: how many may use it, the most that did whenever it was looked at, and how many still do. */
  readonly account: { readonly most: number; readonly sampled: number; readonly left: number }
  /** The budget of some runs: the most by which it was passed, what is still reserved of it, and by how many attempts. */
  readonly budget: { readonly over: number; readonly left: number; readonly attempts: number }
  /** How long every lease lasted at the least. */
  readonly leaseMs: number
  readonly interruptions: readonly Interruption[]
  readonly closures: readonly Closure[]
  /** What the harness itself saw go wrong: a worker that ended by itself, a store that did not come to rest. */
  readonly troubles: readonly string[]
}

/** What the store has written down of a run. */
export interface RecordedRun {
  readonly id: string
  readonly queue: string
  readonly schedule: string | null
  readonly occurrenceAt: number | null
  readonly repeatable: boolean
  readonly concurrencyKey: string | null
  readonly idempotencyKey: string | null
  readonly status: string
  /** Of its last lease. */
  readonly fence: number
  readonly leasedAt: number | null
  /** The account that it names. */
  readonly account?: string | undefined
  readonly attempts: readonly AttemptView[]
}

export interface RecordedSchedule {
  readonly name: string
  readonly promise: SchedulePromise
  readonly ledger: readonly LedgerView[]
}

/** What must have come of a schedule between two instants. */
export type SchedulePromise =
  /** Every nominal instant has a run of its own. */
  | { readonly kind: 'every-instant'; readonly targets: readonly number[] }
  /** Every nominal instant has a run, or a reason why it has none. */
  | { readonly kind: 'every-instant-told'; readonly targets: readonly number[] }
  /** Each run is planned this long after the end of the one before, until the last instant. */
  | { readonly kind: 'delay'; readonly everyMs: number; readonly endAt: number }

export interface Ceiling {
  readonly queue: string
  readonly most: number
  readonly mostPerKey: number | null
}

/** How many leases the store had of a queue, or of one key in it, at one instant. */
export interface Sample {
  readonly queue: string
  /** `null` is the whole queue. */
  readonly key: string | null
  readonly inFlight: number
  readonly at: number
}

/** A moment from which the runs that somebody held had to come back. */
export interface Interruption {
  readonly kind: 'kill' | 'farewell' | 'pause' | 'outage'
  /** When they could come back at the earliest: when somebody was told to go or to stop, or when the store was back. */
  readonly at: number
  /** Whom it struck; nobody in particular when the store itself was away. */
  readonly workerId: string | null
  readonly held: readonly HeldThen[]
}

/** A time in which a process that was stopped inside a write kept everybody else from writing: SQLite has one writer. */
export interface Closure {
  readonly from: number
  readonly to: number
}

/** A lease as the store had it right after the interruption, or right before it where the store itself was struck. */
export interface HeldThen {
  readonly runId: string
  readonly fence: number
  readonly expiresAt: number
}
