import { describe, expect, it } from 'vitest'
import { opening } from '../../src/core/opening/opening.ts'
import { calendars, firstDisagreement } from './opening-judge.mjs'

/** The long form is `npm run calendars`: 40 zones over ten years. */
const stretch = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2027, 0, 1) }

describe.each(['Europe/Paris', 'Australia/Lord_Howe', 'America/Santiago'])('every minute of 2026 in %s', (zone) => {
  it.each(calendars.map((calendar) => [JSON.stringify(calendar), calendar] as const))(
    'is open as the wall clock says: %s',
    (_, calendar) => {
      expect(firstDisagreement(opening, { zone, ...calendar }, stretch)).toBeNull()
    },
  )
})

it('the judge disagrees where the evaluator is wrong by a minute', () => {
  const calendar = { zone: 'UTC', open: ['mon-fri 08:00-18:00'] }
  const late: typeof opening = ({ at }) => opening({ at: at - 60_000, calendar })
  expect(firstDisagreement(late, calendar, stretch)).toBe('2026-01-01T08:00:00.000Z')
})
