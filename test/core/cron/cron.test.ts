import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import { CRON_HORIZON_MS } from '../../../src/core/cron/firing.ts'
import { expressions, instants, zoneNames } from './arbitraries.ts'

interface Vector {
  in: { expression: string; zone: string; after: string }
  out: string[]
}

const iso = (ms: number | null): string => (ms === null ? 'never' : new Date(ms).toISOString())

function vectors(file: string): Vector[] {
  return JSON.parse(readFileSync(new URL(`../../vectors/${file}.json`, import.meta.url), 'utf8'))
}

function following(expression: string, zone: string, after: string, count: number): string[] {
  const calendar = cron(expression, zone)
  const found: string[] = []
  let at = calendar.next(Date.parse(after))
  while (found.length < count) {
    found.push(iso(at))
    if (at === null) break
    at = calendar.next(at)
  }
  return found
}

describe.each(['cron', 'cron-extended', 'cron-dst'])('the vectors of %s.json', (file) => {
  it('are the four instants after each question, and the same ones backwards', () => {
    const all = vectors(file)
    expect(all.length).toBeGreaterThan(10)
    for (const { in: input, out } of all) {
      const about = JSON.stringify(input)
      expect(following(input.expression, input.zone, input.after, out.length), about).toEqual(out)
      const calendar = cron(input.expression, input.zone)
      const backwards = [...out].reverse().map((instant) => iso(calendar.previous(Date.parse(instant) + 1)))
      expect(backwards, about).toEqual([...out].reverse())
    }
  })
})

