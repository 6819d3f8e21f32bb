import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closings, type NamedCalendar } from '../../src/core/opening/closings.ts'
import type { OpeningHours } from '../../src/core/opening/opening.ts'
import { nextOpening, openingOfAll } from '../../src/core/opening/opening-of-all.ts'

const hour = 3_600_000
const aheadMs = 48 * hour
const monday = Date.UTC(2026, 10, 16)

function named(name: string, calendar: Omit<OpeningHours, 'zone'>, isInverted = false): NamedCalendar {
  return { name, version: 1, isInverted, calendar: { zone: 'UTC', ...calendar } }
}

const office = named('office', { open: ['mon-fri 08:00-18:00'] })
const night = named('night', { open: ['mon-sun 22:00-07:00'] }, true)

describe('the closings to write ahead', () => {
  it('are those that begin within the time ahead, and one more without an end', () => {
    const found = closings({ now: monday + 12 * hour, calendars: [office], aheadMs, closingsMax: 100 })
    expect(
      found.map(({ from, until }) => [(from - monday) / hour, until === null ? null : (until - monday) / hour]),
    ).toEqual([
      [18, 32],
      [42, 56],
      [66, null],
    ])
  })

  it('begin now where it is closed now, last until it really opens, and name what closes it', () => {
    const friday = monday + 4 * 24 * hour + 23 * hour
    const [first, second] = closings({ now: friday, calendars: [office, night], aheadMs, closingsMax: 100 })
    expect(first).toEqual({ from: friday, until: monday + (7 * 24 + 8) * hour, closedBy: ['office', '!night'] })
    expect(second?.closedBy).toEqual(['office'])
  })

  it('are none where nothing closes, and reach less far where there are very many', () => {
    const always = named('always', { open: ['mon-sun 00:00-24:00'] })
    expect(closings({ now: monday, calendars: [always], aheadMs, closingsMax: 100 })).toEqual([])
    const minutes = named('minutes', { cron: '*/2 * * * *' })
    const many = closings({ now: monday, calendars: [minutes], aheadMs, closingsMax: 100 })
    expect(many).toHaveLength(100)
    expect(many.at(-1)).toMatchObject({ from: monday + 199 * 60_000, until: null })
  })

  it('keep every closed minute closed, however late they are written again', () => {
    const hours = fc.constantFrom(
      'mon-fri 08:00-18:00',
      'mon-sun 22:00-07:00',
      'sat 10:00-11:00',
      'tue,thu 00:00-24:00',
    )
    const calendars = fc.array(
      fc
        .tuple(fc.array(hours, { minLength: 1, maxLength: 2 }), fc.boolean())
        .map(([open, isInverted]) => named('c', { open }, isInverted)),
      { minLength: 1, maxLength: 2 },
    )
    fc.assert(
      fc.property(calendars, fc.nat(7 * 24 * 4), (some, quarter) => {
        const now = monday + quarter * 15 * 60_000
        // The search for an opening that never comes is long, and is tried elsewhere.
        fc.pre(nextOpening({ at: now, calendars: some }) !== null)
        const found = closings({ now, calendars: some, aheadMs, closingsMax: 100 })
        const isHeld = (at: number) => found.some(({ from, until }) => from <= at && (until === null || at < until))
        for (let at = now; at < now + 5 * 24 * hour; at += 30 * 60_000) {
          if (!openingOfAll({ at, calendars: some }).open) expect(isHeld(at)).toBe(true)
          else if (at < now + aheadMs) expect(isHeld(at)).toBe(false)
        }
      }),
      { numRuns: 40 },
    )
  })
})
