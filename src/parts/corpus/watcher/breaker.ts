/** The recent failures of a service that may be down, on a clock that never goes back. */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number
  /** Until when the service is not asked; null if it may be asked. */
  readonly openUntil: number | null
}

export const closedBreaker: Breaker = { failures: 0, openUntil: null }

/** How many failures in a row open the breaker. */
export const failuresMax = 3
const openMsFirst = 60_000
const openMsMax = 3_600_000

/**
 * After a failure. From the third failure on, the breaker stays open twice as long each time, and at least as long as the service asked
 * for.
 */
export function broken({ failures: before }: Breaker, now: number, retryAfterMs = 0): Breaker {
  const failures = before + 1
  const grownMs = failures < failuresMax ? 0 : openMsFirst * 2 ** Math.min(failures - failuresMax, 10)
  const openMs = Math.min(openMsMax, Math.max(grownMs, retryAfterMs))
  return { failures, openUntil: openMs === 0 ? null : now + openMs }
}

export function isOpen({ openUntil }: Breaker, now: number): boolean {
  return openUntil !== null && now < openUntil
}
