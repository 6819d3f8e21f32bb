import { expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'

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
