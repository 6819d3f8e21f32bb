import type { Clock } from '../core/clock.ts'
import type { Lease, Store } from '../store/port.ts'
import type { AttemptName, Events } from './events.ts'
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
}

export function attemptName({ runId, fence, queue, scheduleId }: Lease): AttemptName {
  return { runId, fence, queue, scheduleId }
}
