import type { Capabilities } from '../core/queue/plan-leases.ts'
import type { Policy, Retention } from '../core/queue/policy.ts'
import type { RunStatus } from '../core/run/run-state.ts'
import type { Outcome } from '../core/run/verdict.ts'
import type { Source } from '../core/schedule/governor.ts'
import type { Actor, AuditEntry } from './audit/actor.ts'
import type { StoreCondition } from './health-views.ts'
import type { Wake } from './news.ts'
import type { Pruned, PruneRequest } from './prune/pruning.ts'
import type { Fired } from './schedules/schedule-steps.ts'
import type { Read, Verb } from './verb.ts'
import type { QueueView } from './views.ts'

export type { Actor, AuditEntry } from './audit/actor.ts'
export type { Wake } from './news.ts'
export type { Pruned, PruneRequest } from './prune/pruning.ts'
export type { DeleteQueueAnswer, QueueUse } from './queues/delete-queue.ts'
export type {
  Fired,
  HintAnswer,
  NewHint,
  PutAnswer,
  PutOptions,
  Repaired,
  RunNowAnswer,
} from './schedules/schedule-steps.ts'

export interface BeatOptions {
  /** They have ended as they should. */
  readonly stopped?: boolean
  /** Their processes are gone, and they have not said goodbye: they count as gone like those that stopped. */
  readonly died?: boolean
  readonly can?: Capabilities
}

/**
 * The store: everything Belfry remembers, in whole steps. Each method is one transaction that has happened entirely or
 * not at all when it answers. A write that can lose a race answers what happened; it throws only when it was asked for
 * something wrong, or when the database did not answer.
 *
 * Instants are epoch ms by the store's own clock, which is read inside the transaction. Ids are text (`core/id.ts`).
 */
export interface Store {
  /** Names the store for people. */
  readonly place: string
  readonly namespace: string
  /** Whether steps happen in the order in which they are asked for, also by a caller that does not wait for an answer in between. */
  readonly keepsOrder: boolean

  /** Does one verb: `store.do(cancelRun, id, reason)`. */
  do<Args extends unknown[], Result>(verb: Verb<Args, Result>, ...args: Args): Promise<Result>
  /** Reads one snapshot: `store.look(findRun, id)`. */
  look<Args extends unknown[], Result>(read: Read<Args, Result>, ...args: Args): Promise<Result>

  /** Takes work in. Each run has its own answer, in the order given; a conflict leaves the others as they are. */
  enqueue(runs: readonly NewRun[], options?: EnqueueOptions): Promise<Enqueued[]>
  /** Hands out runs of one queue, never past its ceiling. Two callers never receive the same run. */
  lease(request: LeaseRequest): Promise<LeaseAnswer>
  /** Makes leases last, each for its own length from now; where one has none, for `leaseMs`. */
  renew(leases: readonly RenewedLease[], leaseMs?: number): Promise<Renewal[]>
  /** Ends attempts. Each has its own answer; a row that cannot be written stands alone. */
  settle(ends: readonly AttemptEnd[]): Promise<Settled[]>
  /** Takes back leases that have expired, and those of workers proven dead; rows that another step has locked stay for later. */
  reclaim(request: ReclaimRequest): Promise<Reclaimed[]>
  appendOutput(lease: LeaseName, chunk: string): Promise<'written' | 'lease-lost'>
  /** Makes runs of the occurrences that are due, and asks the governor for what follows. */
  fireDue(request: { limit: number }): Promise<Fired>
  /** Says that workers are alive, or have stopped, or what they can do by now. Answers those the store does not know. */
  beat(workerIds: readonly string[], options?: BeatOptions): Promise<{ unknown: string[] }>
  /** Removes what retention no longer keeps, in one small step. Its answer says where the next step goes on. */
  prune(request: PruneRequest): Promise<Pruned>

