import { Belfry } from '../../dist/index.js'
import { openPort } from '../contestants/belfry-store.mjs'
import { median, medianOf } from '../figures.mjs'
import { filler, settleDown } from '../fill.mjs'

const turns = 25
const office = { zone: 'UTC', open: ['mon-sun 00:00-24:00'] }
const days = Array.from({ length: 3 }, (_, day) =>
  new Date(Date.now() + (day - 1) * 86_400_000).toISOString().slice(0, 10),
)

/** What it costs to stop very many ready runs, in ms, and what other work pays for those that are stopped. */
export async function run(bench) {
  const size = bench.quick ? 100_000 : 1_000_000
  const rows = []
  for (const database of ['sqlite', 'postgres']) {
    const rounds = []
    for (let round = 0; round < bench.rounds; round++) {
      bench.say(`round ${round + 1} of ${bench.rounds}: ${database}, ${size.toLocaleString('en')} ready runs`)
      rounds.push(await byTurns(bench, { database, size }))
    }
    rows.push({ database, ...medianOf(rounds), rounds })
  }
  return { size, turns, rows }
}

function byTurns(bench, { database, size }) {
  return bench.within(database, undefined, (full) =>
    bench.within(database, undefined, (empty) =>
      bench.child(import.meta.url, { size, full, empty }, { timeoutMs: 600_000 }),
    ),
  )
}

export async function child({ full, empty, size }) {
  const [stopped, free] = [await sideOf(full, size), await sideOf(empty, 0)]
  const took = {}
  const timed = async (name, turn, act) => {
    const from = performance.now()
    const answer = await act()
    const ms = performance.now() - from
    if (turn >= 0) took[name] = [...(took[name] ?? []), ms]
    return answer
  }
  for (let turn = -3; turn < turns; turn++) await throwSwitches(stopped.belfry, (name, act) => timed(name, turn, act))
  await stopped.belfry.accounts.block('big', { reason: 'bench', for: '1h' })
  for (let turn = -3; turn < turns * 4; turn++) {
    const sides = [
      ['leaseBehind', stopped],
      ['leaseEmpty', free],
    ]
    for (const [name, { port }] of turn % 2 === 0 ? sides : sides.toReversed()) {
      await port.enqueue(1, { options: { account: ['other'] } })
      const leases = await timed(name, turn, () => port.lease(1))
      if (leases.length !== 1) throw new Error(`${leases.length} of 1 were leased`)
      await port.settle(leases)
    }
  }
  for (const { port, belfry } of [stopped, free]) {
    await belfry.close()
    await port.close()
  }
  return Object.fromEntries(Object.entries(took).map(([name, costs]) => [name, median(costs)]))
}

/** Each is thrown and taken back. */
async function throwSwitches({ holds, accounts, calendars }, timed) {
  await timed('stop', () => holds.stop({ reason: 'bench' }))
  await timed('go', () => holds.go())
  await timed('block', () => accounts.block('big', { reason: 'bench', for: '1h' }))
  await timed('unblock', () => accounts.unblock('big'))
  await timed('close', () => calendars.put('office', { ...office, closedDates: days }))
  await timed('open', () => calendars.put('office', office))
}

/** A store in which so many runs of one account and calendar are ready. */
async function sideOf(place, size) {
  const port = await openPort(place)
  const belfry = await Belfry.open({ store: place.store, log: false })
  for (const name of ['big', 'other']) await belfry.accounts.put(name)
  await belfry.calendars.put('office', office)
  if (size > 0) {
    await port.enqueue(1, { options: { account: ['big'], calendar: ['office'] } })
    await filler(port.store).ready(size - 1)
    await settleDown(place)
  }
  return { port, belfry }
}
