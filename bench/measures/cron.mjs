const expressions = ['*/5 * * * *', '0 9 * * 1-5', '30 2 * * *', '0 0 1 * *', '0 0 29 2 *']
const zones = ['UTC', 'America/New_York']
const now = Date.UTC(2026, 0, 1)
/** Instants spread over two years, so that no side profits from being asked the same thing twice. */
const instants = Array.from({ length: 512 }, (_, index) => now + index * 123_456_789)

/** The next instant of an expression in a zone, the expression parsed beforehand: answers a second. */
export async function run(bench) {
  const roundMs = bench.quick ? 60 : 150
  const entries = Object.keys(askers).map((contestant) => ({
    contestant: { name: contestant, place: 'nowhere' },
    setting: { name: 'parsed beforehand' },
    input: { roundMs },
  }))
  // Each is over in a moment, so a quick run takes three rounds as well.
  return { rows: await bench.alternate(import.meta.url, entries, { rounds: Math.max(3, bench.rounds) }) }
}

const askers = {
  async Belfry() {
    const { cron } = await import('../../dist/core.js')
    return (expression, zone) => {
      const calendar = cron(expression, zone)
      return (index) => calendar.next(instants[index])
    }
  },
  async croner() {
    const { Cron } = await import('croner')
    const dates = instants.map((instant) => new Date(instant))
    return (expression, zone) => {
      const calendar = new Cron(expression, { timezone: zone, paused: true })
      return (index) => calendar.nextRun(dates[index]).getTime()
    }
  },
  async 'cron-parser'() {
    const { CronExpressionParser } = await import('cron-parser')
    const dates = instants.map((instant) => new Date(instant))
    return (expression, zone) => {
      const calendar = CronExpressionParser.parse(expression, { tz: zone })
      return (index) => {
        calendar.reset(dates[index])
        return calendar.next().getTime()
      }
    }
  },
}

export async function child({ contestant, roundMs }) {
  const asker = await askers[contestant.name]()
  const figures = {}
  for (const zone of zones) {
    for (const expression of expressions) {
      const ask = asker(expression, zone)
      answersPerSecond(ask, roundMs / 3)
      figures[`${expression} ${zone}`] = answersPerSecond(ask, roundMs)
    }
  }
  return figures
}

function answersPerSecond(ask, forMs) {
  const startedAt = performance.now()
  let answers = 0
  let elapsedMs = 0
  let checksum = 0
  while (elapsedMs < forMs) {
    for (let i = 0; i < 16; i++) checksum += ask(answers++ % instants.length)
    elapsedMs = performance.now() - startedAt
  }
  if (Number.isNaN(checksum)) throw new Error('an answer was not a number')
  return (answers / elapsedMs) * 1_000
}
