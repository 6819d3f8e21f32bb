import { zoneOffsetMs } from '../cron/zone.ts'
import { dateText, type IcalEvent, IcalProblem, timeText } from './ical-event.ts'
import type { IcalProperty } from './ical-lines.ts'
import { weekdays } from './weekly-hours.ts'

const dayMs = 86_400_000
/** A rule with an end is stored as its dates. */
const instancesMax = 1_000

/** A rule that calendars can store: every year on a date or a weekday of a month, or every week on some weekdays. */
export interface IcalRule {
  readonly property: IcalProperty
  readonly isEndless: boolean
  readonly count: number
  readonly untilMs: number
  /** Weekdays of a weekly rule. */
  readonly days: readonly number[] | null
  /** Month, and day or numbered weekday, of a yearly rule. */
  readonly yearly: {
    readonly month: number
    readonly day?: number
    readonly weekday?: number
    readonly nth?: number
  } | null
}

const known = new Set(['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTH', 'BYMONTHDAY', 'WKST'])
const icalDays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

export function ruleIn(property: IcalProperty, event: IcalEvent, zone: string): IcalRule {
  const parts = new Map(property.value.split(';').map((part) => part.toUpperCase().split(/=(.*)/s) as [string, string]))
  const refuse = (problem: string): never => {
    throw new IcalProblem(problem, property)
  }
  if (!event.isLocal) refuse('repeats in another zone than that of the calendar')
  const strange = [...parts.keys()].find((name) => !known.has(name))
  if (strange !== undefined) refuse(`has ${strange}: rules are kept by year or week, on dates or weekdays`)
  if ((parts.get('INTERVAL') ?? '1') !== '1') refuse('leaves out weeks or years')
  const freq = parts.get('FREQ')
  if (freq !== 'YEARLY' && freq !== 'WEEKLY')
    refuse(`repeats ${freq ?? 'never'}: only weekly and yearly rules are supported`)
  const [count, until] = [parts.get('COUNT'), parts.get('UNTIL')]
  const shared = {
    property,
    isEndless: count === undefined && until === undefined,
    count: count === undefined ? Number.POSITIVE_INFINITY : countIn(count, refuse),
    untilMs: until === undefined ? Number.POSITIVE_INFINITY : untilIn(until, zone, refuse),
  }
  if (freq === 'YEARLY') return { ...shared, days: null, yearly: yearlyIn(parts, event, refuse) }
  if (parts.has('BYMONTH') || parts.has('BYMONTHDAY')) refuse('is weekly and names months')
  const named = parts
    .get('BYDAY')
    ?.split(',')
    .map((day) => icalDays.indexOf(day))
  if (named?.includes(-1)) refuse('numbers its weekdays')
  return { ...shared, days: named ?? [new Date(event.startMs).getUTCDay()], yearly: null }
}

type Refuse = (problem: string) => never

function countIn(text: string, refuse: Refuse): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : refuse('has a COUNT that is not a number of times')
}

