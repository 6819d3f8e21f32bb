import { describe, expect, it } from 'vitest'
import { cron } from '../../../../src/core/cron/cron.ts'
import { upcomingShown } from '../../../../src/operations/schedule/show.ts'
import type { UpcomingRun } from '../../../../src/operations/schedule/upcoming.ts'
import { sheetOf } from '../shown.ts'

const minuteMs = 60_000

function sheetAt(now: string, isColoured = false) {
  return sheetOf({ now: Date.parse(now), zone: 'America/New_York', isColoured })
}

/** The occurrences of a cron, as the verb answers them. */
function firings(expression: string, zone: string, from: string, count: number): UpcomingRun[] {
  const calendar = cron(expression, zone)
  let at = Date.parse(from)
  return Array.from({ length: count }, () => {
    at = calendar.next(at) ?? 0
    const dst = calendar.clockMark(at, calendar.previous(at))
    return { at, dueAt: at, source: 'baseline-cron', isEstimate: false, zone, ...(dst !== null && { dst }) }
  })
}

function shown(expression: string, zone: string, now: string, count: number): string[] {
  return upcomingShown(firings(expression, zone, now, count), sheetAt(now)).split('\n')
}

const once: UpcomingRun = { at: 0, dueAt: 0, source: 'baseline-once', isEstimate: false }

describe('the occurrences to come', () => {
  it('are shown by the clock of their own zone, in UTC, and by how far away they are', () => {
    expect(shown('0 2 * * 1-5', 'Europe/Paris', '2026-11-15T16:00Z', 2)).toEqual([
      '2026-11-16 02:00 Europe/Paris  2026-11-16T01:00Z  in 9 h',
      '2026-11-17 02:00 Europe/Paris  2026-11-17T01:00Z  in 1 d 9 h',
    ])
  })

  it('over the night in which the clocks go forward say which time does not exist', () => {
    expect(shown('30 2 * * *', 'Europe/Paris', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28 02:30 Europe/Paris  2026-03-28T01:30Z  in 1 h 30 min',
      '2026-03-29 03:00 Europe/Paris  2026-03-29T01:00Z  in 1 d 1 h     02:30 on 2026-03-29 does not exist, so it runs at the first instant after the gap',
      '2026-03-30 02:30 Europe/Paris  2026-03-30T00:30Z  in 2 d',
    ])
  })

  it('over the night in which they go back say that the time comes twice, and that a day has 25 hours', () => {
    expect(shown('30 2 * * *', 'Europe/Paris', '2026-10-24T12:30Z', 3)).toEqual([
      '2026-10-25 02:30 Europe/Paris  2026-10-25T00:30Z  in 12 h      02:30 comes twice on 2026-10-25, and only the first pass has a firing',
      '2026-10-26 02:30 Europe/Paris  2026-10-26T01:30Z  in 1 d 13 h  25h after the one before, because the clocks go back by 1h in between',
      '2026-10-27 02:30 Europe/Paris  2026-10-27T01:30Z  in 2 d 13 h',
    ])
  })

  it('that the wall cannot tell apart are told apart', () => {
    expect(shown('30 * * * *', 'Europe/Paris', '2026-10-25T00:00Z', 3)).toEqual([
      '2026-10-25 02:30 Europe/Paris  2026-10-25T00:30Z  in 30 min      the first of two: 02:30 comes twice on 2026-10-25, and each pass has a firing',
      '2026-10-25 02:30 Europe/Paris  2026-10-25T01:30Z  in 1 h 30 min  the second of two: 02:30 comes twice on 2026-10-25, and each pass has a firing',
      '2026-10-25 03:30 Europe/Paris  2026-10-25T02:30Z  in 2 h 30 min',
    ])
  })

  it('over a change of half an hour say half an hour', () => {
    expect(shown('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', 2)).toEqual([
      '2026-04-05 01:45 Australia/Lord_Howe  2026-04-04T14:45Z  in 15 h      01:45 comes twice on 2026-04-05, and only the first pass has a firing',
      '2026-04-06 01:45 Australia/Lord_Howe  2026-04-05T15:15Z  in 1 d 15 h  24h30m after the one before, because the clocks go back by 30m in between',
    ])
  })

  it('without a zone of their own are shown by the clock of whoever reads', () => {
    const at = Date.parse('2026-12-01T14:00Z')
    expect(upcomingShown([{ ...once, at, dueAt: at }], sheetAt('2026-12-01T13:00Z'))).toBe(
      '2026-12-01 09:00 America/New_York  2026-12-01T14:00Z  in 1 h',
    )
  })

  it('say how far their spread moves them, whose wish they are, and what is only an estimate', () => {
    const at = Date.parse('2026-12-01T14:00Z')
    const runs: UpcomingRun[] = [
      { ...once, at, dueAt: at - 2 * minuteMs },
      { ...once, at, dueAt: at + 5 * minuteMs, source: 'baseline-interval', isEstimate: true },
      { ...once, at, dueAt: at, source: 'ai-oneshot' },
    ]
    expect(upcomingShown(runs, sheetAt('2026-12-01T13:30Z')).split('\n')).toEqual([
      '2026-12-01 09:00 America/New_York  2026-12-01T14:00Z  in 28 min  spread: starts 2 min earlier',
      '2026-12-01 09:00 America/New_York  2026-12-01T14:00Z  in 35 min  spread: starts 5 min later; from here on an estimate: as if runs took no time',
      '2026-12-01 09:00 America/New_York  2026-12-01T14:00Z  in 30 min  by a hint',
    ])
  })

  it('are aligned with colours as they are without, and none are said to be none', () => {
    const runs = firings('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00Z', 3)
    const coloured = upcomingShown(runs, sheetAt('2026-10-24T12:00Z', true))
    expect(coloured).toContain('\u001b[')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
    const plain = coloured.replace(/\u001b\[\d+m/g, '')
    expect(plain).toBe(upcomingShown(runs, sheetAt('2026-10-24T12:00Z')))
    expect(upcomingShown([], sheetAt('2026-10-24T12:00Z'))).toBe('It has no next occurrence.')
  })
})
