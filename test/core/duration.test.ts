import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DurationError, durationMsMax, formatDuration, parseDuration } from '../../src/core/duration.ts'

function refusal(text: string): DurationError {
  try {
    parseDuration(text)
  } catch (error) {
    if (error instanceof DurationError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

describe('parseDuration', () => {
  it.each([
    ['30s', 30_000],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['500ms', 500],
    ['1d2h3m4s5ms', 93_784_005],
    ['1m500ms', 60_500],
    ['0.001s', 1],
    ['1.1h', 3_960_000],
    ['2.50s', 2_500],
    ['1m1.5s', 61_500],
    ['007s', 7_000],
    ['36500d', durationMsMax],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    ['', 0, 's'],
    ['0s', 0, 'above zero'],
    ['0h0m', 0, 'above zero'],
    ['10', 2, '10s for seconds or 10ms for milliseconds'],
    ['1h30', 4, '30s for seconds'],
    ['-5s', 0, 'without a sign'],
    ['5 s', 1, '5s'],
    [' 5s', 0, 'without spaces'],
    ['5s ', 2, 'without spaces'],
    ['5S', 1, '5s'],
    ['5min', 1, '5m'],
    ['2hours', 1, '2h'],
    ['5M', 1, '5m'],
    ['1w', 1, '7d'],
    ['2 weeks', 1, '14d'],
    ['10 minutes', 2, '10m'],
    ['1.5w', 3, 'd, h, m, s, ms'],
    ['1y', 1, 'd, h, m, s, ms'],
    ['5constructor', 1, 'd, h, m, s, ms'],
    ['.5h', 0, '0 before the point'],
    ['5.h', 1, '5s'],
    ['1e3s', 1, 'd, h, m, s, ms'],
    ['1,5h', 1, '1s'],
    ['١s', 0, '30s'],
    ['30m1h', 3, 'larger units first'],
    ['1h1h', 2, 'each unit once'],
    ['1.5h30m', 0, 'last unit'],
    ['0.5ms', 0, 'fewer decimals'],
    ['1.0001s', 0, 'fewer decimals'],
    ['36500d1ms', 6, '36500d'],
    ['99999999999999999999999d', 0, '36500d'],
    ['9007199254740993ms', 0, '36500d'],
    ['PT5M', 0, '30s'],
  ])('refuses %j at character %d and says what would be right', (text, position, suggestion) => {
    const error = refusal(text)
    expect(error.position).toBe(position)
    expect(error.message).toContain(suggestion)
    expect(error.name).toBe('DurationError')
  })

  it('refuses numbers, and does not repeat a text of any length in its message', () => {
    expect(() => parseDuration(5 as unknown as string)).toThrow(DurationError)
    expect(refusal('x'.repeat(1_000_000)).message.length).toBeLessThan(200)
  })

  it('either refuses with a DurationError or gives whole ms up to the cap, whatever the text', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{0,6}(ms|[dhmsx])?([0-9]{0,3}(ms|[dhms]))?$/))
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const ms = parseDuration(text)
          expect(Number.isSafeInteger(ms) && ms >= 1 && ms <= durationMsMax).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(DurationError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('formatDuration', () => {
  it('is read back exactly', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 1, max: durationMsMax }), fc.integer({ min: 1, max: 200_000 })), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })

  it('uses the largest units that fit', () => {
    expect([0, 500, 90_000, 5_400_000, 86_400_000].map(formatDuration)).toEqual(['0s', '500ms', '1m30s', '1h30m', '1d'])
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, durationMsMax + 1])('refuses %d', (ms) => {
    expect(() => formatDuration(ms)).toThrow(DurationError)
  })
})
