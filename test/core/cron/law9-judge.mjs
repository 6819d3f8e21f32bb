/**
 * A second opinion on law 9 that shares nothing with the evaluator: it walks every minute (or second), asks Intl what the
 * wall shows, and decides from the digits alone. Slow and plain on purpose. Used by the tests and by scripts/dst.mjs.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const LEAD_MS = 4 * HOUR_MS
const QUESTIONS = 1_000
const MONTH_NAMES = ['', 'JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** Reads the digits of a zone's wall clock, written as the UTC instant with the same digits. */
export function wallClock(zone) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (instantMs) => {
    const [month, day, year, hour, minute, second] = format.format(instantMs).match(/\d+/g).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

/** Every change of a zone's offset, found hour by hour and then minute by minute. */
export function transitions(zone, fromMs, untilMs) {
  const wall = wallClock(zone)
  const found = []
  let offsetMs = wall(fromMs) - fromMs
  for (let at = fromMs + HOUR_MS; at <= untilMs; at += HOUR_MS) {
    if (wall(at) - at === offsetMs) continue
    let minute = at - HOUR_MS
    while (wall(minute) - minute === offsetMs) minute += MINUTE_MS
    found.push(minute)
    offsetMs = wall(at) - at
  }
  return found
}

/** What the wall shows at each step of a window, and before it for longer than any overlap, to know a second pass by. */
export function readWindow(zone, fromMs, untilMs, stepMs) {
  const wall = wallClock(zone)
  const instants = []
  for (let at = fromMs - LEAD_MS; at < untilMs; at += stepMs) instants.push(at)
  return { zone, fromMs, untilMs, stepMs, instants, walls: instants.map(wall) }
}

/** The firings that law 9 asks for in a window, by its words. */
export function judge(expression, { fromMs, stepMs, instants, walls }) {
  const { isFixed, matches } = matcher(expression)
  const seen = new Set()
  const firings = []
  for (let i = 1; i < instants.length; i++) {
    const shown = walls[i]
    let fires = matches(shown) && !(isFixed && seen.has(shown))
    if (isFixed) {
      for (let skipped = walls[i - 1] + stepMs; skipped < shown && !fires; skipped += stepMs) fires = matches(skipped)
      seen.add(shown)
    }
    if (fires && instants[i] >= fromMs) firings.push(instants[i])
  }
  return firings
}

export function matcher(expression) {
  const fields = expression.split(' ')
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = fields.length === 6 ? fields : ['0', ...fields]
  const hours = Array.from({ length: 24 }, (_, value) => value)
  const isFixed = !hour.startsWith('*') && !hours.every((value) => within(hour, value, 0, 23))
  const timeMatches = remembered((time) => {
    const [hours, minutes, seconds] = [
      Math.floor(time / HOUR_MS),
      Math.floor(time / MINUTE_MS) % 60,
      (time / 1_000) % 60,
    ]
    return within(hour, hours, 0, 23) && within(minute, minutes, 0, 59) && within(second, seconds, 0, 59)
  })
  const dayMatches = remembered((dayMs) => {
    const date = new Date(dayMs)
    if (!within(month, date.getUTCMonth() + 1, 1, 12, MONTH_NAMES)) return false
    const ofMonth = dayOfMonth.split(',').some((item) => isDayOfMonth(item, date))
    const ofWeek = dayOfWeek.split(',').some((item) => isDayOfWeek(item, date))
    return dayOfMonth !== '*' && dayOfWeek !== '*' ? ofMonth || ofWeek : ofMonth && ofWeek
  })
  const matches = (wallMs) => {
    const dayMs = Math.floor(wallMs / DAY_MS) * DAY_MS
    return timeMatches(wallMs - dayMs) && dayMatches(dayMs)
  }
  return { isFixed, matches }
}

function remembered(decide) {
  const answers = new Map()
  return (question) => {
    if (!answers.has(question)) answers.set(question, decide(question))
    return answers.get(question)
  }
}

function within(field, value, min, max, names = []) {
  return field.split(',').some((item) => {
    const [base, step = '1'] = item.split('/')
    const number = (text) => (/^\d+$/.test(text) ? Number(text) : names.indexOf(text.toUpperCase()))
    const [first, last = first] = base === '*' ? [min, max] : base.split('-').map(number)
    return value >= first && value <= last && (value - first) % Number(step) === 0
  })
}

function isDayOfMonth(item, date) {
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  const day = date.getUTCDate()
  if (item === 'LW') return day === workdayNear(date, lastDay, lastDay)
  if (item === 'L') return day === lastDay
  if (item.startsWith('L-')) return day === lastDay - Number(item.slice(2))
  if (item.endsWith('W')) {
    const wanted = Number(item.slice(0, -1))
    return wanted <= lastDay && day === workdayNear(date, wanted, lastDay)
  }
  return within(item, day, 1, 31)
}

/** The workday of the same month with the smallest distance. No two are equally near. */
function workdayNear(date, wanted, lastDay) {
  let best = 0
  for (let day = 1; day <= lastDay; day++) {
    const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay()
    if (weekday === 0 || weekday === 6) continue
    if (best === 0 || Math.abs(day - wanted) < Math.abs(best - wanted)) best = day
  }
  return best
}

function isDayOfWeek(item, date) {
  const weekday = date.getUTCDay()
  const number = (text) => (/^\d+$/.test(text) ? Number(text) % 7 : DAY_NAMES.indexOf(text.toUpperCase()))
  const [name, nth] = item.split('#')
  if (nth !== undefined) return weekday === number(name) && Math.ceil(date.getUTCDate() / 7) === Number(nth)
  if (item.endsWith('L')) {
    const inAWeek = new Date(date.getTime() + 7 * DAY_MS)
    return weekday === number(item.slice(0, -1)) && inAWeek.getUTCMonth() !== date.getUTCMonth()
  }
  const range = item.replace(/-SUN$/i, '-7')
  return [weekday, weekday + 7].some((value) => value <= 7 && within(range, value, 0, 6, DAY_NAMES))
}

/** Expressions that are likely to meet a change of offset at an instant, and a few that are not. */
export function expressionsNear(zone, transitionMs, count) {
  const wall = wallClock(zone)
  const date = new Date(wall(transitionMs))
  const before = new Date(wall(transitionMs - MINUTE_MS))
  const random = randomFrom(transitionMs / MINUTE_MS)
  const pick = (choices) => choices[Math.floor(random() * choices.length)]
  const hourNear = () => (pick([before, date]).getUTCHours() + pick([0, 0, 0, 1, 23])) % 24
  const hourField = () => {
    const [low, high] = [hourNear(), hourNear()].sort((a, b) => a - b)
    return pick([
      `${low}`,
      `${low}`,
      `${low},${high}`,
      `${low}-${high}`,
      `${low}-23/2`,
      '*',
      '*',
      '*/2',
      '*/3',
      '0-23',
      '1-23',
    ])
  }
  const minuteField = () =>
    pick(['0', '0', '30', '15,45', '*/20', '*/7', '*', '59', '1-29/4', `${Math.floor(random() * 60)}`])
  const monthDay = () => pick([date.getUTCDate(), before.getUTCDate()])
  const dayFields = () =>
    pick([
      '* * *',
      '* * *',
      '* * *',
      `${monthDay()} * *`,
      `* * ${pick([date, before]).getUTCDay()}`,
      `${monthDay()} * ${date.getUTCDay()}`,
      '*/2 * *',
      '* * 1-5',
      'L * *',
      `* * ${DAY_NAMES[before.getUTCDay()]}L`,
      `* * ${before.getUTCDay()}#${Math.ceil(before.getUTCDate() / 7)}`,
      `${monthDay()}W * *`,
      `* ${date.getUTCMonth() + 1} *`,
    ])
  return Array.from({ length: count }, () => `${minuteField()} ${hourField()} ${dayFields()}`)
}

/** A small deterministic generator, so that a failure can be met again. */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Where `next` and `previous` of a cron differ from the judge within a window; empty when they agree. */
export function disagreements(calendar, expected, window) {
  return [...walkedWrong(calendar, expected, window), ...askedWrong(calendar, expected, window)]
}

/** A walk asks only from one firing to another; the instants between them, in a second pass above all, are asked here. */
function askedWrong(calendar, expected, { fromMs, untilMs }) {
  const differences = []
  const strideMs = (untilMs - fromMs) / QUESTIONS
  let following = 0
  for (let at = fromMs; at < untilMs; at += strideMs) {
    while (expected[following] <= at) following += 1
    const next = calendar.next(at)
    const expectedNext = expected[following]
    const isNextRight = expectedNext === undefined ? next === null || next >= untilMs : next === expectedNext
    if (!isNextRight)
      differences.push({
        direction: `next after ${new Date(at).toISOString()}`,
        extra: [next],
        lacking: [expectedNext],
      })
    const expectedPrevious = expected[expected[following - 1] === at ? following - 2 : following - 1]
    const previous = calendar.previous(at)
    const isPreviousRight =
      expectedPrevious === undefined ? previous === null || previous < fromMs : previous === expectedPrevious
    if (isPreviousRight) continue
    differences.push({
      direction: `previous before ${new Date(at).toISOString()}`,
      extra: [previous],
      lacking: [expectedPrevious],
    })
  }
  return differences
}

function walkedWrong(calendar, expected, { fromMs, untilMs }) {
  const forwards = []
  for (let at = calendar.next(fromMs - 1); at !== null && at < untilMs; at = calendar.next(at)) forwards.push(at)
  const backwards = []
  for (let at = calendar.previous(untilMs); at !== null && at >= fromMs; at = calendar.previous(at)) backwards.push(at)
  backwards.reverse()
  const spell = (list) => list.slice(0, 40).map((at) => new Date(at).toISOString())
  const differences = []
  for (const [direction, found] of Object.entries({ next: forwards, previous: backwards })) {
    if (found.length === expected.length && found.every((at, index) => at === expected[index])) continue
    const extra = found.filter((at) => !expected.includes(at))
    const lacking = expected.filter((at) => !found.includes(at))
    differences.push({ direction, extra: spell(extra), lacking: spell(lacking) })
  }
  return differences
}
