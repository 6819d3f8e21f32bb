import pg from 'pg'
import { summariesOf } from '../../dist/store/reads/find-run.js'
import { listRuns } from '../../dist/store/reads/list-runs.js'
import { databaseOf } from '../../dist/store/sql-store.js'
import { all, both } from '../../dist/store/statement.js'
import { openPort } from '../contestants/belfry-store.mjs'
import { median, medianOf } from '../figures.mjs'
import { copiesAfter, filler, settleDown } from '../fill.mjs'

const pageRuns = 100
const pageFar = 1_000
const batch = 500

/** What a page of `run list` costs in a full store, by when runs were made and by id; and what the index for it costs. */
export async function run(bench) {
  const size = bench.quick ? 150_000 : 1_000_000
  const count = bench.quick ? 10_000 : 40_000
  const rows = []
  for (const database of ['sqlite', 'postgres']) {
    bench.say(`filling ${database}: ${size.toLocaleString('en')} ended runs`)
    const pages = await bench.within(database, undefined, (place) =>
      bench.child(import.meta.url, { role: 'pages', place, size }, { timeoutMs: 600_000 }),
    )
    bench.say(`the index by turns: ${database}`)
    const rounds = []
    for (let round = 0; round < bench.rounds; round++) rounds.push(await byTurns(bench, database, count))
    rows.push({ database, ...pages, ...medianOf(rounds), rounds })
  }
  return { size, count, pageRuns, pageFar, rows }
}

function byTurns(bench, database, count) {
  return bench.within(database, undefined, (withIndex) =>
    bench.within(database, undefined, (without) =>
      bench.child(import.meta.url, { role: 'index', withIndex, without, count }, { timeoutMs: 600_000 }),
    ),
  )
}

export function child(input) {
  return input.role === 'pages' ? pages(input) : index(input)
}

async function pages({ place, size }) {
  const port = await openPort(place)
  const { store } = port
  await port.enqueue(1)
  await port.settle(await port.lease(1))
  const copies = filler(store)
  const { enqueued_at: madeAt, ns } = await copies.newest('run', 'id')
  await copies.ended(size, { enqueued_at: `${madeAt} - ${size} + n` })
  await settleDown(place)
  const far = copiesAfter + size - pageRuns * (pageFar - 1)
  const first = await store.look(listRuns, { limit: 1, status: 'completed' })
  if (first.runs.length !== 1) throw new Error('nothing was filled')
  const places = [undefined, `made/${madeAt - size + (far - copiesAfter)}/${idText(far)}`]
  const byMade = async (before) => (await store.look(listRuns, { limit: pageRuns, ...(before && { before }) })).runs
  const byId = (before) => databaseOf(store).read(() => pageById({ ns }, before))
  const [madeFirst, madeFar] = await Promise.all(places.map(byMade))
  const [idFirst, idFar] = await Promise.all([Number.MAX_SAFE_INTEGER, far].map(byId))
  const isSame = madeFar[0].id === idFar[0].id && madeFirst[0].id === idFirst[0].id
  if (!isSame) throw new Error('these are not the same pages')
  const figures = await timed({
    madeFirstMs: () => byMade(),
    idFirstMs: () => byId(Number.MAX_SAFE_INTEGER),
    madeFarMs: () => byMade(places[1]),
    idFarMs: () => byId(far),
  })
  await port.close()
  return figures
}

const findQueues = both('bench list queues', 'select id, name from belfry.queue where ns = $1')
/** As the list was read when it went by id. */
const findById = both(
  'bench by id',
  `select w.id from (select id, ns, queue_id, need_id from belfry.run where id < $1 order by id desc limit 5000) w
    where w.ns = $2 and (cast($3 as bigint) is null or w.queue_id = cast($3 as bigint)) and w.need_id > 0
    order by w.id desc limit $4`,
)

function* pageById(context, before) {
  yield* all(findQueues, context.ns)
  const rows = yield* all(findById, before, context.ns, null, pageRuns)
  return yield* summariesOf(
    context,
    rows.map(({ id }) => id),
  )
}

function idText(number) {
  const digits = number.toString(36)
  return `r-${digits.length.toString(36)}${digits}`
}

/** All of them by turns, so that what disturbs the machine disturbs them alike. */
async function timed(works) {
  const took = Object.fromEntries(Object.keys(works).map((name) => [name, []]))
  for (let turn = 0; turn < 110; turn++) {
    for (const [name, work] of Object.entries(works)) {
      const from = performance.now()
      await work()
      if (turn >= 10) took[name].push(performance.now() - from)
    }
  }
  return Object.fromEntries(Object.entries(took).map(([name, costs]) => [name, median(costs)]))
}

/** Two stores, one of them without the index, that take a batch by turns: what disturbs the machine disturbs both alike. */
async function index({ withIndex, without, count }) {
  const [one, other] = [await sideOf(withIndex), await sideOf(without)]
  await filler(other.port.store).write('drop index belfry.run_made')
  for (const side of [one, other]) await side.turn(() => undefined)
  for (let done = 0, turn = 0; done < count; done += batch, turn++) {
    for (const side of turn % 2 === 0 ? [one, other] : [other, one]) await side.turn(side.keep)
  }
  const figures = { ...figuresOf(one.took, 'With'), ...figuresOf(other.took, 'Without') }
  for (const { close } of [one, other]) await close()
  return figures
}

function figuresOf({ enqueue, work, wal }, side) {
  const perSecond = (took) => (batch / median(took)) * 1_000
  return {
    [`enqueued${side}`]: perSecond(enqueue),
    [`worked${side}`]: perSecond(work),
    ...(wal.length > 0 && { [`wal${side}`]: median(wal) / batch }),
  }
}

async function sideOf(place) {
  const port = await openPort(place)
  const client = place.url === undefined ? null : new pg.Client({ connectionString: place.url })
  await client?.connect()
  const took = { enqueue: [], work: [], wal: [] }
  const logBytes = async () => {
    const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes")
    return rows[0].bytes
  }
  return {
    port,
    took,
    keep: (step, figure) => took[step].push(figure),
    /** A batch is enqueued, leased and ended; nobody else writes to the server meanwhile. */
    async turn(keep) {
      const written = client === null ? 0 : await logBytes()
      const start = performance.now()
      await port.enqueue(batch)
      keep('enqueue', performance.now() - start)
      if (client !== null) keep('wal', (await logBytes()) - written)
      const from = performance.now()
      await port.settle(await port.lease(batch))
      keep('work', performance.now() - from)
    },
    async close() {
      await client?.end()
      await port.close()
    },
  }
}
