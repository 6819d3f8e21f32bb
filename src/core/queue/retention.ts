import type { EndedStatus } from '../run/run-state.ts'
import type { Policy } from './policy.ts'

type Kept = Pick<Policy, 'retention'>

/** How long a run is kept after its end. A live run is never removed. */
export function endedKeptMs({ retention }: Kept, status: EndedStatus): number {
  return status === 'failed' ? retention.failedMs : retention.completedMs
}

/** How long a run stays parked; `null`: until a person decides. That is the default, because the work was accepted and is not done. */
export function parkedKeptMs({ retention }: Kept): number | null {
  return retention.parkedMs ?? null
}
