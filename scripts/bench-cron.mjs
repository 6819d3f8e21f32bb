/**
 * Measures `cron.next` against croner: five expressions in two zones, median of five rounds, the two taking turns
 * so that a noisy machine disturbs both alike. Run after a build: node scripts/bench-cron.mjs
 */
import { Cron as Croner } from 'croner'
import { cron } from '../dist/core/cron/cron.js'

const EXPRESSIONS = ['*/5 * * * *', '0 9 * * 1-5', '30 2 * * *', '0 0 1 * *', '0 0 29 2 *']
const ZONES = ['UTC', 'America/New_York']
const ROUNDS = 5
const ROUND_MS = 120
const RATIO_MIN = 50
/** Instants spread over two years, so that no side profits from being asked the same thing twice. */
const INSTANTS = Array.from({ length: 512 }, (_, index) => Date.UTC(2026, 0, 1) + index * 123_456_789)

function opsPerSecond(ask) {
  const startedAt = performance.now()
  let operations = 0
  let elapsedMs = 0
  let checksum = 0
  while (elapsedMs < ROUND_MS) {
    for (let i = 0; i < 16; i++) checksum += ask(operations++ % INSTANTS.length)
    elapsedMs = performance.now() - startedAt
  }
  if (Number.isNaN(checksum)) throw new Error('an answer was not a number')
  return (operations / elapsedMs) * 1_000
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]

function compare(expression, zone) {
  const ours = cron(expression, zone)
  const theirs = new Croner(expression, { timezone: zone, paused: true })
  const dates = INSTANTS.map((instant) => new Date(instant))
  const askOurs = (index) => ours.next(INSTANTS[index])
  const askTheirs = (index) => theirs.nextRun(dates[index]).getTime()
  const rounds = { ours: [], theirs: [] }
  opsPerSecond(askOurs)
  for (let round = 0; round < ROUNDS; round++) {
    rounds.theirs.push(opsPerSecond(askTheirs))
    rounds.ours.push(opsPerSecond(askOurs))
  }
  return { ours: median(rounds.ours), theirs: median(rounds.theirs) }
}

let worstRatio = Number.POSITIVE_INFINITY
console.log('expression     zone                belfry/s    croner/s     ratio')
for (const zone of ZONES) {
  for (const expression of EXPRESSIONS) {
    const { ours, theirs } = compare(expression, zone)
    const ratio = ours / theirs
    worstRatio = Math.min(worstRatio, ratio)
    const cells = [ours, theirs].map((value) => Math.round(value).toLocaleString('en').padStart(12))
    console.log(`${expression.padEnd(14)} ${zone.padEnd(16)}${cells.join('')}${ratio.toFixed(0).padStart(8)} ×`)
  }
}
console.log(`worst ratio ${worstRatio.toFixed(0)} × (wanted: ${RATIO_MIN} × or more)`)
if (worstRatio < RATIO_MIN) process.exitCode = 1