/** The end of a rule by the wall clock of the calendar: an end in UTC may be on another date. */
function untilIn(text: string, zone: string, refuse: Refuse): number {
  const [, y, mo, d, h = '23', mi = '59', utc] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z)?)?$/.exec(text) ?? []
  const ms = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:00Z`)
  if (Number.isNaN(ms)) return refuse('has an UNTIL that is not a date')
  return utc === undefined ? ms : ms + zoneOffsetMs(zone, ms)
}

function yearlyIn(parts: ReadonlyMap<string, string>, { startMs }: IcalEvent, refuse: Refuse): IcalRule['yearly'] {
  const start = new Date(startMs)
  const month = Number(parts.get('BYMONTH') ?? start.getUTCMonth() + 1)
  const day = Number(parts.get('BYMONTHDAY') ?? start.getUTCDate())
  if (!Number.isInteger(month) || !Number.isInteger(day) || day < 1) refuse('names several months or days')
  const byDay = parts.get('BYDAY')
  if (byDay === undefined) return isDate(month, day) ? { month, day } : refuse('is on a date that does not exist')
  const [, nth = '', name = ''] = /^([+-]?[1-5])([A-Z]{2})$/.exec(byDay) ?? []
  const weekday = icalDays.indexOf(name)
  if (weekday < 0 || parts.has('BYMONTHDAY') || !parts.has('BYMONTH') || !isDate(month, 1))
    refuse('names weekdays in another way than as the nth weekday of one month')
  return { month, weekday, nth: Number(nth) }
}

/** In a leap year, so that the 29th of February is a date. */
function isDate(month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** A rule without an end, as entries of a calendar. */
export function keptRule({ property, days, yearly }: IcalRule, { startMs, endMs }: IcalEvent): string[] {
  const lengthMs = endMs - startMs
  const isWholeDays = startMs % dayMs === 0 && lengthMs % dayMs === 0
  const hours = isWholeDays ? '' : ` ${timeText(startMs)}-${timeText(endMs).replace(/^00:00$/, '24:00')}`
  const daysLong = isWholeDays ? lengthMs / dayMs : 1
  if (!isWholeDays && lengthMs > dayMs) throw new IcalProblem('repeats something longer than a day', property)
  if (days !== null) {
    const all = days.flatMap((day) => Array.from({ length: Math.min(7, daysLong) }, (_, index) => (day + index) % 7))
    const names = [...new Set(all)].sort().map((day) => weekdays[day])
    return [`${names.join(',')}${hours || ' 00:00-24:00'}`]
  }
  const { month, day, weekday, nth } = yearly as NonNullable<IcalRule['yearly']>
  if (weekday !== undefined) {
    if (daysLong > 1) throw new IcalProblem('repeats several days that begin at a weekday', property)
    return [`${two(month)}-${weekdays[weekday]}#${nth}${hours}`]
  }
  const first = Date.UTC(2001, month - 1, day as number)
  const dates = Array.from({ length: daysLong }, (_, index) => dateText(first + index * dayMs).slice(5))
  const isLeapDay = month === 2 && day === 29
  if (daysLong > 1 && (isLeapDay || dates.includes('03-01')) && dates[0] !== '03-01') {
    throw new IcalProblem('repeats days around the end of February', property)
  }
  return (isLeapDay ? ['02-29'] : dates).map((date) => `${date}${hours}`)
}

/** The beginnings of the instances of a rule with an end. */
export function instancesOf({ property, days, yearly, count, untilMs }: IcalRule, { startMs }: IcalEvent): number[] {
  const found: number[] = []
  const timeMs = startMs % dayMs
  const take = (day: number) => {
    const at = day + timeMs
    if (at >= startMs && at <= untilMs && found.length < count) found.push(at)
  }
  const isOver = (at: number) => found.length >= count || at > untilMs
  if (days !== null) {
    for (let day = startMs - timeMs; !isOver(day) && found.length <= instancesMax; day += dayMs) {
      if (days.includes(new Date(day).getUTCDay())) take(day)
    }
  } else {
    const first = new Date(startMs).getUTCFullYear()
    for (let year = first; !isOver(Date.UTC(year, 0)) && year < first + instancesMax; year++) {
      const day = dayOfYear(year, yearly as NonNullable<IcalRule['yearly']>)
      if (day !== null) take(day)
    }
  }
  if (found.length > instancesMax) throw new IcalProblem(`has more than ${instancesMax} instances`, property)
  return found
}

function dayOfYear(year: number, { month, day, weekday, nth = 1 }: NonNullable<IcalRule['yearly']>): number | null {
  if (weekday === undefined) {
    const at = Date.UTC(year, month - 1, day)
    return new Date(at).getUTCMonth() === month - 1 ? at : null
  }
  const edge = nth > 0 ? Date.UTC(year, month - 1, 1) : Date.UTC(year, month, 0)
  const off = (weekday - new Date(edge).getUTCDay() + (nth > 0 ? 7 : -7)) % 7
  const at = edge + (off + (nth > 0 ? nth - 1 : nth + 1) * 7) * dayMs
  return new Date(at).getUTCMonth() === month - 1 ? at : null
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
