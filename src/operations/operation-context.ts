import type { Clock } from '../core/clock.ts'
import type { HoldReason } from '../core/hold-reason.ts'
import type { FirstPolicies } from '../core/queue/first-policy.ts'
import type { Actor, Store } from '../store/port.ts'
import type { TargetKind } from '../targets/kind.ts'
import type { Scope } from './caller-scope.ts'
import type { AnySection } from './config-section.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { RunOrigin } from './part.ts'
import type { Waits } from './run/waits.ts'
import type { HealthCheck } from './store/health-check.ts'

/** What every verb works on, and for whom. */
export interface OperationContext extends FirstPolicies {
  readonly store: Store
  readonly clock: Clock
  /** Who asks, and through which door; it stands beside every change. */
  readonly actor: Actor
  /** The zone of a cron that names none. */
  readonly zone: string
  /** Where relative programs and folders of commands begin. */
  readonly folder: string
  readonly waits: Waits
  /** Where runs may come from, by the sources that parts give them. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** The catalogue of why work may be held, by code. */
  readonly holdReasons: Readonly<Record<string, HoldReason>>
  /** The sections of a config file that parts bring. */
  readonly sections: readonly AnySection[]
  /** What `doctor` looks at for the parts. */
  readonly checks: readonly HealthCheck[]
  /** What parts add to schedules, queues and runs. */
  readonly fields: AddedFields
  /** The kinds of targets that there are, of the kernel and of the parts. */
  readonly kinds: readonly TargetKind[]
  /** What whoever asks may do, where that is limited; whoever has the store itself may do anything. */
  readonly scope?: Scope
  /** Random bytes as hex, for what must not be guessed; tests hand in their own. */
  readonly randomHex: (bytes: number) => string
}

/** What inputs are read beside: where relative programs and folders begin, the kinds of targets, and the fields that parts add. */
export type Reader = Pick<OperationContext, 'folder' | 'kinds'> & Partial<Pick<OperationContext, 'fields'>>
