import { expect, it } from 'vitest'
import { BelfryError, type ErrorCode, isPassing } from '../../src/core/error.ts'

it('an error carries its code, its sentence, what to do, the details and the cause', () => {
  const cause = new Error('disk')
  const error = new BelfryError('unavailable', 'It is away.', { hint: 'Wait.', details: { tries: 3 }, cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'BelfryError', code: 'unavailable', message: 'It is away.', hint: 'Wait.' })
  expect(error.details).toEqual({ tries: 3 })
  expect(error.cause).toBe(cause)
  expect(String(error)).toBe('BelfryError: It is away.')
})

it('an error without a cause does not claim one', () => {
  const error = new BelfryError('invalid', 'No.')
  expect(Object.hasOwn(error, 'cause')).toBe(false)
  expect([error.hint, error.details]).toEqual([undefined, undefined])
})

it.each<[ErrorCode, boolean]>([
  ['unavailable', true],
  ['commit-unknown', true],
  ['conflict', false],
  ['invalid', false],
  ['not-found', false],
  ['not-allowed', false],
  ['failure', false],
])('what failed as %s passes by itself: %s', (code, passes) => {
  expect(isPassing(new BelfryError(code, 'No.'))).toBe(passes)
})

it('a store that was closed does not come back, and what is no error of ours is a defect', () => {
  expect(isPassing(new BelfryError('unavailable', 'It was closed.', { details: { closed: true } }))).toBe(false)
  expect([new Error('unavailable'), { code: 'unavailable' }, null].map(isPassing)).toEqual([false, false, false])
})