describe('next and previous', () => {
  it('next is strictly after, and nothing fires between an instant and its next', () => {
    fc.assert(
      fc.property(expressions, zoneNames, instants, (expression, zone, after) => {
        const calendar = cron(expression, zone)
        const next = calendar.next(after)
        if (next === null) return
        expect(next).toBeGreaterThan(after)
        const between = calendar.previous(next)
        if (between !== null) expect(between).toBeLessThanOrEqual(after)
      }),
      { numRuns: 2_000 },
    )
  })

  it('previous walks back over exactly the instants that next went through', () => {
    fc.assert(
      fc.property(expressions, zoneNames, instants, (expression, zone, after) => {
        const calendar = cron(expression, zone)
        const forwards: number[] = []
        for (let at = calendar.next(after); at !== null && forwards.length < 8; at = calendar.next(at))
          forwards.push(at)
        const backwards: number[] = []
        const end = forwards.at(-1)
        if (end === undefined) return
        for (let at = calendar.previous(end + 1); at !== null && at > after; at = calendar.previous(at)) {
          backwards.unshift(at)
        }
        expect(backwards).toEqual(forwards)
      }),
      { numRuns: 2_000 },
    )
  })

  it('fractions of a second do not blur what is strictly before and strictly after', () => {
    const calendar = cron('*/5 * * * *', 'UTC')
    const noon = Date.UTC(2026, 0, 1, 12)
    expect(calendar.next(noon - 0.5)).toBe(noon)
    expect(calendar.next(noon)).toBe(noon + 300_000)
    expect(calendar.previous(noon + 0.5)).toBe(noon)
    expect(calendar.previous(noon)).toBe(noon - 300_000)
  })

  it('an instant that is not a number is refused instead of being searched for', () => {
    const calendar = cron('* * * * *', 'Europe/Paris')
    expect(() => calendar.next(Number.NaN)).toThrow(RangeError)
    expect(() => calendar.previous(Number.POSITIVE_INFINITY)).toThrow('epoch milliseconds')
  })

  it.each(['UTC', 'Europe/Paris', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Africa/Monrovia'])(
    'in %s nothing fires before 1970 nor from the horizon on',
    (zone) => {
      const calendar = cron('* * * * * *', zone)
      expect(calendar.next(-1e15)).toBe(0)
      expect(calendar.previous(1)).toBe(0)
      expect(calendar.previous(0)).toBe(null)
      expect(calendar.previous(-5)).toBe(null)
      expect(calendar.next(CRON_HORIZON_MS - 1_001)).toBe(CRON_HORIZON_MS - 1_000)
      expect(calendar.next(CRON_HORIZON_MS - 1_000)).toBe(null)
      expect(calendar.next(8e15)).toBe(null)
      expect(calendar.previous(8e15)).toBe(CRON_HORIZON_MS - 1_000)
    },
  )

  it('the last leap day before the horizon is followed by nothing', () => {
    for (const zone of ['UTC', 'America/New_York']) {
      const calendar = cron('0 12 29 2 *', zone)
      const last = calendar.previous(CRON_HORIZON_MS)
      expect(iso(last).slice(0, 10)).toBe('2196-02-29')
      expect(calendar.next(last ?? 0)).toBe(null)
    }
  })

  it('a leap day is not looked for in 2100', () => {
    expect(following('0 0 29 2 *', 'UTC', '2096-01-01T00:00:00Z', 2)).toEqual([
      '2096-02-29T00:00:00.000Z',
      '2104-02-29T00:00:00.000Z',
    ])
  })
})

describe('the days', () => {
  it.each<[string, string, string[]]>([
    ['0 0 */10 * MON', '2026-03-01T12:00:00Z', ['2026-03-02', '2026-03-09', '2026-03-11']],
    ['0 0 13 * FRI', '2026-03-01T12:00:00Z', ['2026-03-06', '2026-03-13', '2026-03-20']],
    ['0 0 * * */2', '2026-03-01T12:00:00Z', ['2026-03-03', '2026-03-05', '2026-03-07']],
    ['0 0 1-31 * MON', '2026-03-01T12:00:00Z', ['2026-03-02', '2026-03-03', '2026-03-04']],
    ['0 0 L-3 * *', '2026-02-01T12:00:00Z', ['2026-02-25', '2026-03-28', '2026-04-27']],
    ['0 0 L-30 * *', '2026-02-01T12:00:00Z', ['2026-03-01', '2026-05-01', '2026-07-01']],
    ['0 0 LW * *', '2026-01-01T12:00:00Z', ['2026-01-30', '2026-02-27', '2026-03-31']],
    ['0 0 1W * *', '2026-07-15T12:00:00Z', ['2026-08-03', '2026-09-01', '2026-10-01']],
    ['0 0 31W * *', '2026-01-01T12:00:00Z', ['2026-01-30', '2026-03-31', '2026-05-29']],
    ['0 0 1,l * *', '2026-02-02T12:00:00Z', ['2026-02-28', '2026-03-01', '2026-03-31']],
    ['0 0 * * mon#5', '2026-01-01T12:00:00Z', ['2026-03-30', '2026-06-29', '2026-08-31']],
    ['0 0 * * 7L', '2026-01-01T12:00:00Z', ['2026-01-25', '2026-02-22', '2026-03-29']],
    ['0 0 * * fri-sun', '2026-01-01T12:00:00Z', ['2026-01-02', '2026-01-03', '2026-01-04']],
    ['0 0 * * 5-7', '2026-01-04T12:00:00Z', ['2026-01-09', '2026-01-10', '2026-01-11']],
    ['0 0 * * 1-7/3', '2026-01-04T12:00:00Z', ['2026-01-05', '2026-01-08', '2026-01-11']],
    ['0 0 1 jan-Mar *', '2026-01-04T12:00:00Z', ['2026-02-01', '2026-03-01', '2027-01-01']],
    [' 0\t0   1 1 * ', '2026-01-04T12:00:00Z', ['2027-01-01', '2028-01-01', '2029-01-01']],
    ['@Annually', '2026-01-04T12:00:00Z', ['2027-01-01', '2028-01-01', '2029-01-01']],
    ['@midnight', '2026-01-04T12:00:00Z', ['2026-01-05', '2026-01-06', '2026-01-07']],
  ])('%s after %s', (expression, after, days) => {
    expect(following(expression, 'UTC', after, 3).map((instant) => instant.slice(0, 10))).toEqual(days)
  })
})

describe('a date that never comes', () => {
  it.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30W 2 *', '0 0 L-30 4 *', '* * * 31 6 *'])(
    '%s is known at once',
    (never) => {
      for (const zone of ['UTC', 'Europe/Paris']) {
        const calendar = cron(never, zone)
        expect(calendar.isNever).toBe(true)
        expect(calendar.next(0)).toBe(null)
        expect(calendar.previous(4e12)).toBe(null)
        expect(calendar.longestGapMs(0)).toBe(null)
        expect(calendar.describe()).toContain('never happens')
      }
    },
  )

  it.each(['0 0 29 2 *', '0 0 30 2,4 *', '0 0 30 2 1', '0 0 * 2 SUN#5', '0 0 L-28 2 *', '0 0 31 1-12/11 *'])(
    '%s does come',
    (rare) => {
      expect(cron(rare, 'UTC').isNever).toBe(false)
      expect(cron(rare, 'UTC').next(Date.UTC(2026, 0, 1))).not.toBe(null)
    },
  )
})

describe('the memo', () => {
  it('gives the same frozen object for the same question, and another for another zone', () => {
    expect(cron('7 7 * * *', 'UTC')).toBe(cron('7 7 * * *', 'UTC'))
    expect(cron('7 7 * * *', 'UTC')).not.toBe(cron('7 7 * * *', 'Asia/Tokyo'))
    expect(Object.isFrozen(cron('7 7 * * *', 'UTC'))).toBe(true)
  })

  it('forgets the oldest expression when users have filled it', () => {
    const first = cron('1 1 1 1 *', 'UTC')
    for (let minute = 0; minute < 60; minute++) {
      for (let second = 0; second < 60; second++) cron(`${second} ${minute} 2 2 2 *`, 'UTC')
    }
    expect(cron('1 1 1 1 *', 'UTC')).toBe(first)
    for (let minute = 0; minute < 60; minute++) {
      for (let second = 0; second < 60; second++) cron(`${second} ${minute} 3 3 3 *`, 'UTC')
    }
    expect(cron('1 1 1 1 *', 'UTC')).not.toBe(first)
  })
})
