import { describe, expect, it } from 'vitest'
import { type Period, periodAt } from '../../../src/core/budget/period.ts'

const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
const shown = (per: Period, zone: string, at: string) => {
  const { from, until } = periodAt({ per, zone, at: Date.parse(at) }) ?? { from: 0, until: 0 }
  return [iso(from), iso(until)]
}

describe('the period of a budget', () => {
  it.each([
    ['hour', 'Europe/Paris', '2026-07-01T12:30:00Z', '2026-07-01T12:00:00Z', '2026-07-01T13:00:00Z'],
    ['hour', 'Asia/Kolkata', '2026-07-01T12:10:00Z', '2026-07-01T11:30:00Z', '2026-07-01T12:30:00Z'],
    ['day', 'Europe/Paris', '2026-07-01T21:59:59Z', '2026-06-30T22:00:00Z', '2026-07-01T22:00:00Z'],
    ['day', 'Europe/Paris', '2026-07-01T22:00:00Z', '2026-07-01T22:00:00Z', '2026-07-02T22:00:00Z'],
    ['week', 'UTC', '2026-11-18T09:00:00Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['week', 'UTC', '1969-12-28T09:00:00Z', '1969-12-22T00:00:00Z', '1969-12-29T00:00:00Z'],
    ['month', 'Europe/Paris', '2026-02-28T23:30:00Z', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
    ['month', 'UTC', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('per %s in %s at %s', (per, zone, at, from, until) => {
    expect(shown(per, zone, at)).toEqual([from, until])
  })

  it('a day is as long as the clocks make it', () => {
    expect(shown('day', 'Europe/Paris', '2026-03-29T10:00:00Z')).toEqual([
      '2026-03-28T23:00:00Z',
      '2026-03-29T22:00:00Z',
    ])
    expect(shown('day', 'Europe/Paris', '2026-10-25T10:00:00Z')).toEqual([
      '2026-10-24T22:00:00Z',
      '2026-10-25T23:00:00Z',
    ])
  })

  it('a day whose midnight the clock skips begins after the gap', () => {
    // In Beirut clocks go from 00:00 to 01:00.
    expect(shown('day', 'Asia/Beirut', '2026-03-29T10:00:00Z')[0]).toBe('2026-03-28T22:00:00Z')
  })

  it('a day whose midnight the clock shows twice begins once', () => {
    // In Havana clocks go from 01:00 back to 00:00.
    const [from, until] = shown('day', 'America/Havana', '2026-11-01T04:30:00Z')
    expect(from).toBe('2026-11-01T04:00:00Z')
    expect(shown('day', 'America/Havana', '2026-11-01T05:30:00Z')).toEqual([from, until])
  })

  it('an hour that the clock shows twice is two hours', () => {
    expect(shown('hour', 'Europe/Paris', '2026-10-25T00:30:00Z')).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T01:00:00Z',
    ])
    expect(shown('hour', 'Europe/Paris', '2026-10-25T01:30:00Z')).toEqual([
      '2026-10-25T01:00:00Z',
      '2026-10-25T02:00:00Z',
    ])
  })

  it('a change by half an hour cuts the hour', () => {
    // On Lord Howe clocks go from 02:00 back to 01:30.
    expect(shown('hour', 'Australia/Lord_Howe', '2026-04-04T15:10:00Z')).toEqual([
      '2026-04-04T15:00:00Z',
      '2026-04-04T15:30:00Z',
    ])
  })

  it('a budget per run has no period', () => {
    expect(periodAt({ per: 'run', zone: 'UTC', at: 0 })).toBeNull()
  })

  it.each([
    'Europe/Paris',
    'America/Havana',
    'Asia/Beirut',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'America/Sao_Paulo',
  ])('periods in %s follow each other without a gap, and each instant lies in its own', (zone) => {
    for (const [per, stretches] of [
      ['hour', 4_000],
      ['day', 2_000],
      ['week', 600],
      ['month', 200],
    ] as const) {
      let at = Date.UTC(2011, 10, 1)
      for (let count = 0; count < stretches; count++) {
        const stretch = periodAt({ per, zone, at })
        if (stretch === null || stretch.from > at || stretch.until <= at) expect.fail(`${per} ${iso(at)} ${zone}`)
        const last = periodAt({ per, zone, at: stretch.until - 1 })
        if (last?.from !== stretch.from || last.until !== stretch.until) expect.fail(`${per} ${iso(at)} ${zone}: last`)
        if (count > 0 && stretch.from !== at) expect.fail(`${per} ${iso(at)} ${zone}: gap`)
        at = stretch.until
      }
    }
  })
})
