import { nextOpening, nextRun } from '../../dist/core.js'

const now = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
const office = { calendar: { zone: 'Europe/Paris', open: ['mon-fri 08:00-18:00'] }, isInverted: false }
const holidays = Array.from({ length: 200 }, (_, index) => new Date(now + index * 9 * dayMs).toISOString().slice(0, 10))
const night = { calendar: { zone: 'UTC', open: ['mon-sun 22:00-06:00'], closedDates: holidays }, isInverted: true }
const closed = {
  calendar: { zone: 'Europe/Paris', open: ['mon-sun 00:00-24:00'], closedDates: ['2026-01-01..2027-02-03'] },
  isInverted: false,
}

const opening = (calendars) => (call) => nextOpening({ at: now + (call % 50_000) * 600_000, calendars })
const cron = { timing: { cron: '* * * * *', zone: 'Europe/Paris' }, calendars: [closed] }

/** What is asked of calendars, each by the number of the call. */
const kinds = {
  'nextOpening, office hours': { ask: opening([office]), calls: 400_000 },
  'nextOpening, office hours and not at night, with 200 holidays': { ask: opening([office, night]), calls: 100_000 },
  'governor, a cron of every minute before 399 closed days': {
    ask: (call) => nextRun({ now: now + (call % 1_440) * 60_000, schedule: cron, state: {} }).at,
    calls: 2_000,
  },
}

/** How often a second calendars answer, on one core. */
export async function run(bench) {
  const entries = Object.keys(kinds).map((kind) => ({
    contestant: { name: 'Belfry', place: 'nowhere' },
    setting: { name: kind },
    input: { kind, share: bench.quick ? 0.25 : 1 },
  }))
  return { rows: await bench.alternate(import.meta.url, entries, { rounds: Math.max(3, bench.rounds) }) }
}

export function child({ kind, share }) {
  const { ask, calls } = kinds[kind]
  answersPerSecond(ask, (calls * share) / 4)
  return { perSecond: answersPerSecond(ask, calls * share) }
}

function answersPerSecond(ask, calls) {
  let checksum = 0
  const startedAt = performance.now()
  for (let call = 0; call < calls; call += 1) checksum += ask(call) % 7
  if (Number.isNaN(checksum)) throw new Error('A calendar gave no instant.')
  return (calls / (performance.now() - startedAt)) * 1_000
}
