import { expect, it } from 'vitest'
import { TestClock } from '../../src/testing/test-clock.ts'

it('a test clock stands still until time passes, on the wall and on the monotonic side alike', () => {
  const clock = new TestClock(1_000)
  const began = clock.monotonic()
  expect([clock.now(), clock.now(), clock.monotonic() - began]).toEqual([1_000, 1_000, 0])
  clock.advance(250)
  expect([clock.now(), clock.monotonic() - began]).toEqual([1_250, 250])
})

it('a test clock begins at the same instant every day', () => {
  expect(new Date(new TestClock().now()).toISOString()).toBe('2026-01-05T09:00:00.000Z')
})

it('setting the wall clock moves no monotonic time, as on a machine whose clock is corrected', () => {
  const clock = new TestClock(1_000)
  const began = clock.monotonic()
  clock.set(500)
  expect([clock.now(), clock.monotonic()]).toEqual([500, began])
  clock.set(9_000)
  expect([clock.now(), clock.monotonic()]).toEqual([9_000, began])
})

it.each([-1, Number.NaN])('time cannot pass by %d ms', (ms) => {
  const clock = new TestClock(1_000)
  expect(() => clock.advance(ms)).toThrow(/cannot pass/)
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
})
