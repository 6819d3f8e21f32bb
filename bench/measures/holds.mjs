import { kernelHoldReasons } from '../../dist/core/hold-reason.js'
import { putHold } from '../../dist/store/holds/put-hold.js'
import { turnHolds } from '../../dist/store/holds/turn-holds.js'
import { setQueue } from '../../dist/store/queues/set-queue.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { actor, openPort } from '../contestants/belfry-store.mjs'
import { median, medianOf } from '../figures.mjs'
import { filler, settleDown } from '../fill.mjs'
import { taskName } from '../work.mjs'

const batches = [1, 100]
const turns = 300

/** What a lease costs from a full line, in ms, with no hold and with a thousand holds on other work. */
export async function run(bench) {
  const size = bench.quick ? 100_000 : 1_000_000
  const holds = 1_000
  const rows = []
  for (const database of ['sqlite', 'postgres']) {
    const rounds = []
    for (let round = 0; round < bench.rounds; round++) {
      bench.say(
        `round ${round + 1} of ${bench.rounds}: two stores on ${database}, ${size.toLocaleString('en')} ready runs`,
      )
      rounds.push(await byTurns(bench, { database, size, holds }))
    }
    rows.push({ database, ...medianOf(rounds), rounds })
  }
  return { size, holds, turns, rows }
}

function byTurns(bench, { database, ...input }) {
  return bench.within(database, undefined, (free) =>
    bench.within(database, undefined, (held) =>
      bench.child(import.meta.url, { ...input, free, held }, { timeoutMs: 600_000 }),
    ),
  )
}

/** The two stores lease by turns, so that what disturbs the machine disturbs both alike. */
export async function child({ free, held, size, holds }) {
  const sides = { None: await sideOf(free, size, 0), Many: await sideOf(held, size, holds) }
  const took = Object.fromEntries(
    Object.keys(sides).flatMap((name) => batches.map((batch) => [`lease${batch}${name}`, []])),
  )
  for (let turn = -5; turn < turns; turn++) {
    const order = turn % 2 === 0 ? Object.entries(sides) : Object.entries(sides).toReversed()
    for (const batch of batches) {
      for (const [name, port] of order) {
        const from = performance.now()
        const leases = await port.lease(batch)
        const ms = performance.now() - from
        if (leases.length !== batch) throw new Error(`${leases.length} of ${batch} were leased`)
        await port.settle(leases)
        if (turn >= 0) took[`lease${batch}${name}`].push(ms)
      }
    }
  }
  for (const port of Object.values(sides)) await port.close()
  return Object.fromEntries(Object.entries(took).map(([name, costs]) => [name, median(costs)]))
}

async function sideOf(place, size, holds) {
  const port = await openPort(place)
  await port.enqueue(1)
  await filler(port.store).ready(size - 1)
  for (let number = 0; number < holds; number++) await holdOther(port.store, number)
  while ((await port.store.do(turnHolds, { limit: 1_000 })).more);
  await settleDown(place)
  return port
}

/** A hold on something else: a queue, a kind, a schedule or a key, each of them in turn. */
async function holdOther(store, number) {
  const name = `other-${number}`
  const [scope, subject] = [
    ['queue', name],
    ['kind', `handler/${name}`],
    ['schedule', name],
    ['key', name],
  ][number % 4]
  if (scope === 'queue') await store.do(setQueue, name, { actor })
  if (scope === 'schedule') {
    await store.do(putSchedule, { name, timing: {}, target: { handler: taskName } }, { mode: 'create', actor })
  }
  const { answer } = await store.do(putHold, { scope, subject, reason: kernelHoldReasons.hold, note: 'bench', actor })
  if (answer !== 'put') throw new Error(`the hold on ${scope} ${subject} was not put: ${answer}`)
}
