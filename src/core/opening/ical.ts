import { zoneOffsetMs } from '../cron/zone.ts'
import { isKnownZone, resolveZone } from '../cron/zone-name.ts'
import { dateText, type IcalEvent, IcalProblem, timeText } from './ical-event.ts'
import { type IcalComponent, type IcalProperty, icalFile, type UnreadIcal, unread } from './ical-lines.ts'
import { type IcalRule, instancesOf, keptRule, ruleIn } from './ical-rule.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

/** What an iCalendar text closes, and what of it could not be taken. */
export interface IcalClosings {
  readonly events: number
  readonly closedDates: readonly string[]
  readonly closedHours: readonly string[]
  readonly unread: readonly UnreadIcal[]
  /** Where the text shows that it is no whole calendar; null for a whole one. */
  readonly broken: UnreadIcal | null
}

export interface IcalInput {
  readonly text: string
  /** The zone of the calendar. */
  readonly zone: string
  readonly now: number
}

/** Rules of a file of 1 MB can repeat millions of dates, which would take seconds to write out. */
const datesMax = 20_000

/** Reads the events of an iCalendar text as closed dates and hours. Each event is taken whole, or listed with its line. */
export function icalClosings({ text, zone, now }: IcalInput): IcalClosings {
  const file = icalFile(text)
  const closedDates = new Set<string>()
  const closedHours = new Set<string>()
  const problems = [...file.unread]
  let events = 0
  let written = 0
  for (const component of file.events) {
    try {
      if (written > datesMax) throw new IcalProblem(`is behind the first ${datesMax} dates of the file`)
      for (const entry of entriesOf(component, zone, now)) {
        const kind = / /.test(withoutStart(entry)) ? closedHours : closedDates
        kind.add(entry)
        written++
      }
      events++
    } catch (error) {
      if (!(error instanceof IcalProblem)) throw error
      const { line, name, value } = error.property ?? { line: component.line, name: 'BEGIN', value: 'VEVENT' }
      problems.push(unread(line, `${name}:${value}`, error.message))
    }
  }
  const sorted = problems.sort((a, b) => a.line - b.line)
  const [dates, hours] = [[...closedDates].sort(), [...closedHours].sort()]
  return { events, closedDates: dates, closedHours: hours, unread: sorted, broken: file.broken }
}

function withoutStart(entry: string): string {
  return entry.replace(/ from [\d-]+$/, '')
}

/** Properties that move an event in ways that calendars cannot store. */
const refused = ['RDATE', 'EXDATE', 'EXRULE', 'RECURRENCE-ID']

function entriesOf({ properties }: IcalComponent, zone: string, now: number): string[] {
  const find = (name: string) => properties.find((property) => property.name === name)
  const status = find('STATUS')
  if (status?.value.toUpperCase() === 'CANCELLED') throw new IcalProblem('is cancelled', status)
  const exception = properties.find(({ name }) => refused.includes(name))
  if (exception !== undefined) throw new IcalProblem('is not supported, so its event is left out', exception)
  const start = find('DTSTART')
  if (start === undefined) throw new IcalProblem('has no DTSTART')
  const event = eventIn(start, { end: find('DTEND'), duration: find('DURATION'), zone })
  const rules = properties.filter(({ name }) => name === 'RRULE')
  if (rules.length > 1) throw new IcalProblem('is a second rule', rules[1])
  const [given] = rules
  if (given === undefined) return datesOf(event)
  const rule: IcalRule = ruleIn(given, event, zone)
  const from = event.startMs > now ? ` from ${dateText(event.startMs)}` : ''
  if (rule.isEndless) return keptRule(rule, event).map((entry) => `${entry}${from}`)
  return instancesOf(rule, event).flatMap((startMs) => {
    return datesOf({ ...event, startMs, endMs: startMs + event.endMs - event.startMs })
  })
}

interface Rest {
  readonly end: IcalProperty | undefined
  readonly duration: IcalProperty | undefined
  readonly zone: string
}

function eventIn(start: IcalProperty, { end, duration, zone }: Rest): IcalEvent {
  const from = instantIn(start, zone)
  const endMs = end !== undefined ? instantIn(end, zone).ms : from.ms + lengthOf(duration, from.isAllDay)
  if (endMs <= from.ms) throw new IcalProblem('does not end after it begins', end ?? start)
  return { startMs: from.ms, endMs, isAllDay: from.isAllDay, isLocal: from.isLocal }
}

function lengthOf(duration: IcalProperty | undefined, isAllDay: boolean): number {
  if (duration === undefined) return isAllDay ? dayMs : 0
  const [, weeks, days, hours, minutes] =
    /^\+?P(?:(\d+)W|(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?)$/.exec(duration.value) ?? []
  const number = (text: string | undefined) => Number(text ?? 0)
  const ms = (number(weeks) * 7 + number(days)) * dayMs + (number(hours) * 60 + number(minutes)) * minuteMs
  if (ms === 0) throw new IcalProblem('is not a duration', duration)
  return ms
}

/** A date or a time of day, by the wall clock of the calendar. Seconds are cut off: calendars know minutes. */
function instantIn(property: IcalProperty, zone: string) {
  const { value, params } = property
  const [, y, mo, d, h, mi, utc] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z)?)?$/.exec(value) ?? []
  const date = `${y}-${mo}-${d}`
  const ms = Date.parse(`${date}T${h ?? '00'}:${mi ?? '00'}:00Z`)
  if (Number.isNaN(ms) || dateText(ms) !== date) {
    throw new IcalProblem('is neither a date nor a time', property)
  }
  if (h === undefined) return { ms, isAllDay: true, isLocal: true }
  const own = utc === undefined ? params.TZID : 'UTC'
  if (own === undefined) return { ms, isAllDay: false, isLocal: true }
  if (!isKnownZone(own)) throw new IcalProblem(`names the zone ${own}, which is not known`, property)
  if (resolveZone(own).name === resolveZone(zone).name) return { ms, isAllDay: false, isLocal: true }
  const guess = ms - zoneOffsetMs(own, ms)
  const at = ms - zoneOffsetMs(own, guess)
  return { ms: at + zoneOffsetMs(zone, at), isAllDay: false, isLocal: false }
}

/** One event as closed dates, and as closed hours where it begins or ends within a day. */
function datesOf({ startMs, endMs }: IcalEvent): string[] {
  const entries: string[] = []
  const firstDay = Math.ceil(startMs / dayMs)
  const endDay = Math.floor(endMs / dayMs)
  if (firstDay > endDay) return [`${dateText(startMs)} ${timeText(startMs)}-${timeText(endMs)}`]
  if (startMs < firstDay * dayMs) entries.push(`${dateText(startMs)} ${timeText(startMs)}-24:00`)
  const [from, to] = [dateText(firstDay * dayMs), dateText((endDay - 1) * dayMs)]
  if (firstDay < endDay) entries.push(from === to ? from : `${from}..${to}`)
  if (endMs > endDay * dayMs) entries.push(`${dateText(endMs)} 00:00-${timeText(endMs)}`)
  return entries
}
