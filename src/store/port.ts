import type { AgentState } from '../core/agent/agent-state.ts'
import type { Capabilities } from '../core/queue/plan-leases.ts'
import type { Policy, Retention } from '../core/queue/policy.ts'
import type { RateLimited } from '../core/run/expect.ts'
import type { LastEffect } from '../core/run/last-effect.ts'
import type { RunStatus } from '../core/run/run-state.ts'
import type { Usage } from '../core/run/usage.ts'
import type { Utilisation } from '../core/run/utilisation.ts'
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
  /** Workers that stopped properly. */
  readonly stopped?: boolean
  /** Workers whose processes are gone without stopping properly; they count as stopped. */
  readonly died?: boolean
  readonly can?: Capabilities
  /** Why these workers start nothing; absent: they start work. */
  readonly halted?: string | null
}

/**
 * The store: Belfry's whole state. Each method is one transaction, which has happened completely or not at all when the method
 * returns. A write that can lose a race returns what happened; it throws only for wrong input, or when the database did not
 * answer.
 *
 * Instants are epoch ms by the store's own clock, read inside the transaction. Ids are text (`core/id.ts`).
 */
export interface Store {
  /** The store's name for people. */
  readonly place: string
  readonly namespace: string
  /** Whether steps happen in call order, even when the caller does not await each one. */
  readonly keepsOrder: boolean

  /** Runs one verb: `store.do(cancelRun, id, reason)`. */
  do<Args extends unknown[], Result>(verb: Verb<Args, Result>, ...args: Args): Promise<Result>
  /** Reads one snapshot: `store.look(findRun, id)`. */
  look<Args extends unknown[], Result>(read: Read<Args, Result>, ...args: Args): Promise<Result>

  /** Adds runs. Each run has its own answer, in the order given; a conflict does not affect the others. */
  enqueue(runs: readonly NewRun[], options?: EnqueueOptions): Promise<Enqueued[]>
  /** Leases runs of one queue, never past its ceiling. Two callers never receive the same run. */
  lease(request: LeaseRequest): Promise<LeaseAnswer>
  /** Extends leases, each by its own length from now, or by `leaseMs` where it has none. */
  renew(leases: readonly RenewedLease[], leaseMs?: number): Promise<Renewal[]>
  /** Ends attempts. Each has its own answer; a row that cannot be written does not affect the others. */
  settle(ends: readonly AttemptEnd[]): Promise<Settled[]>
  /** Reclaims expired leases, and those of workers proven dead. Rows locked by another step are left for later. */
  reclaim(request: ReclaimRequest): Promise<Reclaimed[]>
  appendOutput(lease: LeaseName, chunk: string): Promise<'written' | 'lease-lost'>
  /** Makes runs of due occurrences, and asks the governor for the next ones. */
  fireDue(request: { limit: number }): Promise<Fired>
  /** Records that workers are alive, have stopped, or have new capabilities. Returns the workers that the store does not know. */
  beat(workerIds: readonly string[], options?: BeatOptions): Promise<{ unknown: string[] }>
  /** Removes what retention no longer keeps, in one small step. The answer says where the next step continues. */
  prune(request: PruneRequest): Promise<Pruned>

  /**
   * Calls `heard` when something may start sooner than a sleeper expects: at once after this process's writes, soon after
   * another's. A notification may be lost, doubled or needless; the listener checks the store itself. Call the returned function
   * to stop. `coming` is called while a lone run is being enqueued: a `lease` called in the same turn of the event loop may share
   * its transaction.
   */
  listen(heard: (wake: Wake) => void, coming?: (queue: string) => void): () => void
  /** Whether notifications from other processes are known to arrive. If not, poll every second. Listeners are called when this changes. */
  hears(): boolean
  /** Notifies other processes that a full queue may have a free slot. */
  wakeOthers(): void
  /** The same store; each change writes an audit line with its author in the same transaction. */
  audited(entry: AuditEntry): Store
  /** The same store; steps that can be rehearsed return their answer and write nothing, others are refused. */
  rehearsal(): Store
  /** Whether this store is a rehearsal: a verb that also changes files then leaves them alone. */
  readonly isRehearsal?: true
  condition(): Promise<StoreCondition>
  /** Checks the whole database off the event loop. Returns what is damaged, or `null`. */
  damage(): Promise<string | null>
  close(): Promise<void>
}

