import { describe, expect, it } from 'vitest'
import { instant, instantOf } from '../../src/operations/input/instant.ts'

describe('an instant', () => {
  it.each([
    ['2026-12-01T09:00+01:00', Date.UTC(2026, 11, 1, 8)],
    ['2026-12-01T09:00Z', Date.UTC(2026, 11, 1, 9)],
    ['2026-12-01T09:00:30Z', Date.UTC(2026, 11, 1, 9, 0, 30)],
    ['2026-12-01T09:00:30.5Z', Date.UTC(2026, 11, 1, 9, 0, 30, 500)],
    ['2026-12-01T09:00:30.123000Z', Date.UTC(2026, 11, 1, 9, 0, 30, 123)],
    ['2026-12-01T09:00-03:30', Date.UTC(2026, 11, 1, 12, 30)],
    ['2028-02-29T00:00+14:00', Date.UTC(2028, 1, 28, 10)],
    ['1970-01-01T00:00Z', 0],
  ])('%s is read', (text, at) => {
    expect(instantOf(text)).toEqual({ at })
  })

  it.each([
    ['2026-12-01T09:00', /no offset/, /2026-12-01T09:00Z/],
    ['2026-12-01', /is "2026-12-01"/, /with its offset/],
    ['2026-02-30T09:00Z', /a date that does not exist/, /existing/],
    ['2026-12-01T24:00Z', /a date that does not exist/, /existing/],
    ['2026-12-01T09:60Z', /a date that does not exist/, /existing/],
    ['2026-13-01T09:00Z', /a date that does not exist/, /existing/],
    ['2026-12-01T09:00+14:01', /offset that no time zone has/, /14 hours/],
    ['2026-12-01T09:00+01:60', /offset that no time zone has/, /14 hours/],
    ['2026-12-01T09:00:00.1234Z', /finer than a ms/, /whole ms/],
    ['1969-12-31T23:59Z', /before 1970/, /since 1970/],
    ['2026-12-01T09:00+0100', /is "2026/, /\+01:00/],
    ['2026-12-01 09:00Z', /is "2026/, /with its offset/],
    ['tomorrow', /is "tomorrow"/, /with its offset/],
    [' 2026-12-01T09:00Z', /is " 2026/, /with its offset/],
  ])('%s is refused, for it would mean something else elsewhere or nothing at all', (text, problem, expected) => {
    expect(instantOf(text)).toEqual({
      problem: expect.stringMatching(problem),
      expected: expect.stringMatching(expected),
    })
  })

  it('may be a Date of a program, but not a number that could be seconds or ms, nor a Date that is none', () => {
    expect(instant.safeParse(new Date(1_764_579_600_123)).data).toBe(1_764_579_600_123)
    expect(instant.safeParse(1_764_579_600_000).success).toBe(false)
    expect(instant.safeParse(new Date(Number.NaN)).success).toBe(false)
  })
})
