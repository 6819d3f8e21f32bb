import type { MonthDays, WeekDays } from './days.ts'
import { type Mask, maskOf } from './mask.ts'
import type { ParsedCron } from './parse.ts'

/** A compiled expression; nothing in it depends on a zone. */
export interface Calendar {
  readonly seconds: Mask
  readonly minutes: Mask
  readonly hours: Mask
  /** Bit 0 is January. */
  readonly months: number
  /** The matching days of every shape a month can have, bit 0 for the 1st; see `monthShape`. */
  readonly daysByShape: Int32Array
  readonly firstSecondOfDay: number
  readonly lastSecondOfDay: number
  /** Law 9: a fixed hour is never lost in a gap and never doubled in an overlap. */
  readonly isFixed: boolean
  /** No month that can exist has a matching day. */
  readonly isNever: boolean
}

const SHAPES = 28
const LENGTHS_BY_MONTH = [[31], [28, 29], [31], [30], [31], [30], [31], [31], [30], [31], [30], [31]]

/**
 * The weekday of its 1st and its number of days define a month, which makes 28 shapes. Every day rule (L, W, #, and the either-or
 * of the two day fields) is evaluated once for each of them.
 */
export function monthShape(firstWeekday: number, days: number): number {
  return firstWeekday * 4 + days - 28
}

export function compile(parsed: ParsedCron): Calendar {
  const daysByShape = new Int32Array(SHAPES)
  for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
    for (let days = 28; days <= 31; days++) {
      daysByShape[monthShape(firstWeekday, days)] = matchingDays(parsed, firstWeekday, days)
    }
  }
  const { seconds, minutes, hours } = parsed
  const months = maskOf([...parsed.months].map((month) => month - 1)).low
  return {
    seconds: maskOf(seconds),
    minutes: maskOf(minutes),
    hours: maskOf(hours),
    months,
    daysByShape,
    firstSecondOfDay: (Math.min(...hours) * 60 + Math.min(...minutes)) * 60 + Math.min(...seconds),
    lastSecondOfDay: (Math.max(...hours) * 60 + Math.max(...minutes)) * 60 + Math.max(...seconds),
    isFixed: !parsed.isHourWildcard,
    isNever: !canHappen(months, daysByShape),
  }
}

function matchingDays({ monthDays, weekDays }: ParsedCron, firstWeekday: number, days: number): number {
  if (!weekDays.isRestricted && !monthDays.isRestricted) return 2 ** days - 1
  if (!weekDays.isRestricted) return daysOfMonth(monthDays, firstWeekday, days)
  if (!monthDays.isRestricted) return daysOfWeek(weekDays, firstWeekday, days)
  return daysOfMonth(monthDays, firstWeekday, days) | daysOfWeek(weekDays, firstWeekday, days)
}

function daysOfMonth(rule: MonthDays, firstWeekday: number, days: number): number {
  let mask = 0
  for (const day of rule.days) if (day <= days) mask |= bitOf(day)
  for (const before of rule.daysBeforeLast) if (before < days) mask |= bitOf(days - before)
  for (const day of rule.nearestWorkdays) if (day <= days) mask |= bitOf(nearestWorkday(day, firstWeekday, days))
  if (rule.isLastWorkday) mask |= bitOf(nearestWorkday(days, firstWeekday, days))
  return mask
}

/** Saturday moves back and Sunday forward, except where that would leave the month. */
function nearestWorkday(day: number, firstWeekday: number, days: number): number {
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? day + 2 : day - 1
  if (weekday === 0) return day === days ? day - 2 : day + 1
  return day
}

function daysOfWeek(rule: WeekDays, firstWeekday: number, days: number): number {
  let mask = 0
  for (let day = 1; day <= days; day++) {
    const weekday = (firstWeekday + day - 1) % 7
    const isLast = day + 7 > days
    if (rule.weekdays.has(weekday) || (isLast && rule.lastWeekdays.has(weekday))) mask |= bitOf(day)
  }
  for (const { weekday, nth } of rule.nthWeekdays) {
    const day = 1 + ((weekday - firstWeekday + 7) % 7) + (nth - 1) * 7
    if (day <= days) mask |= bitOf(day)
  }
  return mask
}

function bitOf(day: number): number {
  return 1 << (day - 1)
}

/** Within 28 years each month begins on each weekday, so the shapes alone decide. */
function canHappen(months: number, daysByShape: Int32Array): boolean {
  for (const [month, lengths] of LENGTHS_BY_MONTH.entries()) {
    if (((months >>> month) & 1) === 0) continue
    for (const days of lengths) {
      for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
        if (daysByShape[monthShape(firstWeekday, days)] !== 0) return true
      }
    }
  }
  return false
}
