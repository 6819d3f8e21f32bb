import { type Opening, type OpeningHours, opening, openingHorizonMs } from './opening.ts'

/** A calendar as a schedule, queue or namespace names it: `office`, or `!office` for the time when it is closed. */
export interface CalendarUse {
  readonly calendar: OpeningHours
  readonly isInverted: boolean
}

/** Whether all calendars are open at an instant, and when that changes. Without any it is always open. */
export function openingOfAll({ at, calendars }: OpeningOfAllInput): Opening {
  const first = openingAt(at, calendars)
  let { changesAt } = first
  while (changesAt !== null && changesAt - at <= openingHorizonMs) {
    const next = openingAt(changesAt, calendars)
    if (next.open !== first.open) return { open: first.open, changesAt }
    changesAt = next.changesAt
  }
  return { open: first.open, changesAt: null }
}

export interface OpeningOfAllInput {
  readonly at: number
  readonly calendars: readonly CalendarUse[]
}

/** The first instant at or after one at which all calendars are open, or null where that is over 400 days ahead. */
export function nextOpening(input: OpeningOfAllInput): number | null {
  const { open, changesAt } = openingOfAll(input)
  return open ? input.at : changesAt
}

/** Whether all are open at an instant, and the first instant at which one of them changes. */
function openingAt(at: number, calendars: readonly CalendarUse[]): Opening {
  let open = true
  let changesAt: number | null = null
  for (const { calendar, isInverted } of calendars) {
    const own = opening({ at, calendar })
    if (own.open === isInverted) open = false
    if (own.changesAt !== null) changesAt = Math.min(changesAt ?? own.changesAt, own.changesAt)
  }
  return { open, changesAt }
}
