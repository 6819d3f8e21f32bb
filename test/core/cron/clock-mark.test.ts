import { describe, expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'

const paris = 'Europe/Paris'
const lordHowe = 'Australia/Lord_Howe'
const hourMs = 3_600_000

/** The firings between two instants, by their UTC text, with what is told of each. */
function marks(expression: string, zone: string, from: string, until: string): Record<string, string> {
  const calendar = cron(expression, zone)
  const found: Record<string, string> = {}
  for (let at = calendar.next(Date.parse(from) - 1); at !== null && at <= Date.parse(until); at = calendar.next(at)) {
    const told = calendar.clockMark(at, calendar.previous(at))
    if (told !== null) found[new Date(at).toISOString().slice(0, 16)] = `${told.mark}: ${told.says}`
  }
  return found
}

describe('a fixed time', () => {
  it('that the night of the change does not have is told to run after the gap, and only then', () => {
    expect(marks('30 2 * * *', paris, '2026-03-27T00:00Z', '2026-03-31T00:00Z')).toEqual({
      '2026-03-29T01:00':
        'after-gap: 02:30 on 2026-03-29 does not exist, so it runs at the first instant after the gap',
    })
  })

  it('of which several fall into the gap is told to run once for all of them', () => {
    expect(marks('*/10 2 * * *', paris, '2026-03-29T00:00Z', '2026-03-29T12:00Z')).toEqual({
      '2026-03-29T01:00':
        'after-gap: 02:00 to 02:50 on 2026-03-29 do not exist, so they run once, at the first instant after the gap',
    })
  })

  it('that is itself the first instant after the gap is not told to have been moved', () => {
    expect(marks('0 3 * * *', paris, '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual({
      '2026-03-29T01:00': 'clocks-forward: 23h after the one before, because the clocks go forward by 1h in between',
    })
  })

  it('that comes twice is told to count once, and the day after it that it is an hour more away', () => {
    expect(marks('30 2 * * *', paris, '2026-10-24T00:00Z', '2026-10-28T00:00Z')).toEqual({
      '2026-10-25T00:30': 'first-of-two: 02:30 comes twice on 2026-10-25, and only the first pass has a firing',
      '2026-10-26T01:30': 'clocks-back: 25h after the one before, because the clocks go back by 1h in between',
    })
  })

  it('just before and just after what comes twice is not told to come twice', () => {
    const found = marks('59 1 * * *', paris, '2026-10-25T00:00Z', '2026-10-25T23:00Z')
    expect({ ...found, ...marks('0 3 * * *', paris, '2026-10-25T00:00Z', '2026-10-25T23:00Z') }).toEqual({
      '2026-10-25T02:00': 'clocks-back: 25h after the one before, because the clocks go back by 1h in between',
    })
  })

  it('is told of half an hour where the clocks change by half an hour', () => {
    expect(marks('15 2 * * *', lordHowe, '2026-10-03T00:00Z', '2026-10-05T00:00Z')).toEqual({
      '2026-10-03T15:30':
        'after-gap: 02:15 on 2026-10-04 does not exist, so it runs at the first instant after the gap',
    })
    expect(marks('45 1 * * *', lordHowe, '2026-04-03T00:00Z', '2026-04-06T00:00Z')).toEqual({
      '2026-04-04T14:45': 'first-of-two: 01:45 comes twice on 2026-04-05, and only the first pass has a firing',
      '2026-04-05T15:15': 'clocks-back: 24h30m after the one before, because the clocks go back by 30m in between',
    })
  })

  it('that comes once a month is told of the change without a count of hours', () => {
    expect(marks('0 9 1 * *', paris, '2026-02-02T00:00Z', '2026-05-02T00:00Z')).toEqual({
      '2026-04-01T07:00': 'clocks-forward: the clocks go forward by 1h between the one before and this',
    })
  })
})

describe('a wildcard time', () => {
  it('that does not exist is told to be left out by what follows it', () => {
    expect(marks('30 */2 * * *', paris, '2026-03-28T20:00Z', '2026-03-29T12:00Z')).toEqual({
      '2026-03-29T02:30': 'left-out: 02:30 on 2026-03-29 does not exist and is left out',
    })
    expect(marks('*/20 * * * *', paris, '2026-03-28T20:00Z', '2026-03-29T12:00Z')).toEqual({
      '2026-03-29T01:00': 'left-out: 02:00 to 02:40 on 2026-03-29 do not exist and are left out',
    })
  })

  it('that comes twice is told which of the two it is', () => {
    expect(marks('30 * * * *', paris, '2026-10-24T20:00Z', '2026-10-25T12:00Z')).toEqual({
      '2026-10-25T00:30': 'first-of-two: the first of two: 02:30 comes twice on 2026-10-25, and each pass has a firing',
      '2026-10-25T01:30':
        'second-of-two: the second of two: 02:30 comes twice on 2026-10-25, and each pass has a firing',
    })
  })
})

it('nothing is told in a zone whose clocks never change, nor of a first firing that has none before it', () => {
  expect(marks('30 2 * * *', 'UTC', '2026-03-01T00:00Z', '2026-11-01T00:00Z')).toEqual({})
  expect(cron('0 9 * * *', paris).clockMark(Date.parse('2026-03-29T07:00Z'), null)).toBeNull()
})

describe.each([paris, lordHowe, 'America/New_York', 'Africa/Casablanca'])('over two years in %s', (zone) => {
  const stepMs = hourMs / 4
  const fromMs = Date.UTC(2026, 0, 1)
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'long' })
  const walls = Array.from({ length: 2 * 366 * 96 }, (_, step) => {
    return format.format(fromMs + step * stepMs).replace(/ [^ ]+$/, '')
  })

  it('what is told to come twice is what the wall shows twice, and nothing else is', () => {
    const calendar = cron('*/15 * * * *', zone)
    const told: string[] = []
    const seen: string[] = []
    for (const [step, wall] of walls.entries()) {
      const at = fromMs + step * stepMs
      const mark = calendar.clockMark(at, at - stepMs)?.mark
      if (mark?.endsWith('of-two')) told.push(`${mark} ${wall}`)
      if (walls[step + 2] === wall || walls[step + 4] === wall) seen.push(`first-of-two ${wall}`)
      if (walls[step - 2] === wall || walls[step - 4] === wall) seen.push(`second-of-two ${wall}`)
    }
    expect(told).toEqual(seen)
    expect(told.length).toBeGreaterThan(0)
  })
})
