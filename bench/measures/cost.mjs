import { setQueue } from '../../dist/store/queues/set-queue.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { clockNow } from '../../dist/store/statement.js'
import { actor, openPort } from '../contestants/belfry-store.mjs'
import { median, medianOf } from '../figures.mjs'
import { copiesAfter, filler, settleDown } from '../fill.mjs'
import { taskName } from '../work.mjs'

const hourMs = 3_600_000
const occurrences = 'occurrences'

/** What one step of the store costs, in ms, while the store holds few or very many rows. */
export async function run(bench) {
  const scenes = scenesOf(bench.quick)
  const rows = ['sqlite', 'postgres'].flatMap((database) => scenes.map((scene) => ({ database, ...scene, rounds: [] })))
  const opened = []
  try {
    for (const row of rows) {
      bench.say(`filling ${row.database}: ${row.name}`)
      const place = await bench.places.open(row.database)
      opened.push(place)
      const { leave, ...named } = place
      row.place = named
      Object.assign(row, await bench.child(import.meta.url, { role: 'fill', ...row }, { timeoutMs: 600_000 }))
    }
    for (let round = 0; round < bench.rounds; round++) {
      for (const row of rows) {
        bench.say(`round ${round + 1} of ${bench.rounds}: ${row.database}, ${row.name}`)
        row.rounds.push(await bench.child(import.meta.url, { role: 'measure', ...row }))
      }
    }
  } finally {
    for (const place of opened) await place.leave()
  }
  return { rows: rows.map(({ place, ...row }) => ({ ...row, ...medianOf(row.rounds) })) }
}

function scenesOf(quick) {
  const sizes = quick ? [1_000, 100_000] : [1_000, 100_000, 1_000_000]
  const most = sizes.at(-1)
  const keyed = quick ? 20_000 : 100_000
  return [
    ...sizes.map((size) => ({ name: `${size.toLocaleString('en')} ready runs and schedules`, size, ready: size })),
    { name: `${most.toLocaleString('en')} ended runs beside 1,000 ready`, ready: 1_000, ended: most },
    { name: `${keyed.toLocaleString('en')} runs of one full key before 1,000 others`, ready: 1_000, keyed },
  ]
}

export function child(input) {
  return input.role === 'fill' ? fill(input) : measure(input)
}

async function fill({ place, ready, size = 1_000, ended = 0, keyed = 0 }) {
  const startedAt = performance.now()
  const port = await openPort(place)
  const { store } = port
  await store.do(setQueue, occurrences, { policy: { maxConcurrent: 500 }, actor })
  await port.enqueue(1)
  await port.settle(await port.lease(1))
  const copies = filler(store)
  if (ended > 0) await copies.ended(ended)
  if (keyed > 0) await fillKey(port, keyed)
  await port.enqueue(1)
  if (ready > 1) await (ended + keyed > 0 ? port.enqueue(ready - 1) : copies.ready(ready - 1))
  const spec = {
    name: 'seed',
    timing: { everyMs: hourMs, from: 'start' },
    queue: occurrences,
    target: { handler: taskName },
  }
  await store.do(putSchedule, spec, { mode: 'put', actor })
  const { next_run_at: nextRunAt } = await copies.newest('schedule', 'id')
  await copies.schedules(size - 1, `${nextRunAt} + 24 * ${hourMs} + n`)
  await port.close()
  await settleDown(place)
  return { fillMs: performance.now() - startedAt }
}

/** One run of the key is at work for as long as the measure lasts, so that all others wait for it. */
async function fillKey(port, count) {
  await port.store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 1 }, actor })
  for (let left = count; left > 0; left -= 1_000) await port.enqueue(1_000, { concurrencyKey: 'full' })
}

async function measure({ place, keyed = 0 }) {
  const port = await openPort(place)
  const due = dueMaker(port.store)
  const holder = keyed > 0 ? await port.lease(1) : []
  const figures = {}
  for (const [batch, turns] of [
    [100, 25],
    [1, 60],
  ]) {
    const took = { enqueue: [], lease: [], settle: [], fire: [] }
    for (let turn = 0; turn < turns; turn++) await takeTurn({ port, due, batch, took })
    for (const [step, costs] of Object.entries(took)) figures[`${step}${batch}`] = median(costs.slice(turns >> 2))
  }
  if (keyed > 0) figures.handOver = await handOver(port, holder)
  await port.close()
  return figures
}

/** As many are enqueued as are settled, so that the store holds as much after a turn as before. */
async function takeTurn({ port, due, batch, took }) {
  await timed(took.enqueue, () => port.enqueue(batch))
  const leases = await timed(took.lease, () => port.lease(batch))
  if (leases.length !== batch) throw new Error(`${leases.length} runs were leased instead of ${batch}`)
  await timed(took.settle, () => port.settle(leases))
  await due(batch)
  const fired = await timed(took.fire, () => port.store.fireDue({ limit: batch }))
  if (fired.runs.length !== batch) throw new Error(`${fired.runs.length} schedules fired instead of ${batch}`)
  await port.settle(await port.lease(batch, occurrences))
}

/** The end of the run that has the key, and the lease of the one that it lets go. */
async function handOver(port, holder) {
  const took = []
  let held = holder
  for (let turn = 0; turn < 20; turn++) {
    await timed(took, async () => {
      await port.settle(held)
      held = await port.lease(1)
    })
  }
  await port.settle(held)
  return median(took)
}

/** Makes some schedules due, always others, as time would have done. */
function dueMaker(store) {
  const { write } = filler(store)
  let next = 0
  return async (batch) => {
    const now = await store.look(clockNow)
    const from = copiesAfter + 1 + (next % 900)
    next += batch
    const instants = ['next_run_at', 'next_due_at', 'wake_at'].map((column) => `${column} = ${now - 5}`)
    await write(`update belfry.schedule set ${instants.join(', ')} where id >= ${from} and id < ${from + batch}`)
  }
}

async function timed(took, work) {
  const from = performance.now()
  const answer = await work()
  took.push(performance.now() - from)
  return answer
}