  /**
   * Calls back when something may start sooner than a sleeper knows: after own writes at once, after another process's
   * soon. A wake-up may be lost, doubled or for nothing; the listener looks for itself. The answer ends it.
   * `coming` is called while a lone run is on its way into a queue: a `lease` that is asked for before the turn of the
   * event loop ends may be done in the same transaction.
   */
  listen(heard: (wake: Wake) => void, coming?: (queue: string) => void): () => void
  /** Whether the wake-ups of other processes are known to arrive. Where they are not, look every second. Listeners are called when that changes. */
  hears(): boolean
  /** Tells other processes that there may be room in a queue that was full. */
  wakeOthers(): void
  /** The same store, on which each change is written down with its author, in the same transaction. */
  audited(entry: AuditEntry): Store
  /** The same store, on which steps that can be rehearsed answer as ever and leave nothing; others are refused. */
  rehearsal(): Store
  condition(): Promise<StoreCondition>
  /** Reads the whole database beside the event loop; answers what is damaged, or `null` where nothing is known to be. */
  damage(): Promise<string | null>
  close(): Promise<void>
}

export interface NextInstants {
  readonly now: number
  readonly scheduleAt: number | null
  readonly leaseExpiresAt: number | null
  /** When a hold begins or ends. */
  readonly holdAt: number | null
}

export interface WorkAhead {
  readonly now: number
  /** The queues that are not held and have a run in line that was asked for, or any run whose waiting is over. */
  readonly queues: readonly string[]
  /** The first instant after `now` at which the waiting of a run is over, in a queue that is not held. */
  readonly nextAt: number | null
  /** The first instant after `now` at which a hold ends, where one does. */
  readonly holdEndsAt?: number
}

export interface NewRun {
  readonly queue?: string
  readonly target?: Readonly<Record<string, unknown>> | null
  readonly payload?: unknown
  readonly priority?: number
  readonly notBefore?: number
  readonly deadline?: number
  readonly concurrencyKey?: string
  readonly idempotencyKey?: string
  readonly dedupeKey?: string
  readonly repeatable?: boolean
  readonly onExhausted?: 'park' | 'fail'
  /** Whatever the executor needs besides: timeout, expectation, tags, trace. Kept as given. */
  readonly options?: Readonly<Record<string, unknown>>
}

export interface EnqueueOptions {
  /** Takes part in the caller's own transaction: a `pg` client, or a SQLite handle. */
  readonly transaction?: unknown
}

export type Enqueued =
  | { readonly created: true; readonly id: string; readonly queueCreated?: true }
  /** The same key came with the same input before, or the dedupe key is taken by a live run. */
  | { readonly created: false; readonly id: string; readonly because: 'idempotency-key' | 'dedupe-key' }
  | { readonly created: false; readonly id: string; readonly because: 'conflict'; readonly key: string }

export interface LeaseRequest {
  readonly queue: string
  readonly workerId: string
  /** 128 random bits of the caller's, never used again. */
  readonly claimId: string
  readonly can: Capabilities
  readonly limit: number
  /** How long the lease lasts; absent: the queue's `leaseTtlMs`. */
  readonly leaseMs?: number
}

/** A lease, and how long it is to last from now on. */
export interface RenewedLease extends LeaseName {
  readonly leaseMs?: number
}

export interface LeaseAnswer {
  readonly leases: Lease[]
  /** Runs that ended instead of being leased, because they came too late. */
  readonly skipped: {
    readonly runId: string
    readonly scheduleId: string | null
    readonly reason: 'lateness' | 'deadline'
  }[]
  /** Runs that were parked instead of being leased, because what is stored of them cannot be read. */
  readonly broken: (LeaseName & { readonly scheduleId: string | null; readonly reason: string })[]
  readonly inFlight: number
  readonly available: number
  /** With these leases the queue is at its ceiling: no worker gets another before one of its runs has ended. */
  readonly full: boolean
  /** The queue's rate is used up: no worker gets another before so much time has passed. */
  readonly restMs?: number
  /** There may be more that can go now: ask again without waiting. */
  readonly more: boolean
  /** A run of it that ends may let another of its key go, though the queue was not full. */
  readonly keyed: boolean
  /** Why nothing can go, whatever is waiting. */
  readonly stopped?: 'held-by' | 'no-queue' | 'policy-unreadable'
  /** The hold that keeps it, where one does. */
  readonly hold?: string
}

/** A lease is named by its run and fence; the fence of a run grows with every lease and is never used again. */
export interface LeaseName {
  readonly runId: string
  readonly fence: number
}

