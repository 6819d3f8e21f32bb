// biome-ignore-all lint/suspicious/noThenProperty: a rule says in `then` what it does.
// Forty simulated minutes of a flash sale: ten endpoints in four tiers, a surge and its recovery, watched in several ways.
//
//   node main.mjs            compares fixed intervals with rules and with a scripted model
//
// Nothing waits: the clock of belfry/testing goes from one instant to the next. The endpoints are handlers of this program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Belfry } from 'belfry'
import { drain, TestClock } from 'belfry/testing'

const minute = 60_000
const minutes = 40

/** What an endpoint is for decides what the sale does to it. */
const tiers = [
  { tier: 'money', endpoints: ['orders', 'payments'] },
  { tier: 'database', endpoints: ['queue', 'connections', 'replicas'] },
  { tier: 'shop', endpoints: ['pages', 'search', 'stock'] },
  { tier: 'comfort', endpoints: ['mail', 'reports'] },
]
/** The queue comes first: the rules of its siblings name it. */
const inOrder = tiers
  .flatMap(({ tier, endpoints }) => endpoints.map((name) => ({ tier, name })))
  .toSorted((a, b) => Number(b.name === 'queue') - Number(a.name === 'queue'))
const bounds = { min: '15s', max: '15m' }
const [minMs, maxMs] = [15_000, 15 * minute]

/** The sale begins after 9 minutes; the load passes 200 three minutes later, and is over after 25. */
const saleAt = 9 * minute
const alarmingLoad = 200
function loadAt(ms) {
  if (ms < saleAt) return 20
  if (ms < 15 * minute) return Math.round(20 + ((ms - saleAt) / (6 * minute)) * 400)
  if (ms < 25 * minute) return 420
  return Math.max(20, Math.round(420 - ((ms - 25 * minute) / (5 * minute)) * 400))
}
const surgeAt = Array.from({ length: minutes * 60 }, (_, second) => second * 1_000).find(
  (ms) => loadAt(ms) > alarmingLoad,
)

/** Closer while the load rises, closest in the surge, seldom when all is calm; comfort waits until the sale is over. */
const watching = [
  { name: 'surge', when: { load: { above: 200 } }, then: { every: '30s', ttl: '5m' } },
  { name: 'rising', when: { load: { above: 50 } }, then: { every: '1m', ttl: '5m' } },
  { name: 'calm', when: { load: { below: 30 } }, runs: 3, then: { every: '10m', ttl: '20m' } },
]
const following = [
  { name: 'sale', sibling: 'queue', when: { load: { above: 200 } }, then: { every: '1m', ttl: '5m' } },
  { name: 'over', sibling: 'queue', when: { load: { below: 50 } }, then: { clear: true } },
]
const waiting = [{ name: 'sale', sibling: 'queue', when: { load: { above: 200 } }, then: { pause: '5m' } }]
const rulesOf = (tier, name) => (name === 'queue' ? watching : tier === 'comfort' ? waiting : following)

/** What a model would do that has just read this load. There is no model: the provider `scripted` plays the steps in a file. */
function stepsAt(load) {
  const hint = (intervalMs, reason) => ({ tool: 'propose_interval', args: { intervalMs, ttlMinutes: 10, reason } })
  const calm = { tool: 'clear_hints', args: { reason: 'The load is low.' } }
  const act = load > 200 ? hint(30_000, 'The load is above 200.') : load > 50 ? hint(60_000, 'The load rises.') : calm
  const submit = { tool: 'submit_analysis', args: { reasoning: `The load is ${load}.`, next_analysis_in_ms: 300_000 } }
  return [{ calls: [{ tool: 'get_latest_response' }] }, { calls: [act] }, { calls: [submit] }]
}
const folder = mkdtempSync(join(tmpdir(), 'flash-sale-'))
const script = join(folder, 'script.json')

/** The ways to watch: what each adds to a schedule. */
const ways = {
  'every 5 min': () => ({ every: '5m' }),
  'every 30 s': () => ({ every: '30s' }),
  rules: (tier, name) => ({ every: '5m', rules: rulesOf(tier, name) }),
  'scripted model': (tier) => ({ every: '5m', autonomy: tier === 'comfort' ? 'off' : 'act' }),
}

async function sale(way) {
  const clock = new TestClock(Date.UTC(2026, 10, 27, 9))
  const beganAt = clock.now()
  const belfry = await Belfry.open({ store: 'memory:', clock, log: false })
  const starts = new Map()
  try {
    await belfry.queues.set('default', { maxConcurrent: 20 })
    writeFileSync(script, JSON.stringify(stepsAt(loadAt(0))))
    if (way === ways['scripted model']) await belfry.planner.set({ provider: 'scripted', model: 'scripted', script })
    await belfry.groups.create('sale', { description: 'Flash sales: protect the database first.' })
    for (const { tier, name } of inOrder) {
      starts.set(name, [])
      belfry.handle(name, () => {
        const ms = clock.now() - beganAt
        starts.get(name).push(ms)
        const load = loadAt(ms)
        if (name === 'queue') writeFileSync(script, JSON.stringify(stepsAt(load)))
        return { load }
      })
      const spec = { ...bounds, target: { handler: name }, startNow: true, group: 'sale', tags: [tier] }
      await belfry.schedules.put({ name, ...spec, ...way(tier, name) })
    }
    await drain(belfry, { clock, for: `${minutes}m` })
  } finally {
    await belfry.close()
  }
  return starts
}

/** Two starts of one endpoint that are closer than its min, or further apart than its max. */
function breachesIn(starts) {
  const gaps = [...starts.values()].flatMap((instants) => instants.slice(1).map((at, index) => at - instants[index]))
  return gaps.filter((gap) => gap < minMs || gap > maxMs).length
}

function told(way, starts) {
  const all = [...starts.values()].flat()
  const seenAt = starts.get('queue').find((at) => at >= surgeAt)
  const during = all.filter((at) => at >= surgeAt && at < 28 * minute).length
  return {
    way,
    starts: all.length,
    'in the surge': during,
    'seen after': seenAt === undefined ? 'never' : `${Math.round((seenAt - surgeAt) / 1_000)} s`,
    comfort: starts.get('mail').length + starts.get('reports').length,
    breaches: breachesIn(starts),
  }
}

const rows = []
for (const [name, way] of Object.entries(ways)) rows.push(told(name, await sale(way)))
rmSync(folder, { recursive: true })
const columns = Object.keys(rows[0])
const width = (column) => Math.max(column.length, ...rows.map((row) => String(row[column]).length))
const line = (cells) =>
  cells
    .map((cell, index) => String(cell).padEnd(width(columns[index])))
    .join('  ')
    .trimEnd()
console.log(
  `A flash sale of ${minutes} minutes: ten endpoints, the load passes ${alarmingLoad} after ${surgeAt / 1_000} s.`,
)
console.log([line(columns), ...rows.map((row) => line(columns.map((column) => row[column])))].join('\n'))
process.exitCode = rows.some(({ breaches }) => breaches > 0) ? 1 : 0