export interface NextInstants {
  readonly now: number
  readonly scheduleAt: number | null
  readonly leaseExpiresAt: number | null
  /** When the next hold begins or ends. */
  readonly holdAt: number | null
  /** A text that changes when a hold is put or ends. */
  readonly holdsMark: string
}

export interface WorkAhead {
  readonly now: number
  /** Queues without a hold that have a run of these capabilities in line, or any run whose waiting is over. */
  readonly queues: readonly string[]
  /** The first instant after `now` at which a run stops waiting, in a queue without a hold. */
  readonly nextAt: number | null
  /** The first instant after `now` at which a hold ends. */
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
  /** Further data for the executor: timeout, expectation, tags, trace. Stored as given. */
  readonly options?: Readonly<Record<string, unknown>>
}

export interface EnqueueOptions {
  /** The caller's own transaction: a `pg` client, or a SQLite handle. */
  readonly transaction?: unknown
}

export type Enqueued =
  | { readonly created: true; readonly id: string; readonly queueCreated?: true }
  /** The same idempotency key came with the same input before, or a live run has the dedupe key. */
  | { readonly created: false; readonly id: string; readonly because: 'idempotency-key' | 'dedupe-key' }
  | { readonly created: false; readonly id: string; readonly because: 'conflict'; readonly key: string }

export interface LeaseRequest {
  readonly queue: string
  readonly workerId: string
  /** 128 random bits, different for each call. */
  readonly claimId: string
  readonly can: Capabilities
  readonly limit: number
  /** Absent: the queue's `leaseTtlMs`. */
  readonly leaseMs?: number
}

/** A lease, and its new length from now. */
export interface RenewedLease extends LeaseName {
  readonly leaseMs?: number
  /** What the attempt is doing now; absent: what it was doing. */
  readonly state?: AgentState | undefined
}

export interface LeaseAnswer {
  readonly leases: Lease[]
  /** Runs that ended instead of being leased, because they were too late. */
  readonly skipped: {
    readonly runId: string
    readonly scheduleId: string | null
    readonly source: RunSource
    readonly reason: 'lateness' | 'deadline'
  }[]
  /** Runs that were parked instead of being leased, because their stored work cannot be read. */
  readonly broken: (LeaseName & {
    readonly scheduleId: string | null
    readonly source: RunSource
    readonly reason: string
  })[]
  readonly inFlight: number
  readonly available: number
  /**
   * With these leases the queue is at its ceiling: no worker gets another lease before one of the queue's
   * runs ends.
   */
  readonly full: boolean
  /** The queue's rate limit is used up: no worker gets another lease for this long. */
  readonly restMs?: number
  /** More runs may be leasable now: call again without waiting. */
  readonly more: boolean
  /** The end of one of the queue's runs may free a slot of a key, although the queue was not full. */
  readonly keyed: boolean
  /** Why no run can be leased, whatever is waiting. */
  readonly stopped?: 'held-by' | 'no-queue' | 'policy-unreadable'
  /** The hold that stops the queue. */
  readonly hold?: string
}

/** A lease is identified by its run and fence; a run's fence grows with every lease and is never reused. */
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
  /** Whether every run of the namespace reserves a slot before it starts. */
  readonly isReserving?: true
  /** Whether the namespace has budgets. */
  readonly isBudgeted?: true
}

export interface HeldLease extends LeaseName {
  readonly workerId: string
  readonly claimId: string
  readonly leasedAt: number
}

export type RunSource = KernelSource | (string & {})

/** The sources of runs that the kernel itself makes. */
export type KernelSource = Source | 'enqueued' | 'run-now' | 'retry' | 'test'

export type Renewal =
  | (LeaseName & {
      readonly renewed: true
      readonly expiresAt: number
      readonly cancelRequestedAt: number | null
      /** When its holder was asked to stop the work and give the run back. */
      readonly releaseRequestedAt: number | null
    })
  | (LeaseName & { readonly renewed: false })

