import { startPostgres } from './postgres-server.mjs'
import { openPostgres } from './shapes/postgres.mjs'
import { openSqlite } from './shapes/sqlite.mjs'
import { shapes } from './shapes/tables.mjs'

/** Prints what each shape of the run's row costs on both databases; docs/decisions/0002 keeps what it printed. */
const runs = 20_000
const rounds = 5

const server = await startPostgres()
console.log('database    shape  batch conns | enqueue/s  lease+settle/s  fire/s  WAL bytes a run (lease+settle)')
for (const [name, open, batch, connections] of [
  ['SQLite', openSqlite, 100, 1],
  ['SQLite', openSqlite, 500, 1],
  ['PostgreSQL', (shape) => openPostgres(shape, server.url), 100, 2],
  ['PostgreSQL', (shape) => openPostgres(shape, server.url), 250, 2],
  ['PostgreSQL', (shape) => openPostgres(shape, server.url), 500, 1],
]) {
  const seen = Object.fromEntries(shapes.map((shape) => [shape, []]))
  for (let round = 0; round < rounds; round++) {
    for (const shape of shapes) seen[shape].push(await measure(await open(shape), batch, connections))
  }
  for (const shape of shapes) {
    const middle = (figure) => Math.round(median(seen[shape].map((one) => one[figure]))).toLocaleString('en')
    const row = [name.padEnd(11), shape.padEnd(6), String(batch).padStart(5), String(connections).padStart(5), '|']
    console.log(...row, ...['enqueue', 'process', 'fire', 'wal'].map((figure) => middle(figure).padStart(12)))
  }
}
await server.stop()

async function measure(store, batch, connections) {
  const enqueue = await perSecond(async () => {
    for (let from = 0; from < runs; from += 1_000) await store.enqueue(range(from + 1, 1_000), 1e12 + from)
  })
  const walBefore = await store.walBytes()
  let done = 0
  const work = async (client) => {
    for (;;) {
      const leases = await store.lease(batch, 2e12 + done, client)
      if (leases.length === 0) return
      await store.settle(leases, 2e12 + done, client)
      done += leases.length
    }
  }
  const process = await perSecond(() => Promise.all(range(0, connections).map(work)))
  const wal = ((await store.walBytes()) - walBefore) / runs
  await store.schedules(runs)
  const fire = await perSecond(async () => {
    for (let fired = 0; fired < runs; ) fired += await store.fire(runs + 1 + fired, 500, 3e12)
  })
  await store.close()
  return { enqueue, process, fire, wal }
}

async function perSecond(work) {
  const startedAt = performance.now()
  await work()
  return (runs / (performance.now() - startedAt)) * 1_000
}

function range(from, count) {
  return Array.from({ length: count }, (_, index) => from + index)
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
