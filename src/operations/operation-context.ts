import type { Clock } from '../core/clock.ts'
import type { HoldReason } from '../core/hold-reason.ts'
import type { FirstPolicies } from '../core/queue/first-policy.ts'
import type { Actor, Store } from '../store/port.ts'
import type { ExecutorHost, TargetKind } from '../targets/kind.ts'
import type { Scope } from './caller-scope.ts'
import type { AnySection } from './config-section.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { AnyOperation } from './operation.ts'
import type { AttemptFacts, OperationPart, RunOrigin } from './part.ts'
import type { SubjectNames } from './present-subject.ts'
import type { Waits } from './run/waits.ts'
import type { HealthCheck } from './store/health-check.ts'

/** What every verb works on, and for which caller. */
export interface OperationContext extends FirstPolicies {
  readonly store: Store
  readonly clock: Clock
  /** The caller and its door, recorded with every change. */
  readonly actor: Actor
  /** The time zone for a cron without one. */
  readonly zone: string
  /** The folder that relative programs and folders of commands are resolved against. */
  readonly folder: string
  readonly waits: Waits
  /** The run sources that parts add. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** The hold reasons, by code. */
  readonly holdReasons: Readonly<Record<string, HoldReason>>
  /** Asks the parts for facts about a run, for its explanation. */
  readonly runNotes?: readonly NonNullable<OperationPart['explainsRun']>[]
  /** Asks the parts for facts about a schedule, for its explanation. */
  readonly scheduleNotes?: readonly NonNullable<OperationPart['explainsSchedule']>[]
  /** Asks the parts for the budgets that count planned work. */
  readonly budgetsOf?: readonly NonNullable<OperationPart['budgetsOf']>[]
  /** The names that parts keep, by the scope of a hold or budget. */
  readonly subjects?: Readonly<Record<string, SubjectNames>>
  /** The config file sections that parts add. */
  readonly sections: readonly AnySection[]
  /** The doctor checks that parts add. */
  readonly checks: readonly HealthCheck[]
  /** Asks the parts for facts about attempts. */
  readonly attemptFacts?: readonly AttemptFacts[]
  /** The fields that parts add to schedules, queues and runs. */
  readonly fields: AddedFields
  /** The target kinds of the kernel and of the parts. */
  readonly kinds: readonly TargetKind[]
  /** The caller's scope. Absent for a caller that opened the store itself, who may do anything. */
  readonly scope?: Scope
  /** The network policy and secrets with which a verb itself calls another machine, as targets do. Absent where no verb may. */
  readonly outgoing?: Outgoing
  /** Why nothing is started on this machine, whatever the store says; null where starts are allowed. */
  readonly halted?: () => Promise<string | null>
  /**
   * A verb of another noun, by its name: a part reaches another part only this way. Absent where that part is left
   * out.
   */
  readonly operationOf?: (noun: string, verb: string) => AnyOperation | undefined
  /** Random bytes as hex, for secrets; tests pass their own. */
  readonly randomHex: (bytes: number) => string
}

export type Outgoing = Pick<ExecutorHost, 'network' | 'secrets'>

export type Reader = Pick<OperationContext, 'folder' | 'kinds'> & Partial<Pick<OperationContext, 'fields'>>

/** A store of this process alone, in which due schedules are fired. */
export interface PrivateStore extends Pick<OperationContext, 'store' | 'waits'> {
  close(): Promise<void>
}
