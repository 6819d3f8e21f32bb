import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'

it('the system clock counts ms since 1970 on the wall, and never goes back on the monotonic side', () => {
  expect(systemClock.now()).toBeGreaterThan(Date.UTC(2025, 0, 1))
  const before = systemClock.monotonic()
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before)
})