export interface Lease extends LeaseName {
  readonly queue: string
  readonly claimId: string
  readonly leasedAt: number
  readonly expiresAt: number
  readonly scheduleId: string | null
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly enqueuedAt: number
  readonly source: RunSource
  readonly attempts: number
  readonly idempotencyKey: string | null
  readonly target: Readonly<Record<string, unknown>> | null
  readonly payload: unknown
  readonly options: Readonly<Record<string, unknown>>
  readonly repeatable: boolean
}

export interface HeldLease extends LeaseName {
  readonly workerId: string
  readonly claimId: string
  readonly leasedAt: number
}

export type RunSource = KernelSource | (string & {})

/** Where a run may come from without any part. */
export type KernelSource = Source | 'enqueued' | 'run-now' | 'retry'

export type Renewal =
  | (LeaseName & { readonly renewed: true; readonly expiresAt: number; readonly cancelRequestedAt: number | null })
  | (LeaseName & { readonly renewed: false })

export interface AttemptEnd extends LeaseName {
  readonly outcome: Outcome
  readonly result?: unknown
  /** The lease's schedule, if it has one; it must be locked before the run. */
  readonly scheduleId?: string | null
}

export type Settled = LeaseName &
  (
    | {
        readonly answer: 'written'
        readonly status: RunStatus
        readonly nextEligibleAt?: number
        readonly reason: string
      }
    /** This holder has ended this attempt before; an earlier commit that seemed to fail had succeeded. */
    | { readonly answer: 'already-written' }
    /** `gone`: the run has ended and was removed since, and it is no longer known who ended it. */
    | { readonly answer: 'lease-lost' | 'gone' }
    | { readonly answer: 'refused'; readonly error: Error }
  )

export interface ReclaimRequest {
  readonly deadWorkers?: readonly string[]
  /** Whether leases that have expired are taken too, of every holder; yes unless it says no. A list names the only ones. */
  readonly expired?: boolean | readonly string[]
  /** Only those of this queue, of the expired. */
  readonly queue?: string
  /** Of the expired, and of the dead's, at most so many each. */
  readonly limit: number
}

export interface Reclaimed extends LeaseName {
  readonly status: RunStatus
  readonly reason: string
  readonly because: 'expired' | 'holder-dead'
  /** When it goes again; only of a run that does. */
  readonly nextEligibleAt?: number | undefined
}

export type CancelAnswer = 'cancelled' | 'cancel-requested' | 'already-requested' | 'already-ended' | 'not-found'

/** How work that must not be repeated was done already; `late-cancel` is a success after a cancel was requested. */
export type DoneWork = 'completed' | 'late-cancel'

export type RetryAnswer =
  | { readonly answer: 'created'; readonly id: string; readonly alreadyDone?: DoneWork }
  | { readonly answer: 'reset'; readonly id: string }
  /** Another live run has the dedupe key: it is the one that is named. */
  | { readonly answer: 'dedupe-key'; readonly id: string }
  | { readonly answer: 'still-live' | 'not-found' | 'schedule-gone' }

/** What is not named stays; `null` takes an optional field away; `retention` is changed field by field. */
export type PolicyPatch = { readonly [Field in Exclude<keyof Policy, 'retention'>]?: Policy[Field] | null } & {
  readonly retention?: { readonly [Field in keyof Retention]?: Retention[Field] | null }
}

export interface QueueChange {
  readonly policy?: PolicyPatch
  readonly paused?: { readonly reason: string } | false
  readonly actor: Actor
  /** Refuses to write over any other version; 0 is that of a queue that does not exist yet. */
  readonly ifVersion?: number
  /** Whether what is not named goes back to what a new queue has. */
  readonly isWhole?: boolean
  /** The source whose file asks; what a file looks after is refused to everybody else. */
  readonly source?: string
}

export type QueueAnswer =
  | { readonly answer: 'created' | 'updated' | 'unchanged'; readonly queue: QueueView }
  /** Without a queue: there is none of that name yet. */
  | { readonly answer: 'version-differs'; readonly queue: QueueView | null }

export interface NewWorker {
  readonly name: string
  readonly host: string
  readonly can: Capabilities
  readonly slots?: number
  readonly beatMs: number
  /** What proves a local holder dead: pid and its start, in one boot and one pid namespace. */
  readonly process?: {
    readonly pid: number
    readonly startedAt: string
    readonly bootId: string
    readonly pidNamespace: string
  }
}
