import { describe, expect, it } from 'vitest'
import { retryAfterMs } from '../../../src/targets/http/retry-after.ts'

const now = Date.UTC(1994, 10, 6, 8, 49, 7)

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['9'.repeat(400), 365 * 86_400_000],
  ])('%s asks for %d ms', (text, ms) => expect(retryAfterMs(text, now)).toBe(ms))

  it.each(['', '-1', '1.5', '1e3', 'soon', '2026-01-01', 'Sun, 99 Nov 1994 08:49:37 GMT', '10s', '0x10'])(
    '%j asks for nothing',
    (text) => expect(retryAfterMs(text, now)).toBeUndefined(),
  )
})
