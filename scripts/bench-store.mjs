import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../dist/store/open.js'
import { databaseOf } from '../dist/store/sql-store.js'
import { all, both } from '../dist/store/statement.js'
import { startPostgres } from './postgres-server.mjs'
import { openPostgres } from './shapes/postgres.mjs'
import { openSqlite } from './shapes/sqlite.mjs'

/**
 * Measures the store's hot path straight on the port: no-op runs, ceiling 500, durable settings, history kept, beside a
 * bare hand-written loop in the same run; then what a lease costs when the store is full.
 */
const runs = 20_000
const rounds = 5
const million = Number(process.argv[2] ?? 1_000_000)
const actor = { name: 'bench', door: 'bench' }
const can = { kinds: [], handlers: ['noop'] }

const server = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
let places = 0
const fresh = {
  SQLite: () => openStore(`sqlite:${join(folder, `${++places}.db`)}`),
  PostgreSQL: () => openStore(server.url, { schema: `bench_${++places}` }),
}
const bare = { SQLite: () => openSqlite('lines'), PostgreSQL: () => openPostgres('lines', server.url) }

console.log(`lease + settle of ${runs.toLocaleString('en')} no-op runs, median of ${rounds} alternating rounds`)
for (const [name, batch, connections] of [
  ['SQLite', 100, 1],
  ['SQLite', 500, 1],
  ['PostgreSQL', 100, 2],
  ['PostgreSQL', 250, 2],
  ['PostgreSQL', 500, 1],
]) {
  const seen = { ours: [], enqueue: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    const ours = await throughput(await portOf(await fresh[name]()), batch, connections)
    const loop = await throughput(await bare[name](), batch, connections)
    seen.ours.push(ours.process)
    seen.enqueue.push(ours.enqueue)
    seen.bare.push(loop.process)
  }
  const [mine, theirs, enqueue] = [median(seen.ours), median(seen.bare), median(seen.enqueue)]
  console.log(
    `${name.padEnd(11)} batch ${batch}, ${connections} connection(s): ${perSecond(mine)} runs/s, bare loop ${perSecond(theirs)}` +
      ` (${Math.round((mine / theirs) * 100)} %), enqueue ${perSecond(enqueue)}/s`,
  )
}
for (const name of ['SQLite', 'PostgreSQL']) await leaseCost(name)
await server.stop()
rmSync(folder, { recursive: true, force: true })

/** The port, with the few calls the measurement makes. */
async function portOf(store) {
  await store.setQueue('default', { policy: { maxConcurrent: 500 }, actor })
  const workerId = await store.registerWorker({ name: 'bench', host: 'bench', can, beatMs: 60_000 })
  const inputs = Array.from({ length: 1_000 }, () => ({ target: { handler: 'noop' }, payload: { x: 'y'.repeat(80) } }))
  let claims = 0
  return {
    enqueue: (ids) => store.enqueue(inputs.slice(0, ids.length)),
    lease: async (limit) => {
      const claimId = `claim-${++claims}`
      return (await store.lease({ queue: 'default', workerId, claimId, can, limit, leaseMs: 30_000 })).leases
    },
    settle: (leases) =>
      store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } }))),
    close: () => store.close(),
  }
}

async function throughput(store, batch, connections) {
  const enqueueStarted = performance.now()
  for (let from = 0; from < runs; from += 1_000) {
    await store.enqueue(
      Array.from({ length: 1_000 }, (_, index) => from + index + 1),
      1e12 + from,
    )
  }
  const startedAt = performance.now()
  let done = 0
  const work = async (_, client) => {
    for (;;) {
      const leases = await store.lease(batch, 2e12 + done, client)
      if (leases.length === 0) return
      await store.settle(leases, 2e12 + done, client)
      done += leases.length
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  const endedAt = performance.now()
  await store.close()
  return { enqueue: (runs / (startedAt - enqueueStarted)) * 1_000, process: (done / (endedAt - startedAt)) * 1_000 }
}

/** What one lease of a batch costs with few and with very many ready or ended runs in the store. */
async function leaseCost(name) {
  const figures = []
  for (const [what, ready, ended] of [
    ['1,000 ready', 1_000, 0],
    [`${million.toLocaleString('en')} ready`, million, 0],
    [`1,000 ready, ${million.toLocaleString('en')} ended`, 1_000, million],
  ]) {
    const store = await fresh[name]()
    const port = await portOf(store)
    await port.enqueue([1])
    await port.settle(await port.lease(1))
    if (ended > 0) await fill(store, ended)
    for (let from = 0; from < ready; from += 1_000) await port.enqueue({ length: 1_000 })
    const costs = []
    for (let turn = 0; turn < 60; turn++) {
      const startedAt = performance.now()
      const leases = await port.lease(10)
      costs.push(performance.now() - startedAt)
      await port.settle(leases)
    }
    figures.push({ what, ms: median(costs.slice(10)) })
    await port.close()
  }
  for (const { what, ms } of figures) {
    console.log(
      `${name.padEnd(11)} lease of 10 with ${what}: ${ms.toFixed(3)} ms (${(ms / figures[0].ms).toFixed(2)} ×)`,
    )
  }
}

/** Ended runs, written behind the store's back because a million of them by the port would take minutes. */
async function fill(store, count) {
  const database = databaseOf(store)
  const series =
    database.dialect === 'sqlite'
      ? `with recursive i(n) as (select 1 union all select n + 1 from i where n < ${count})`
      : `with i(n) as (select generate_series(1, ${count}))`
  const runsText = `insert into belfry.run (id, ns, queue_id, need_id, priority, enqueued_at, source, policy_version, target)
    ${series} select 1000000000 + n, r.ns, r.queue_id, r.need_id, 100, r.enqueued_at, 'enqueued', 1, r.target
    from i cross join (select * from belfry.run limit 1) r`
  const attemptsText = `insert into belfry.attempt (run_id, fence, ns, queue_id, started_at, ended_at, outcome, ends)
    select id, 1, ns, queue_id, enqueued_at, enqueued_at + id, 'success', 'completed' from belfry.run where id > 1000000000`
  for (const text of [runsText, attemptsText]) await database.write(() => all(both(`bench fill ${text.length}`, text)))
}

function perSecond(value) {
  return Math.round(value).toLocaleString('en')
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
