import { expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/error.ts'
import { errorCodes, exitOk } from '../../src/operations/error-codes.ts'

it('scripts can rely on exit codes and statuses, which follow from the code of an error alone', () => {
  const told = Object.entries(errorCodes).map(([code, { exit, status }]) => [code, exit, status])
  expect(told).toEqual([
    ['failure', 1, 500],
    ['invalid', 2, 400],
    ['not-found', 3, 404],
    ['conflict', 4, 409],
    ['unavailable', 5, 503],
    ['commit-unknown', 5, 503],
    ['not-allowed', 6, 403],
    ['unauthenticated', 6, 401],
    ['too-many', 5, 429],
    ['too-many-changes', 5, 429],
    ['quota', 5, 429],
  ] satisfies [ErrorCode, number, number][])
  expect(exitOk).toBe(0)
})
