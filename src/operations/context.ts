import type { Clock } from '../core/clock.ts'
import type { Actor, Store } from '../store/port.ts'
import type { Scope } from './operation.ts'
import type { RunOrigin } from './part.ts'
import type { Waits } from './run/waits.ts'
import type { Examination } from './store/examination.ts'

/** What every verb works on, and for whom. */
export interface OperationContext {
  readonly store: Store
  readonly clock: Clock
  /** Who asks, and through which door; it stands beside every change. */
  readonly actor: Actor
  /** The zone of a cron that names none. */
  readonly zone: string
  /** Where relative programs and folders of commands begin. */
  readonly folder: string
  /** The ceiling that the queue `default` is created with. */
  readonly defaultMaxConcurrent: number
  readonly waits: Waits
  /** Where runs may come from, by the sources that parts give them. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** What `doctor` looks at for the parts. */
  readonly checks: readonly Examination[]
  /** What whoever asks may do, where that is limited; whoever has the store itself may do anything. */
  readonly scope?: Scope
  /** Random bytes as hex, for what must not be guessed; tests hand in their own. */
  readonly randomHex: (bytes: number) => string
}
