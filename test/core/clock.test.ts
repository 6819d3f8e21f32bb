import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'

it('the system clock counts ms since 1970 on the wall, and never goes back on the monotonic side', () => {
  expect(systemClock.now()).toBeGreaterThan(Date.UTC(2025, 0, 1))
  const before = systemClock.monotonic()
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before)
})

it('the system clock acts no sooner than it was told to, also when that is longer than a timer can be', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const day = 86_400_000
  let acted = 0
  systemClock.after(60 * day, () => acted++)
  const cancel = systemClock.after(60 * day, () => acted++)
  vi.advanceTimersByTime(30 * day)
  cancel()
  vi.advanceTimersByTime(30 * day - 1)
  expect(acted).toBe(0)
  vi.advanceTimersByTime(1)
  expect(acted).toBe(1)
})
