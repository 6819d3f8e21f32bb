import { setTimeout as sleep } from 'node:timers/promises'
import { Belfry } from '../../../src/index.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { both, one } from '../../../src/store/statement.ts'
import { breach, type Check } from '../check.ts'
import { always, comeToRest, type Fault } from '../fault.ts'
import type { World } from '../world.ts'

/** Each lease is there, or the record of its end is: one statement counts all that were ever granted, and all runs of schedules. */
const counts = both(
  'test stops count',
  `select (select count(*) from belfry.lease) + (select count(*) from belfry.attempt where fence > 0) as starts,
    (select count(*) from belfry.run where schedule_id is not null) as fired`,
)

async function counted({ store }: World) {
  const row = await databaseOf(store).read(() => one<{ starts: number; fired: number }>(counts))
  return { starts: Number(row?.starts), fired: Number(row?.fired) }
}

/** Workers that are idle for a moment try again meanwhile. */
const stoppedMs = 60
const batches = 8
const runsEach = 3
/** So many may wait before the next stop; a busy machine needs a while for them. */
const waitingMax = 40

/** Puts work in, a little at a time, so that leases are under way whenever the stop comes. */
async function feed({ random, store }: World): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    const payload = () => ({ ms: random.whole(0, 30), heeds: true })
    const runs = Array.from({ length: runsEach }, () => ({
      target: { handler: 'work' },
      queue: 'work',
      payload: payload(),
    }))
    await store.enqueue(runs)
    await sleep(random.between(0, 5))
  }
}

async function stopOnce(world: World, belfry: Belfry, release: boolean): Promise<void> {
  const { random, store, troubles } = world
  const feeding = feed(world)
  await sleep(random.between(0, 40))
  await belfry.holds.stop({ reason: 'a race', release })
  const before = await counted(world)
  await sleep(stoppedMs)
  const after = await counted(world)
  await belfry.holds.go()
  await feeding
  const [leases, fired] = [after.starts - before.starts, after.fired - before.fired]
  if (leases > 0) troubles.push(`${leases} leases were granted after stop had returned`)
  if (fired > 0) troubles.push(`${fired} occurrences fired after stop had returned`)
  while ((await store.look(listRuns, { status: 'ready', limit: waitingMax })).next !== null) await sleep(20)
}

const uncounted = new Set(['success', 'released', 'forced-stop'])

/** What was stopped was given back uncounted, and done in the end. */
const nothingUsed: Check = ({ runs }) =>
  // Those of the workers' own clients may fail by themselves.
  runs
    .filter(({ idempotencyKey }) => idempotencyKey === null)
    .flatMap(({ id, schedule, status, attempts }) => [
      ...attempts
        .filter(({ outcome, fence }) => fence > 0 && !uncounted.has(outcome))
        .map(({ outcome, fence }) => breach('unrecorded', `${id} used attempt ${fence} by a stop: ${outcome}`)),
      ...(schedule === null && status !== 'completed'
        ? [breach('lost', `${id} is ${status} after it was stopped`)]
        : []),
    ])

/** Eight workers lease and fire while everything is stopped; every other time what is at work is given back. */
export const stops: Fault = {
  id: 'F33',
  title: 'stop while workers lease and fire',
  on: ['sqlite', 'postgres'],
  timesPerRound: 25,
  epsilonMs: Number.POSITIVE_INFINITY,
  async arrange(world) {
    // A busy machine must not take leases away: what is at stake here is the stop.
    world.choice = { clientMs: 3_600_000, longShare: 0, slots: 4, leaseMs: 60_000 }
    await world.startMany(8)
  },
  async inject(world, times) {
    const { store, schema } = world.house
    const belfry = await Belfry.open({ store, schema, connectionsMax: 2, log: false })
    try {
      for (let time = 0; time < times; time++) await stopOnce(world, belfry, time % 2 === 0)
    } finally {
      await belfry.close()
    }
    return times
  },
  settle: comeToRest,
  expect: [...always, nothingUsed],
}
