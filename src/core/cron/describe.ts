import type { MonthDays, WeekDays } from './days.ts'
import type { ParsedCron } from './parse.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
/** From 1 to 7, so that a run over the weekend ends with Sunday. */
const WEEKDAYS = ['', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const CLOCK_TIMES_MAX = 6

/** Describes in plain English when a cron fires, from the values that its fields match and not from their spelling. */
export function describe(parsed: ParsedCron, isNever: boolean, zone: string): string {
  const days = daysPhrase(parsed)
  const months = monthsPhrase(parsed.months)
  const daily = days === '' && months === '' && !parsed.isHourWildcard ? 'every day' : ''
  const never = isNever ? 'which never happens' : ''
  const text = [timePhrase(parsed), days, months, daily, never].filter((part) => part !== '').join(', ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} (${zone})`
}

function timePhrase(parsed: ParsedCron): string {
  const seconds = sorted(parsed.seconds)
  const minutes = sorted(parsed.minutes)
  const hours = sorted(parsed.hours)
  const isWholeMinute = seconds.length === 1 && seconds[0] === 0
  if (!parsed.isHourWildcard && seconds.length === 1 && minutes.length * hours.length <= CLOCK_TIMES_MAX) {
    return `at ${joined(clockTimes(hours, minutes, isWholeMinute ? [] : seconds))}`
  }
  if (isWholeMinute && minutes.length === 1 && minutes[0] === 0 && parsed.isHourWildcard) {
    const everyHours = everyPhrase('hour', hours, 24)
    if (everyHours) return everyHours
  }
  const phrases: string[] = []
  if (!isWholeMinute) phrases.push(everyPhrase('second', seconds, 60) ?? `at ${unitPhrase('second', seconds)}`)
  const isEverySecond = phrases[0]?.startsWith('every') === true
  if (!(isEverySecond && minutes.length === 60)) phrases.push(minutesPhrase(minutes, isWholeMinute))
  const text = phrases.join(', ')
  if (hours.length < 24) return `${text}, during ${hoursPhrase(parsed, hours)}`
  return phrases.at(-1)?.startsWith('every') ? text : `${text} of every hour`
}

function minutesPhrase(minutes: number[], isWholeMinute: boolean): string {
  const every = everyPhrase('minute', minutes, 60)
  // "Every 5 minutes" beside "at second 30" would read as two schedules.
  if (every && (isWholeMinute || minutes.length === 60)) return every
  return `${isWholeMinute ? 'at' : 'during'} ${unitPhrase('minute', minutes)}`
}

/** A starred hour and the same hours in a list behave differently at a change of offset, so they read differently. */
function hoursPhrase({ isHourWildcard }: ParsedCron, hours: number[]): string {
  if (!isHourWildcard) return unitPhrase('hour', hours)
  const [first = 0, second] = hours
  if (second === undefined) return `the hour ${first} of every day`
  const step = second - first
  if (step === 1 || !isProgression(hours)) return `any of the hours ${runs(hours, String)}`
  return `each ${ordinal(step)} hour from ${first} to ${hours.at(-1)}`
}

/** "Every 5 minutes", only where the step divides the whole evenly and starts at 0. */
function everyPhrase(unit: string, values: number[], count: number): string | undefined {
  const step = count / values.length
  if (values.length === 1 || !values.every((value, index) => value === index * step)) return undefined
  return step === 1 ? `every ${unit}` : `every ${step} ${unit}s`
}

function unitPhrase(unit: string, values: number[]): string {
  const [first = 0, second = 0] = values
  if (values.length === 1) return `${unit} ${first}`
  const step = second - first
  if (values.length > 3 && step > 1 && isProgression(values)) {
    return `every ${ordinal(step)} ${unit} from ${first} to ${values.at(-1)}`
  }
  return `${unit}s ${runs(values, String)}`
}

function daysPhrase({ monthDays, weekDays }: ParsedCron): string {
  const ofMonth = monthDays.isRestricted ? `on ${monthDaysPhrase(monthDays)}` : ''
  const ofWeek = weekDays.isRestricted ? weekDaysPhrase(weekDays) : ''
  if (ofMonth === '' || ofWeek === '') return ofMonth + ofWeek
  return `${ofMonth}, or on ${ofWeek}`
}

function monthDaysPhrase(rule: MonthDays): string {
  const days = sorted(rule.days)
  const phrases: string[] = []
  const [first = 0, second = 0] = days
  if (days.length > 3 && second - first > 1 && isProgression(days)) {
    phrases.push(`every ${ordinal(second - first)} day from the ${ordinal(first)} to the ${ordinal(days.at(-1) ?? 0)}`)
  } else if (days.length > 0) {
    phrases.push(`the ${runs(days, ordinal)}`)
  }
  for (const day of sorted(rule.nearestWorkdays)) phrases.push(`the weekday nearest the ${ordinal(day)}`)
  for (const before of sorted(rule.daysBeforeLast)) phrases.push(lastDayPhrase(before))
  if (rule.isLastWorkday) phrases.push('the last weekday')
  return `${joined(phrases)} of the month`
}

function lastDayPhrase(daysBefore: number): string {
  if (daysBefore === 0) return 'the last day'
  return `the day ${daysBefore} ${daysBefore === 1 ? 'day' : 'days'} before the last`
}

function weekDaysPhrase(rule: WeekDays): string {
  const weekdays = sorted(new Set([...rule.weekdays].map(mondayFirst)))
  const phrases: string[] = []
  if (weekdays.length === 7) phrases.push('every day of the week')
  else if (weekdays.length > 0) phrases.push(runs(weekdays, weekdayName))
  const nths = [...rule.nthWeekdays].sort((a, b) => a.nth - b.nth || mondayFirst(a.weekday) - mondayFirst(b.weekday))
  for (const { weekday, nth } of nths)
    phrases.push(`the ${ordinal(nth)} ${weekdayName(mondayFirst(weekday))} of the month`)
  for (const weekday of sorted(new Set([...rule.lastWeekdays].map(mondayFirst)))) {
    phrases.push(`the last ${weekdayName(weekday)} of the month`)
  }
  return joined(phrases)
}

function monthsPhrase(months: ReadonlySet<number>): string {
  return months.size === 12 ? '' : `in ${runs(sorted(months), (month) => MONTHS[month - 1] ?? '')}`
}

function clockTimes(hours: number[], minutes: number[], seconds: number[]): string[] {
  return hours.flatMap((hour) => minutes.map((minute) => [hour, minute, ...seconds].map(twoDigits).join(':')))
}

/** Joins values, three or more in a row as "first to last". */
function runs(values: number[], spell: (value: number) => string): string {
  const phrases: string[] = []
  for (let index = 0; index < values.length; ) {
    const first = values[index] ?? 0
    let length = 1
    while (values[index + length] === first + length) length++
    if (length >= 3) phrases.push(`${spell(first)} to ${spell(first + length - 1)}`)
    else for (let value = first; value < first + length; value++) phrases.push(spell(value))
    index += length
  }
  return joined(phrases)
}

function joined(phrases: string[]): string {
  return phrases.length < 2 ? phrases.join('') : `${phrases.slice(0, -1).join(', ')} and ${phrases.at(-1)}`
}

function isProgression(values: number[]): boolean {
  const [first = 0, second = first] = values
  return values.every((value, index) => value === first + index * (second - first))
}

function ordinal(value: number): string {
  const suffixes = ['th', 'st', 'nd', 'rd']
  const isTeen = value >= 11 && value <= 13
  return `${value}${isTeen ? 'th' : (suffixes[value % 10] ?? 'th')}`
}

function mondayFirst(weekday: number): number {
  return weekday === 0 ? 7 : weekday
}

function weekdayName(weekday: number): string {
  return WEEKDAYS[weekday] ?? ''
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function sorted(values: ReadonlySet<number>): number[] {
  return [...values].sort((a, b) => a - b)
}
