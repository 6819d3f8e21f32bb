import { on } from '../../../operations/explain/show-explained.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { type Listing, type Sheet, written } from '../../../operations/show.ts'
import type { Calendar, CalendarShown, CalendarTested, CalendarWritten } from './calendar-answer.ts'

function stateOf({ isOpen, changesAt }: Calendar, sheet: Sheet): string {
  const state = isOpen ? sheet.paint.green('open') : sheet.paint.yellow('closed')
  return changesAt === null ? state : `${state} until ${on(changesAt, sheet)}`
}

function hoursOf({ open, cron, openDates = [], closedDates = [], closedHours = [] }: Calendar): string[] {
  const some = (label: string, texts: readonly string[]) => {
    if (texts.length === 0) return []
    const more = texts.length > shownMax ? `, and ${texts.length - shownMax} more` : ''
    return [`${label} ${texts.slice(0, shownMax).join(', ')}${more}`]
  }
  return [
    ...(cron === undefined ? some('open', open ?? []) : [`open in the minutes of ${cron}`]),
    ...some('open on', openDates),
    ...some('closed on', closedDates),
    ...some('closed', closedHours),
  ].map(plainText)
}

const shownMax = 10

export const calendarsShown: Listing<readonly Calendar[], Calendar> = {
  none: 'No calendars.',
  columns: [
    ['CALENDAR', 'name', 'name'],
    ['ZONE', 'zone', 'text'],
    ['NOW', (calendar, sheet) => stateOf(calendar, sheet.inZone(calendar.zone))],
    ['HOURS', (calendar) => hoursOf(calendar).join('; ')],
    ['VERSION', 'version', 'count'],
  ],
}

export function showWritten(
  { answer, calendar, notes, imported, unread, schedules }: CalendarWritten,
  sheet: Sheet,
): string {
  const { name, zone, version } = calendar
  const lines = [
    `${written(answer, sheet)} calendar ${plainText(name)} (version ${version}, ${zone}), ${stateOf(calendar, sheet.inZone(zone))}`,
    ...hoursOf(calendar).map((line) => `  ${line}`),
    ...notes.map((note) => `  ${sheet.paint.yellow(plainText(note))}`),
    ...(imported === undefined ? [] : [`  ${imported} events of the file close it`]),
    ...unread.map(
      ({ line, text, problem }) => `  ${sheet.paint.yellow(`not taken: line ${line}: ${plainText(text)} ${problem}`)}`,
    ),
    ...(schedules === 0 ? [] : [`  ${schedules} schedules were asked again`]),
  ]
  return lines.join('\n')
}

export function showCalendar(calendar: CalendarShown, sheet: Sheet): string {
  const { name, zone, version, usedBy, versions } = calendar
  const users = Object.entries(usedBy).map(
    ([noun, names]) => `  followed by ${noun} ${names.map(plainText).join(', ')}`,
  )
  const local = sheet.inZone(zone)
  const history = versions.map(
    (one) =>
      `  version ${one.version}: ${local.stamp(one.at)} by ${plainText(one.actor)}${one.reason === null ? '' : `: ${plainText(one.reason)}`}`,
  )
  const head = `${plainText(name)} (version ${version}, ${zone}), ${stateOf(calendar, local)}`
  return [head, ...hoursOf(calendar).map((line) => `  ${line}`), ...users, ...history].join('\n')
}

export function showTested({ name, zone, openings }: CalendarTested, sheet: Sheet): string {
  if (openings.length === 0) return `${plainText(name)} does not open then`
  const local = sheet.inZone(zone)
  const lines = openings.map(({ opensAt, closesAt, clocks = '' }) => {
    const end = closesAt === null ? 'does not close' : local.stamp(closesAt)
    const lasts = closesAt === null ? '' : local.howLong(closesAt - opensAt)
    return [local.stamp(opensAt), end, lasts, sheet.paint.yellow(clocks)]
  })
  return local.aligned([['OPENS', 'CLOSES', 'LASTS', ''], ...lines])
}

export function showApplied({
  calendar,
  schedules,
}: {
  readonly calendar: readonly string[]
  readonly schedules: number
}): string {
  const asked = schedules === 0 ? '' : `; ${schedules} schedules were asked again`
  if (calendar.length === 0) return `no calendar bounds the namespace${asked}`
  return `everything in the namespace starts only while open: ${calendar.map(plainText).join(', ')}${asked}`
}
