import { type CalendarUse, openingOfAll } from './opening-of-all.ts'

/** A calendar by its name, with the hours of one of its versions. */
export interface NamedCalendar extends CalendarUse {
  readonly name: string
  readonly version: number
}

/** A time in which work may not start. */
export interface Closing {
  readonly from: number
  /** `null`: until the closings are written again. */
  readonly until: number | null
  /** The calendars that cause it. */
  readonly closedBy: readonly string[]
}

export interface ClosingsInput {
  readonly now: number
  readonly calendars: readonly NamedCalendar[]
  readonly aheadMs: number
  readonly closingsMax: number
}

/**
 * The closings to write ahead, from now on: those that begin within the time ahead, and the first one after it, which has no end. If
 * the closings are not written again in time, work waits there and does not start in closed hours.
 */
export function closings({ now, calendars, aheadMs, closingsMax }: ClosingsInput): Closing[] {
  const found: Closing[] = []
  let from: number | null = now
  while (from !== null) {
    const { open, changesAt } = openingOfAll({ at: from, calendars })
    if (open) {
      from = changesAt
      continue
    }
    const isLast = from >= now + aheadMs || found.length === closingsMax - 1
    const closedBy = calendars
      .filter((one) => !openingOfAll({ at: from as number, calendars: [one] }).open)
      .map(useText)
    found.push({ from, until: isLast ? null : changesAt, closedBy })
    from = isLast ? null : changesAt
  }
  return found
}

/** `office`, or `!office` where it is inverted. */
export function useText({ name, isInverted }: Pick<NamedCalendar, 'name' | 'isInverted'>): string {
  return isInverted ? `!${name}` : name
}
