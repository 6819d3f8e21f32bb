import { Cron as Croner } from 'croner'
import { expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import { matcher, randomFrom, wallClock } from './law9-judge.mjs'

const DAY_MS = 86_400_000
const TRIPLES = 10_000
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Paris',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
].concat(['Africa/Casablanca', 'Pacific/Auckland', 'America/Sao_Paulo', 'Asia/Tokyo'])
const WALLS = new Map(ZONES.map((zone) => [zone, wallClock(zone)]))

const random = randomFrom(20_260_301)
const pick = <Choice>(choices: readonly [Choice, ...Choice[]]): Choice =>
  choices[Math.floor(random() * choices.length)] ?? choices[0]
const integer = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1))

function field(min: number, max: number): string {
  const [a, b] = [integer(min, max), integer(min, max)]
  const range = `${Math.min(a, b)}-${Math.max(a, b)}`
  return pick(['*', '*', `${a}`, `${a},${b}`, range, `*/${integer(1, max - min + 1)}`, `${range}/${integer(1, 6)}`])
}

function randomExpression(): { expression: string; dayOfMonth: string } {
  const weekday = WEEKDAYS[integer(0, 6)]
  const seconds = random() < 0.2 ? `${field(0, 59)} ` : ''
  const dayOfMonth = pick(['*', '*', '*', field(1, 31), field(1, 31), 'L', 'LW', `${integer(1, 28)}W`])
  const month = random() < 0.6 ? '*' : field(1, 12)
  const dayOfWeek = pick(['*', '*', '*', field(0, 6), '7', `${weekday}#${integer(1, 4)}`, `${weekday}L`, 'MON-FRI'])
  return { expression: `${seconds}${field(0, 59)} ${field(0, 23)} ${dayOfMonth} ${month} ${dayOfWeek}`, dayOfMonth }
}

/** Around a change of offset law 9 decides, and croner decides otherwise; see law9.test.ts. */
function isCalm(zone: string, at: number | null): boolean {
  const wall = WALLS.get(zone)
  if (at === null || wall === undefined) return true
  return wall(at - 2 * DAY_MS) - (at - 2 * DAY_MS) === wall(at + 2 * DAY_MS) - (at + 2 * DAY_MS)
}

/**
 * While croner stands in a February it takes the 30th and 31st of that month for days of March, so that it passes over
 * matching first days of March. It can go wrong only when such a day is asked for and the search touches a February.
 */
function isCronersFebruary(dayOfMonth: string, after: number, answers: number[]): boolean {
  if (dayOfMonth === '*' || /[LW]/.test(dayOfMonth)) return false
  const { matches } = matcher(`0 0 ${dayOfMonth} * *`)
  if (!matches(Date.UTC(2026, 0, 30)) && !matches(Date.UTC(2026, 0, 31))) return false
  for (let day = after - DAY_MS; day <= Math.max(...answers) + DAY_MS; day += DAY_MS) {
    if (new Date(day).getUTCMonth() === 1) return true
  }
  return false
}

it('croner gives the same next instant for 10,000 random questions away from changes of offset', {
  timeout: 120_000,
}, () => {
  let compared = 0
  let excluded = 0
  while (compared < TRIPLES) {
    const { expression, dayOfMonth } = randomExpression()
    const zone = ZONES[integer(0, ZONES.length - 1)] ?? 'UTC'
    const after = Date.UTC(2025, 0, 1) + Math.floor(random() * 8 * 365 * DAY_MS)
    const ours = cron(expression, zone).next(after)
    const theirs = new Croner(expression, { timezone: zone, paused: true }).nextRun(new Date(after))?.getTime() ?? null
    const answers = [ours, theirs].filter((answer) => answer !== null)
    if (![after, ours, theirs].every((at) => isCalm(zone, at)) || isCronersFebruary(dayOfMonth, after, answers)) {
      excluded += 1
      continue
    }
    expect(ours, `${expression} in ${zone} after ${new Date(after).toISOString()}`).toBe(theirs)
    compared += 1
  }
  expect(excluded).toBeLessThan(TRIPLES / 10)
})
