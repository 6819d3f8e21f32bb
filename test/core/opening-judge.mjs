/**
 * A second opinion on opening hours that shares nothing with the evaluator: it walks every minute, asks Intl what the wall shows, and
 * decides from the digits alone. Used by the tests and by scripts/calendar-minutes.mjs.
 */

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS
const DAY_MS = 86_400_000
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Reads what a zone's wall clock shows, as the UTC instant with the same digits. Clocks change on the quarter of an hour only. */
export function wallClock(zone) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  let quarter = Number.NaN
  let offsetMs = 0
  return (at) => {
    if (Math.floor(at / QUARTER_MS) !== quarter) {
      quarter = Math.floor(at / QUARTER_MS)
      const [month, day, year, hour, minute] = format
        .format(quarter * QUARTER_MS)
        .match(/\d+/g)
        .map(Number)
      offsetMs = Date.UTC(year, month - 1, day, hour, minute) - quarter * QUARTER_MS
    }
    return at + offsetMs
  }
}

/** Whether a calendar is open when the wall shows this. */
export function isOpenAt({ open = [], openDates = [], closedDates = [], closedHours = [] }) {
  const hours = open.map(rule)
  const closed = closedHours.map(rule)
  const [opens, closes] = [openDates.map(dateRule), closedDates.map(dateRule)]
  let known = Number.NaN
  let today = {}
  return (wall) => {
    const day = Math.floor(wall / DAY_MS)
    if (day !== known) {
      known = day
      const date = dateOf(day)
      const isNow = (rules, on) => rules.filter(({ on: own }) => own(on))
      today = {
        isClosed: closes.some((is) => is(date)),
        isOpen: opens.some((is) => is(date)),
        own: [isNow(hours, date), isNow(closed, date)],
        before: [isNow(hours, dateOf(day - 1)), isNow(closed, dateOf(day - 1))],
      }
    }
    const minute = Math.floor((wall - day * DAY_MS) / MINUTE_MS)
    const isAmong = (index) =>
      today.own[index].some(({ from, to }) => from <= minute && minute < to) ||
      today.before[index].some(({ from, to }) => from <= minute + 1_440 && minute + 1_440 < to)
    if (today.isClosed || isAmong(1)) return false
    return today.isOpen || isAmong(0)
  }
}

function dateOf(day) {
  const date = new Date(day * DAY_MS)
  return {
    iso: date.toISOString().slice(0, 10),
    weekday: date.getUTCDay(),
    day: date.getUTCDate(),
    month: date.getUTCMonth(),
  }
}

/** `mon-fri 08:00-18:00`, or a date in place of the days. */
function rule(text) {
  const [when, times] = text.split(' ')
  const [from, end] = times.split('-').map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)))
  const to = end > from ? end : end + 1_440
  if (/^\d/.test(when)) {
    const is = dateRule(when)
    return { on: is, from, to }
  }
  const days = new Set()
  for (const range of when.split(',')) {
    const [first, last = first] = range.split('-').map((name) => DAYS.indexOf(name))
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day)
      if (day === last) break
    }
  }
  return { on: ({ weekday }) => days.has(weekday), from, to }
}

function dateRule(text) {
  if (/^\d\d-\d\d$/.test(text)) return ({ iso }) => iso.slice(5) === text
  if (text.includes('#')) {
    const [month, name, nth] = text.split(/[-#]/)
    return (date) =>
      date.month === Number(month) - 1 && DAYS[date.weekday] === name && Math.ceil(date.day / 7) === Number(nth)
  }
  const [from, to = from] = text.split('..')
  return ({ iso }) => from <= iso && iso <= to
}

/** The first minute of a stretch at which the evaluator and the wall disagree, or null. */
export function firstDisagreement(opening, calendar, { fromMs, untilMs }) {
  const wall = wallClock(calendar.zone)
  const isOpen = isOpenAt(calendar)
  let { open, changesAt } = opening({ at: fromMs, calendar })
  for (let at = fromMs; at < untilMs; at += MINUTE_MS) {
    if (changesAt !== null && at >= changesAt) {
      const next = opening({ at, calendar })
      if (changesAt !== at || next.open === open) return new Date(changesAt).toISOString()
      open = next.open
      changesAt = next.changesAt
    }
    if (isOpen(wall(at)) !== open) return new Date(at).toISOString()
  }
  return null
}

/** Calendars that meet clock changes, midnights, leap days and each other's dates. */
export const calendars = [
  { open: ['mon-fri 08:00-18:00'], closedDates: ['12-25', '2026-08-03..2026-08-21', '11-thu#4'] },
  { open: ['mon-sun 22:00-06:00'], openDates: ['02-29', '2027-01-01'] },
  { open: ['sat-sun 00:00-24:00', 'wed 12:00-13:30', 'wed 13:15-14:00'], closedHours: ['sun 01:00-04:00'] },
  { open: ['fri 23:30-02:30', 'sun 02:07-03:01'], closedHours: ['2026-03-29 02:00-24:00', '10-31 23:00-03:00'] },
]
