import { CalendarError } from './calendar-error.ts'

const dayMs = 86_400_000
const form = 'a date 2026-12-25, a range 2026-12-24..2026-12-31, or a date of every year 12-25'

/** A set of dates, as days since 1970. */
export interface DateSet {
  has(day: number): boolean
}

/** Compiles the dates of a calendar; throws a CalendarError for an invalid text. */
export function dateSet(texts: readonly string[]): DateSet {
  const ranges: { readonly from: number; readonly to: number }[] = []
  const alone = new Set<number>()
  const yearly = new Set<number>()
  for (const text of texts) {
    const date = parseDate(text)
    if ('yearly' in date) yearly.add(date.yearly)
    else if (date.from === date.to) alone.add(date.from)
    else ranges.push(date)
  }
  const isRanged = (day: number) => ranges.some(({ from, to }) => from <= day && day <= to)
  return { has: (day) => alone.has(day) || isRanged(day) || (yearly.size > 0 && yearly.has(monthDay(day))) }
}

type ParsedDate = { readonly from: number; readonly to: number } | { readonly yearly: number }

/** Parses one entry of `openDates` or `closedDates`; both ends of a range are included. */
export function parseDate(text: string): ParsedDate {
  const [, month, date] = /^(\d\d)-(\d\d)$/.exec(text) ?? []
  if (month !== undefined) {
    // 2000 was a leap year, so that 02-29 is a date.
    dayOf(text, 0, `2000-${text}`)
    return { yearly: Number(month) * 100 + Number(date) }
  }
  const [from = '', to = from, ...rest] = text.split('..')
  const range = { from: dayOf(text, 0, from), to: dayOf(text, from.length + 2, to) }
  if (rest.length > 0 || range.to < range.from) {
    const problem = rest.length > 0 ? 'it has more than one ..' : 'the range ends before it begins'
    throw new CalendarError(text, { position: from.length + 2, problem, expected: form })
  }
  return range
}

function dayOf(text: string, position: number, date: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  // The runtime reads the 31st of February as the 3rd of March.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== date) {
    throw new CalendarError(text, { position, problem: `${JSON.stringify(date)} is no date`, expected: form })
  }
  return at / dayMs
}

function monthDay(day: number): number {
  const date = new Date(day * dayMs)
  return (date.getUTCMonth() + 1) * 100 + date.getUTCDate()
}
