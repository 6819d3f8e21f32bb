import type { Policy } from './policy.ts'

type Ceiling = Pick<Policy, 'maxConcurrent'>

/** How many more runs of a queue may start under its ceiling, at most `limit`. */
export function slotsFree({ maxConcurrent }: Ceiling, inFlight: number, limit: number): number {
  return Math.max(0, Math.min(maxConcurrent - inFlight, limit))
}

export function isFull({ maxConcurrent }: Ceiling, inFlight: number): boolean {
  return inFlight >= maxConcurrent
}