export interface AttemptEnd extends LeaseName {
  readonly outcome: Outcome
  readonly result?: unknown
  /** The length limit of its result, where that is larger than usual. */
  readonly resultBytesMax?: number | undefined
  /** Facts that parts read from the answer after the target succeeded, by the name of the part, for their end hooks. */
  readonly learned?: Readonly<Record<string, unknown>>
  /** The lease's schedule, if it has one; it must be locked before the run. */
  readonly scheduleId?: string | null
  readonly usage?: Usage | undefined
  /** How much of its account's limits is used, where the attempt reported it. */
  readonly utilisation?: readonly Utilisation[] | undefined
  /** The provider's limit refused the attempt. */
  readonly rateLimited?: RateLimited | undefined
  /** A part has reserved something for this attempt, so its end hooks must see a plain end too. */
  readonly isWatched?: boolean | undefined
  /** The last effect of the attempt, in the step that ends it. */
  readonly effect?: LastEffect | undefined
}

export type Settled = LeaseName &
  (
    | {
        readonly answer: 'written'
        readonly status: RunStatus
        readonly nextEligibleAt?: number
        readonly reason: string
      }
    /** This worker has ended this attempt before: a commit that seemed to fail had succeeded. */
    | { readonly answer: 'already-written' }
    /** `gone`: the run has ended and was removed, so that the outcome is no longer known. */
    | { readonly answer: 'lease-lost' | 'gone' }
    | { readonly answer: 'refused'; readonly error: Error }
  )

export interface ReclaimRequest {
  readonly deadWorkers?: readonly string[]
  /** Whether expired leases of every worker are taken too; default true. A list limits it to these runs. */
  readonly expired?: boolean | readonly string[]
  /** Limits the expired leases to this queue. */
  readonly queue?: string
  /** At most this many expired leases, and as many of dead workers. */
  readonly limit: number
}

export interface Reclaimed extends LeaseName {
  readonly status: RunStatus
  readonly reason: string
  readonly because: 'expired' | 'holder-dead'
  /** When its next attempt may start; only for a run that is retried. */
  readonly nextEligibleAt?: number | undefined
}

export type CancelAnswer = 'cancelled' | 'cancel-requested' | 'already-requested' | 'already-ended' | 'not-found'

/** How the work, which must not be repeated, was already done; `late-cancel` is a success after a cancel request. */
export type DoneWork = 'completed' | 'late-cancel'

export type RetryAnswer =
  | { readonly answer: 'created'; readonly id: string; readonly alreadyDone?: DoneWork }
  | { readonly answer: 'reset'; readonly id: string }
  /** Another live run has the dedupe key: `id` names it. */
  | { readonly answer: 'dedupe-key'; readonly id: string }
  | { readonly answer: 'still-live' | 'not-found' | 'schedule-gone' }

/** Fields that are not named stay; `null` removes an optional field; `retention` is changed field by field. */
export type PolicyPatch = { readonly [Field in Exclude<keyof Policy, 'retention'>]?: Policy[Field] | null } & {
  readonly retention?: { readonly [Field in keyof Retention]?: Retention[Field] | null }
}

export interface QueueChange {
  readonly policy?: PolicyPatch
  readonly paused?: { readonly reason: string } | false
  readonly actor: Actor
  /** Refuses to overwrite any other version; 0 stands for a queue that does not exist yet. */
  readonly ifVersion?: number
  /** Resets fields that are not named to their defaults. */
  readonly isWhole?: boolean
  /** The config file that writes. Any other caller is refused if a file manages the queue. */
  readonly source?: string
}

export type QueueAnswer =
  | { readonly answer: 'created' | 'updated' | 'unchanged'; readonly queue: QueueView }
  /** `null`: no queue has that name yet. */
  | { readonly answer: 'version-differs'; readonly queue: QueueView | null }

export interface NewWorker {
  readonly name: string
  readonly host: string
  readonly can: Capabilities
  readonly slots?: number
  readonly beatMs: number
  /** Why the worker starts nothing. */
  readonly halted?: string | null
  /** Proves a local worker dead: pid and its start time, in one boot and one pid namespace. */
  readonly process?: {
    readonly pid: number
    readonly startedAt: string
    readonly bootId: string
    readonly pidNamespace: string
  }
}
