import type { Clock } from '../core/clock.ts'
import type { Lease, Store } from '../store/port.ts'
import type { AttemptName, Events } from './events.ts'
import type { Executors } from './execute-run.ts'
import type { Holdings } from './leases/holdings.ts'
import type { EngineSettings } from './settings.ts'
import type { Signal } from './signals.ts'

export interface EngineContext {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  readonly signal: Signal
  readonly settings: EngineSettings
  readonly holdings: Holdings
  /** The executors of this process, which parts use too: `executeTarget`. */
  readonly executors: Executors
}

export function attemptName({ runId, fence, queue, scheduleId }: Lease): AttemptName {
  return { runId, fence, queue, scheduleId }
}
