import type { AddedToAttempt, StoredFields } from '../core/added.ts'
import type { AgentState } from '../core/agent/agent-state.ts'
import type { Hold } from '../core/hold.ts'
import type { Capabilities, PlannedRun } from '../core/queue/plan-leases.ts'
import type { Policy } from '../core/queue/policy.ts'
import type { EndedStatus, RunStatus } from '../core/run/run-state.ts'
import type { Decision, NextDecision } from '../core/schedule/decision.ts'
import type { AuthorKind } from '../core/schedule/hint-author.ts'
import type { EndedHint, HintKind } from '../core/schedule/hints.ts'
import type { ScheduleState } from '../core/schedule/state.ts'
import type { RankedPause } from '../core/schedule/steering.ts'
import type { HintOutcome } from '../core/timing/hint-outcome.ts'
import type { RunSource } from './port.ts'

/** A run in a list: its definition, its state, and how it ended. */
export interface RunSummary {
  readonly id: string
  readonly queue: string
  readonly status: RunStatus
  /** Why a ready run is not in line: until an instant, behind a full key, or behind a run of its schedule. */
  readonly waiting?: {
    readonly for: 'instant' | 'key' | 'overlap'
    readonly until?: number
    readonly reason: string | null
  }
  readonly fence: number
  readonly attempts: number
  /** Known of live and parked runs only. */
  readonly releases: number | null
  readonly deaths: number | null
  readonly priority: number
  readonly enqueuedAt: number
  /** The name of its schedule; of a deleted one too, until it is removed. */
  readonly schedule: string | null
  readonly scheduleId: string | null
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly source: RunSource
  readonly notBefore: number | null
  readonly deadline: number | null
  /** From this instant on its first attempt may not start. */
  readonly lateAfter: number | null
  readonly concurrencyKey: string | null
  readonly idempotencyKey: string | null
  readonly dedupeKey: string | null
  readonly waitsFor: string | null
  readonly retryOf: string | null
  readonly repeatable: boolean
  readonly policyVersion: number
  readonly target: Readonly<Record<string, unknown>> | null
  readonly options: Readonly<Record<string, unknown>>
  readonly lease: LeaseView | null
  readonly parked: { readonly at: number; readonly reason: string } | null
  readonly end: { readonly status: EndedStatus; readonly at: number; readonly reason: string | null } | null
}

/** One run with all its data; lists leave out what may be large. */
export interface RunView extends RunSummary {
  readonly payload: unknown
  readonly decision: Decision | null
  readonly result: { readonly value: unknown; readonly truncated: boolean } | null
}

export interface LeaseView {
  readonly workerId: string
  readonly claimId: string
  readonly leasedAt: number
  readonly expiresAt: number
  readonly cancelRequestedAt: number | null
  readonly cancelReason: string | null
  /** What the attempt is doing, where its handler or host reported it. */
  readonly state: AgentState | null
}

export interface AttemptView extends StoredFields<AddedToAttempt> {
  readonly fence: number
  readonly workerId: string | null
  readonly startedAt: number | null
  readonly endedAt: number
  readonly outcome: string
  readonly reason: string | null
  readonly ends: EndedStatus | null
}

export interface OutputView {
  readonly fence: number
  /** A line in the text marks where output was dropped. */
  readonly text: string
  /** Bytes dropped between the first and the last half. */
  readonly droppedBytes: number
}

/** A schedule with its state, ids and pauses as people read them. */
export interface ScheduleView
  extends Omit<
    ScheduleState,
    | 'id'
    | `disabled${'At' | 'Reason'}`
    | `paused${'Until' | 'Reason'}`
    | 'waitsFor'
    | 'gridAnchorAt'
    | 'lastEndAt'
    | 'lastSuccessAt'
    | 'steering'
  > {
  readonly id: string
  readonly disabled: { readonly at: number; readonly reason: string } | null
  readonly paused: { readonly until: number; readonly reason: string } | null
  /** Its pauses with an end, the latest first; the first is the one that counts. */
  readonly pauses: readonly RankedPause[]
  readonly waitsFor: string | null
  /** The config file that manages it. */
  readonly managedBy?: string
  /** The hold on the schedule, such as that of its paused group: its runs wait. */
  readonly heldBy?: string
  readonly updatedAt: number
}

export interface VersionView<Content> {
  readonly version: number
  readonly content: Content
  readonly at: number
  readonly actor: string
  /** The door it was written through; `null` for versions older than this field. */
  readonly door: string | null
  readonly reason: string | null
}

