import { expect, it } from 'vitest'
import { checkEnd } from '../../src/store/leases/check-end.ts'
import type { AttemptEnd } from '../../src/store/port.ts'

const end = (outcome: unknown, fence: unknown = 1) => ({ runId: 'r-11', fence, outcome }) as AttemptEnd

it.each([
  [end(undefined), /outcome is undefined; it must be an object with a kind/],
  [end(null), /outcome is null/],
  [end({ kind: 'succeeded' }), /outcome.kind is "succeeded"; it must be one of success, failed, lost/],
  [end({}), /outcome.kind is undefined/],
  [end({ kind: 'failed' }), /outcome.reason is undefined; it must be a text/],
  [end({ kind: 'unknown', reason: 5 }), /outcome.reason is 5/],
  [end({ kind: 'skipped' }), /outcome.reason is undefined/],
  [end({ kind: 'cancelled', reason: null }), /outcome.reason is null/],
  [end({ kind: 'failed', reason: 'x', retryable: 'no' }), /outcome.retryable is string; it must be true or false/],
  [end({ kind: 'failed', reason: 'x', retryAfterMs: Number.NaN }), /outcome.retryAfterMs is NaN/],
  [end({ kind: 'failed', reason: 'x', retryAt: Number.POSITIVE_INFINITY }), /outcome.retryAt is Infinity/],
  [end({ kind: 'failed', reason: 'x', retryAt: '2026' }), /outcome.retryAt is string/],
  [end({ kind: 'deferred', until: 5 }), /outcome.reason is undefined/],
  [end({ kind: 'deferred', reason: 'x' }), /outcome.until is undefined; it must be an instant in ms/],
  [end({ kind: 'deferred', reason: 'x', until: 5, hasBegun: 1 }), /outcome.hasBegun is 1; it must be true or false/],
  [end({ kind: 'success' }, 0), /fence is 0; it must be an integer from 1 to 2147483647/],
  [end({ kind: 'success' }, 2 ** 31), /fence is 2147483648/],
  [end({ kind: 'success' }, '1'), /fence is 1/],
])('an end that would be misread is refused: %j', (bad, message) => {
  expect(() => checkEnd(bad)).toThrow(
    expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
  )
})

it.each([
  [{ kind: 'success' }],
  [{ kind: 'failed', reason: '' }],
  [{ kind: 'failed', reason: 'a\0', retryable: true, retryAfterMs: 0.5, retryAt: -1 }],
  [{ kind: 'lost', holderDied: true }],
  [{ kind: 'unknown', reason: 'x' }],
  [{ kind: 'released' }],
  [{ kind: 'forced-stop' }],
  [{ kind: 'cancelled' }],
  [{ kind: 'skipped', reason: 'guard' }],
  [{ kind: 'deferred', reason: 'quota', until: 0.5, hasBegun: false }],
])('every end that a worker may tell is accepted: %j', (outcome) => {
  expect(() => checkEnd(end(outcome, 2 ** 31 - 1))).not.toThrow()
})
