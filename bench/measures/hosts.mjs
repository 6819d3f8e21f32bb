import { Belfry } from '../../dist/index.js'
import { medianOf, percentile } from '../figures.mjs'

const queue = 'letters'
const hosts = 16
const batch = 1_000

/**
 * Outside hosts over HTTP: what a lease of one costs with little and with much in line, and whether hosts that ask at once get on alike.
 * The server is a process of its own, and so are those who ask.
 */
export async function run(bench) {
  const much = bench.quick ? 10_000 : 100_000
  const calls = bench.quick ? 60 : 200
  const forMs = bench.quick ? 2_000 : 8_000
  const fills = [
    { name: '100 runs', ready: 100, ofFullKey: 0 },
    { name: `${much.toLocaleString('en')} runs`, ready: much, ofFullKey: 0 },
    { name: `${much.toLocaleString('en')} runs of one full key before 100 others`, ready: 100, ofFullKey: much },
  ]
  const entries = ['sqlite', 'postgres'].flatMap((database) => fills.map((fill) => ({ database, ...fill })))
  const rounds = entries.map(() => [])
  for (let round = 0; round < bench.rounds; round++) {
    for (const [index, entry] of entries.entries()) {
      bench.say(`round ${round + 1} of ${bench.rounds}: hosts on ${entry.database}, ${entry.name}`)
      rounds[index].push(
        await bench.within(entry.database, {}, (place) => measured(bench, { ...entry, place, calls, forMs })),
      )
    }
  }
  const rows = entries.map((entry, index) => ({ ...entry, rounds: rounds[index], ...medianOf(rounds[index]) }))
  return { calls, hosts, forMs, rows }
}

async function measured(bench, input) {
  const server = bench.startChild(import.meta.url, { ...input, role: 'server' })
  try {
    const at = await server.hear()
    return await bench.child(import.meta.url, { ...input, ...at, role: 'hosts' })
  } finally {
    server.say('end')
    await server.result.catch(() => undefined)
    server.end()
    await server.gone
  }
}

export function child(input, link) {
  return input.role === 'server' ? serve(input, link) : ask(input)
}

async function serve({ place, ready, ofFullKey }, link) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  await belfry.queues.set(queue, { maxConcurrent: 500, maxConcurrentPerKey: 1 })
  // The first of the key has it from here on; all others of the key stand before those that can go.
  for (let made = 0; made < ofFullKey; made += batch) {
    await belfry.runs.enqueueMany(Array.from({ length: batch }, () => ({ queue, concurrencyKey: 'full', priority: 1 })))
  }
  if (ofFullKey > 0) await belfry.sched.lease({ host: 'holder', queue })
  for (let made = 0; made < ready; made += batch) {
    await belfry.runs.enqueueMany(Array.from({ length: Math.min(batch, ready - made) }, () => ({ queue })))
  }
  const made = Array.from({ length: hosts }, (_, index) => belfry.tokens.create(`host-${index}`, { scope: 'operate' }))
  const tokens = (await Promise.all(made)).map(({ token }) => token)
  const { url } = await belfry.serve({ listen: '127.0.0.1:0' })
  link.say({ url, tokens })
  await link.hear()
  await belfry.close()
}

async function ask({ url, tokens, calls, forMs }) {
  const post = async (index, path, body) => {
    const headers = { authorization: `Bearer ${tokens[index]}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  /** For each that is done another one comes, so that the line stays as long as it was. */
  const turn = async (index) => {
    const from = performance.now()
    const { leases } = await post(index, 'sched/lease', { host: `host-${index}`, queue })
    const tookMs = performance.now() - from
    for (const { lease } of leases) {
      await post(index, 'sched/complete', { lease })
      await post(index, 'runs', { queue })
    }
    return leases.length === 0 ? null : tookMs
  }
  for (let warm = 0; warm < 20; warm++) await turn(0)
  const each = []
  while (each.length < calls) each.push((await turn(0)) ?? Number.NaN)
  const until = performance.now() + forMs
  const counts = await Promise.all(
    Array.from({ length: hosts }, async (_, index) => {
      let turns = 0
      while (performance.now() < until) if ((await turn(index)) !== null) turns++
      return turns
    }),
  )
  return {
    leaseMs: percentile(each, 0.5),
    leaseP99Ms: percentile(each, 0.99),
    slowest: Math.min(...counts),
    fastest: Math.max(...counts),
    fairness: Math.min(...counts) / Math.max(...counts),
    turnsPerSecond: (counts.reduce((sum, count) => sum + count, 0) / forMs) * 1_000,
  }
}