export interface HintView {
  readonly kind: HintKind
  /** Ms for an interval, an instant for a one-shot. */
  readonly value: number
  readonly expiresAt: number
  readonly reason: string
  readonly author: string
  /** The kind of its author. */
  readonly by: AuthorKind
  readonly createdAt: number
  /** The next instant of the schedule before it was given, and after; `null` where there was none, or it waited for an end. */
  readonly wasNextAt: number | null
  readonly nextAt: number | null
  readonly ended: Pick<EndedHint, 'at' | 'by'> | null
}

/** A hint with its outcome, once it has ended. */
export interface HintWithOutcome extends HintView {
  /** The author of the hint of a higher rank that counts in its place. */
  readonly outrankedBy?: AuthorKind
  readonly outcome: HintOutcome | null
}

/** How one nominal occurrence ended, or many in a row that ended for one reason without a run. */
export interface LedgerView {
  readonly from: number
  readonly to: number
  readonly count: number
  /** The count stopped at a limit. */
  readonly countIsAtLeast: boolean
  readonly outcome: string
  readonly runId: string | null
  readonly causedBy: string | null
  readonly decision: NextDecision | null
  readonly recordedAt: number
  readonly endedAt: number | null
}

export interface QueueView {
  readonly name: string
  /** `null` where the stored policy cannot be read; then no run is leased until the policy is set again. */
  readonly policy: Policy | null
  readonly policyVersion: number
  readonly paused: { readonly at: number; readonly reason: string } | null
  readonly inFlight: number
  readonly createdAt: number
  /** The config file that manages its policy. */
  readonly managedBy?: string
}

export interface Counted {
  readonly count: number
  /** The count stopped at a limit. */
  readonly countIsAtLeast: boolean
}

export interface QueueStats {
  readonly now: number
  readonly inFlight: number
  readonly inLine: Counted
  /** Runs that wait for an instant: the end of a backoff, or a requested instant. */
  readonly waiting: Counted
  readonly behindKey: Counted
  readonly behindRun: Counted
  readonly held: Counted
  readonly parked: Counted
  /** When the run that has been in line longest was made. */
  readonly oldestInLineAt: number | null
  /** Not all lanes and priorities were read: there may be an older run. */
  readonly oldestInLineIsAtLeast: boolean
  /** The runs that ended in the last minute. */
  readonly ended: Readonly<Record<EndedStatus, Counted>>
  readonly parkedByReason: readonly { readonly reason: string; readonly count: number }[]
}

/** The runs that were reclaimed from a worker, and their status afterwards. */
export interface LostRuns {
  readonly count: number
  /** The last of these runs. */
  readonly runs: readonly { readonly id: string; readonly status: RunStatus; readonly reason: string }[]
}

export interface WorkerView {
  readonly id: string
  readonly name: string
  readonly host: string
  readonly can: Capabilities
  readonly slots: number | null
  readonly startedAt: number
  readonly beatAt: number
  readonly beatMs: number
  /** Since when the worker is gone, stopped or dead. */
  readonly stoppedAt: number | null
  /** When the worker was found dead, if it did not stop by itself. */
  readonly diedAt: number | null
  /** Why the worker starts nothing although it is alive; null if it starts work. */
  readonly halted: string | null
  /** Whether it is an outside program or a session that takes runs through a door. It fires nothing. */
  readonly isHost: boolean
  /** The runs that were reclaimed from it; null if there were none. */
  readonly lost: LostRuns | null
  readonly process: {
    readonly pid: number
    readonly startedAt: string
    readonly bootId: string
    readonly pidNamespace: string
  } | null
}

export interface PlanWindow {
  readonly now: number
  readonly runs: PlannedRun[]
  readonly policy: Policy
  readonly queue: string
  /** The holds on anything in the window that have not ended. */
  readonly holds: readonly Hold[]
  readonly recentStarts: number[]
}

/**
 * Runs come newest first: ended ones by their end, parked ones by when they were parked. Ready ones are the exception: those in
 * line come first, in queue order, and then those that wait.
 */
export interface RunFilter {
  readonly queue?: string
  /** The name of a schedule, or the id of a deleted one. */
  readonly schedule?: string
  readonly status?: RunStatus
  /** The `next` of the page before, with the same filter; a run's id where there is no status. */
  readonly before?: string
  readonly limit: number
}

export interface RunPage {
  /** May be fewer than the limit, even none, while there is a `next`: each query is bounded. */
  readonly runs: RunSummary[]
  readonly next: string | null
}

/** A leased run, with the proof that a caller holds its lease. */
export interface HeldRun {
  readonly runId: string
  readonly fence: number
  readonly queue: string
  readonly claimId: string
  readonly workerId: string
  readonly scheduleId: string | null
  /** The current lease length for hosts; `null` when the policy of its queue cannot be read. */
  readonly leaseTtlMs: number | null
  readonly expiresAt: number
  /** Whether it may have reserved something, of an account or as every run of its namespace, which its end returns. */
  readonly mayReserve: boolean
}
