import {
  DAY_OF_MONTH,
  DAY_OF_WEEK,
  type FieldContext,
  type Piece,
  parseItem,
  parseList,
  parseValue,
  refuse,
  splitPiece,
} from './field.ts'

/** The day-of-month field. Days count from 1. */
export interface MonthDays {
  /** Whether the field is anything but exactly `*`. */
  readonly isRestricted: boolean
  readonly days: ReadonlySet<number>
  /** Days before the last one: 0 is `L`, 3 is `L-3`. */
  readonly daysBeforeLast: ReadonlySet<number>
  /** `15W`: the Monday to Friday nearest to that day within its month. */
  readonly nearestWorkdays: ReadonlySet<number>
  /** `LW` */
  readonly isLastWorkday: boolean
}

/** The day-of-week field. Sunday is 0. */
export interface WeekDays {
  readonly isRestricted: boolean
  readonly weekdays: ReadonlySet<number>
  /** `FRIL` */
  readonly lastWeekdays: ReadonlySet<number>
  /** `MON#2` */
  readonly nthWeekdays: ReadonlyArray<{ readonly weekday: number; readonly nth: number }>
}

const LAST_DAY_OFFSET_MAX = 30
const NTH_MAX = 5

export function parseMonthDays(expression: string, field: Piece): MonthDays {
  const context: FieldContext = { expression, rule: DAY_OF_MONTH }
  const days = new Set<number>()
  const daysBeforeLast = new Set<number>()
  const nearestWorkdays = new Set<number>()
  let isLastWorkday = false
  for (const item of parseList(context, field)) {
    const text = item.text.toUpperCase()
    if (text === 'LW') isLastWorkday = true
    else if (/^L([-/]|$)/.test(text)) daysBeforeLast.add(parseDaysBeforeLast(context, item))
    else if (text.endsWith('W')) nearestWorkdays.add(parseNearestWorkday(context, item))
    else for (const day of parseItem(context, item)) days.add(day)
  }
  return { isRestricted: field.text !== '*', days, daysBeforeLast, nearestWorkdays, isLastWorkday }
}

function parseDaysBeforeLast(context: FieldContext, item: Piece): number {
  const count = /^L(?:-(\d+))?$/i.exec(item.text)
  const suggestion = `Write L for the last day, or L-1 to L-${LAST_DAY_OFFSET_MAX} for a day before it`
  if (!count) refuse(context, item.position + 1, 'L takes neither a range nor a step', suggestion)
  if (count[1] === undefined) return 0
  const days = Number(count[1])
  if (days >= 1 && days <= LAST_DAY_OFFSET_MAX) return days
  return refuse(context, item.position + 2, `no month has a day ${count[1]} days before its last`, suggestion)
}

function parseNearestWorkday(context: FieldContext, item: Piece): number {
  const day = { text: item.text.slice(0, -1), position: item.position }
  const suggestion = 'Write one day with W, for instance 15W, or LW for the last weekday of the month'
  if (day.text === '') refuse(context, item.position, 'W has no day before it', suggestion)
  if (!/^\d+$/.test(day.text)) refuse(context, item.position, 'W goes with a single day', suggestion)
  return parseValue(context, day)
}

export function parseWeekDays(expression: string, field: Piece): WeekDays {
  const context: FieldContext = { expression, rule: DAY_OF_WEEK }
  const weekdays = new Set<number>()
  const lastWeekdays = new Set<number>()
  const nthWeekdays = new Map<number, { weekday: number; nth: number }>()
  for (const item of parseList(context, field)) {
    if (item.text.includes('#')) {
      const nthWeekday = parseNthWeekday(context, item)
      nthWeekdays.set(nthWeekday.weekday * 8 + nthWeekday.nth, nthWeekday)
    } else if (/L$/i.test(item.text)) lastWeekdays.add(parseLastWeekday(context, item))
    else for (const value of parseItem(context, item)) weekdays.add(value % 7)
  }
  return { isRestricted: field.text !== '*', weekdays, lastWeekdays, nthWeekdays: [...nthWeekdays.values()] }
}

function parseNthWeekday(context: FieldContext, item: Piece): { weekday: number; nth: number } {
  const [day = item, nth = item, ...more] = splitPiece(item, '#')
  const suggestion = `Write a weekday, # and a number from 1 to ${NTH_MAX}, for instance MON#2`
  if (more[0]) refuse(context, more[0].position - 1, 'it has a second #', suggestion)
  if (day.text === '') refuse(context, day.position, '# has no weekday before it', suggestion)
  if (nth.text === '') refuse(context, nth.position, '# has no number after it', suggestion)
  if (day.text.includes('-') || day.text.includes('*')) {
    refuse(context, day.position, '# goes with a single weekday', suggestion)
  }
  const weekday = parseValue(context, day) % 7
  if (/^[1-5]$/.test(nth.text)) return { weekday, nth: Number(nth.text) }
  return refuse(context, nth.position, `a month has no ${JSON.stringify(nth.text)}th weekday of a kind`, suggestion)
}

function parseLastWeekday(context: FieldContext, item: Piece): number {
  const day = { text: item.text.slice(0, -1), position: item.position }
  const suggestion = 'Write the weekday before L, for instance 5L or FRIL'
  if (day.text === '') refuse(context, item.position, 'L alone does not say which weekday', suggestion)
  if (day.text.includes('-') || day.text.includes('*')) {
    refuse(context, item.position, 'L goes with a single weekday', suggestion)
  }
  return parseValue(context, day) % 7
}
