import { expect, it, onTestFinished } from 'vitest'
import type { Belfry } from '../../../src/index.ts'
import { openStore } from '../../../src/open-store.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { all, both } from '../../../src/store/statement.ts'
import { live, target } from '../../choices/stage.ts'
import { sharedStore, startWorker } from '../../choices/worker.ts'

const rounds = 5
const runsOfRound = 300

const count = both(
  'test starts',
  `select (select count(*) from belfry.lease) as leases, (select count(*) from belfry.ready) as ready,
    (select count(*) from belfry.lease) + (select count(*) from belfry.attempt where fence > 0) as starts,
    (select count(distinct run_id) from belfry.attempt where fence > 0) as ended`,
)

type Counts = Record<'leases' | 'ready' | 'starts' | 'ended', number>

/** How many leases there are and have ever been, how many runs are in line and how many have ended, all at one instant. */
async function counting({ store, schema }: ReturnType<typeof sharedStore>) {
  const outside = await openStore(store, { allowNonDurable: true, ...(schema !== undefined && { schema }) })
  onTestFinished(() => outside.close())
  return async () => {
    // SQLite answers without a turn of the event loop, and the workers wait until what they say is read.
    await new Promise((resolve) => setImmediate(resolve))
    const [row] = await databaseOf(outside).read(() => all<Counts>(count))
    return row as Counts
  }
}

/** Brings work, stops everything while the workers lease it, and answers how many runs were still in line then. */
async function stopAndGo(belfry: Belfry, counted: () => Promise<Counts>): Promise<number> {
  const { starts: before } = await counted()
  await belfry.runs.enqueueMany(Array.from({ length: runsOfRound }, () => ({ target })))
  while ((await counted()).starts < before + 30);
  await belfry.holds.stop({ reason: 'raced' })
  const { starts, ready } = await counted()
  // A worker that has ended its last run asks for more at once: had it not seen the stop, it would have been given some.
  while ((await counted()).leases > 0);
  expect((await counted()).starts, 'something started after the stop was answered').toBe(starts)
  await belfry.holds.go()
  return ready
}

it.each(['SQLite', 'PostgreSQL'] as const)(
  'no lease is granted after a stop was answered while three workers lease, and no attempt is lost by it (%s)',
  async (kind) => {
    const shared = { ...sharedStore(kind), allowNonDurable: true }
    const belfry = await live(shared)
    const counted = await counting(shared)
    await belfry.queues.set('default', { maxConcurrent: 10 })
    await Promise.all([1, 2, 3].map(() => startWorker(shared)))
    const inLine: number[] = []
    for (let round = 0; round < rounds; round++) inLine.push(await stopAndGo(belfry, counted))
    expect(Math.max(...inLine), 'the workers had nothing left to lease when the stops came').toBeGreaterThan(0)
    for (let left = await counted(); left.ready + left.leases > 0; ) left = await counted()
    const all = rounds * runsOfRound
    expect(await counted()).toEqual({ leases: 0, ready: 0, starts: all, ended: all })
  },
)
