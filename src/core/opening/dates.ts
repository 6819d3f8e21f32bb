import { CalendarError } from './calendar-error.ts'
import { weekdays } from './weekly-hours.ts'

const dayMs = 86_400_000
const form =
  'a date 2026-12-25, a range 2026-12-24..2026-12-31, a date of every year 12-25, or a weekday of every year 11-thu#4'

/** A set of dates, as days since 1970. */
export interface DateSet {
  has(day: number): boolean
}

/** Compiles the dates of a calendar; throws a CalendarError for an invalid text. */
export function dateSet(texts: readonly string[]): DateSet {
  const alone = new Set<number>()
  const others: ParsedDate[] = []
  for (const text of texts) {
    const date = parseDate(text)
    if (date.from === date.to && date.yearly === undefined) alone.add(date.from)
    else others.push(date)
  }
  return { has: (day) => alone.has(day) || others.some((date) => isOn(date, day)) }
}

/** A range of dates, or a range that returns every year. */
export interface ParsedDate {
  readonly from: number
  readonly to: number
  /** Month and day as `1225`, or the month and the number of a weekday in it; -1 is the last. */
  readonly yearly?: number | { readonly month: number; readonly weekday: number; readonly nth: number }
}

/** Whether the text is meant as a date. */
export function isOn({ from, to, yearly }: ParsedDate, day: number): boolean {
  if (day < from || day > to) return false
  if (yearly === undefined) return true
  const date = new Date(day * dayMs)
  const [month, inMonth] = [date.getUTCMonth() + 1, date.getUTCDate()]
  if (typeof yearly === 'number') return yearly === month * 100 + inMonth
  if (month !== yearly.month || date.getUTCDay() !== yearly.weekday) return false
  if (yearly.nth > 0) return Math.ceil(inMonth / 7) === yearly.nth
  const daysLeft = new Date(Date.UTC(date.getUTCFullYear(), month, 0)).getUTCDate() - inMonth
  return Math.floor(daysLeft / 7) === -yearly.nth - 1
}

/** Parses one entry of `openDates` or `closedDates`; both ends of a range are included. A yearly date may begin at a date: `12-25 from 2027-01-01`. */
export function parseDate(text: string): ParsedDate {
  const [, month, date, weekday, nth, start] =
    /^(\d\d)-(?:(\d\d)|([a-z]{3})#(-?[1-5]))(?: from (\S*))?$/.exec(text) ?? []
  if (month !== undefined) {
    const from = start === undefined ? Number.NEGATIVE_INFINITY : dayOf(text, text.length - start.length, start)
    return { from, to: Number.POSITIVE_INFINITY, yearly: yearlyIn(text, { month, date, weekday, nth }) }
  }
  const [from = '', to = from, ...rest] = text.split('..')
  const range = { from: dayOf(text, 0, from), to: dayOf(text, from.length + 2, to) }
  if (rest.length > 0 || range.to < range.from) {
    const problem = rest.length > 0 ? 'it has more than one ..' : 'the range ends before it begins'
    throw new CalendarError(text, { position: from.length + 2, problem, expected: form })
  }
  return range
}

interface Yearly {
  readonly month: string
  readonly date: string | undefined
  readonly weekday: string | undefined
  readonly nth: string | undefined
}

function yearlyIn(text: string, { month, date, weekday, nth }: Yearly): NonNullable<ParsedDate['yearly']> {
  // 2000 was a leap year, so that 02-29 is a date.
  dayOf(text, 0, `2000-${month}-${date ?? '01'}`)
  if (date !== undefined) return Number(month) * 100 + Number(date)
  const number = weekdays.indexOf(weekday as (typeof weekdays)[number])
  if (number >= 0) return { month: Number(month), weekday: number, nth: Number(nth) }
  throw new CalendarError(text, { position: 3, problem: `${JSON.stringify(weekday)} is not a weekday`, expected: form })
}

function dayOf(text: string, position: number, date: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  // The runtime reads the 31st of February as the 3rd of March.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== date) {
    throw new CalendarError(text, { position, problem: `${JSON.stringify(date)} is not a date`, expected: form })
  }
  return at / dayMs
}
