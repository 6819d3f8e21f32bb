import type { Policy } from './policy.ts'

type Ceiling = Pick<Policy, 'maxConcurrent'>

/** How many more runs of a queue may start under its ceiling, and no more than a caller asks for. */
export function slotsFree({ maxConcurrent }: Ceiling, inFlight: number, limit: number): number {
  return Math.max(0, Math.min(maxConcurrent - inFlight, limit))
}

/** Whether a queue has as many runs in flight as its ceiling allows. */
export function isFull({ maxConcurrent }: Ceiling, inFlight: number): boolean {
  return inFlight >= maxConcurrent
}
