import { turnOfTheEventLoop } from '../src/engine/loop.ts'
import { liftHold } from '../src/store/holds/lift-hold.ts'
import { listHolds } from '../src/store/holds/list-holds.ts'
import { setQueue } from '../src/store/queues/set-queue.ts'
import type { Ground } from './ground.ts'
import { Breach } from './invariants/breach.ts'
import { stuck } from './invariants/liveness.ts'
import { actOnAccount } from './workload/accounts.ts'
import { actOnAdmission, endAdmission } from './workload/admission.ts'
import { Faults } from './workload/faults.ts'
import { People } from './workload/people.ts'
import { drawQueueChange, queueNames } from './workload/queues.ts'
import { enqueuer } from './workload/runs.ts'
import { World } from './world.ts'

/** What became of one history. */
export interface Life {
  readonly seed: number
  readonly steps: number
  readonly hash: string
  readonly counts: ReadonlyMap<string, number>
  readonly broken: Broken | null
}

export interface Broken {
  readonly seed: number
  readonly step: number
  readonly invariant: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly last: readonly string[]
}

/** Steps in which things go wrong; those that it takes to come to rest follow. */
export const roughSteps = 280
const restStepsMax = 20_000
const lookEvery = 8
const stopMsMax = 60_000
const startMsMax = 300
const actor = { name: 'somebody', door: 'simulation' }

/** Lives through the history of a seed. */
export async function live(seed: number, ground: Ground): Promise<Life> {
  const world = new World(seed, ground)
  const { history } = world
  const told = (broken: Broken | null): Life => {
    return { seed, steps: history.steps, hash: history.hash, counts: history.counts, broken }
  }
  try {
    await begin(world)
    while (history.steps < roughSteps) await world.step()
    await rest(world)
    return told(null)
  } catch (error) {
    const { invariant, facts } =
      error instanceof Breach ? error : new Breach('the simulation itself goes on', { error: (error as Error).stack })
    return told({ seed, step: history.steps, invariant, facts, last: history.last })
  } finally {
    world.leave()
  }
}

async function begin(world: World): Promise<void> {
  const { random, scenery, people } = world
  const luck = world.isCalm
  world.isCalm = true
  for (const name of queueNames) {
    if (random.chance(0.8))
      await settled(world, people.store.do(setQueue, name, { policy: drawQueueChange(random), actor }))
  }
  if (world.hasAccounts) await settled(world, actOnAccount(world, true))
  if (world.hasAdmission) await settled(world, actOnAdmission(world, true))
  world.isCalm = luck
  new People(world).begin()
  new Faults(world).begin()
  const workers = random.between(1, scenery.workersMax)
  for (let index = 0; index < workers; index++) {
    world.timeline.add(random.between(0, 300), null, 'start', () => {
      world.startWorker({ canAll: random.chance(0.7) })
    })
  }
}

async function settled(world: World, work: Promise<unknown>): Promise<void> {
  let isOver = false
  work.finally(() => {
    isOver = true
  })
  while (!isOver) await world.step()
}

/**
 * From here on nothing goes wrong: all that stands in the way of nothing goes on (I7), every occurrence that is over has
 * its end (I6), and whoever is told to stop does.
 */
async function rest(world: World): Promise<void> {
  const { timeline, scenery, books, clock, random } = world
  calm(world)
  const calmAt = timeline.now
  const { leaseMs, pollMs = 0, beatMs = 0 } = scenery.settings
  // Whoever slept when a wake-up was lost looks after a poll; whose clock was set back waits a minute at the most.
  const leastMs = pollMs + 1_500
  const mostMs = 2 * leaseMs + 2 * pollMs + beatMs + 90_000
  for (const steps = world.history.steps; ; ) {
    await world.step()
    const passedMs = timeline.now - calmAt
    if (passedMs < leastMs || world.history.steps % lookEvery > 0) continue
    const isGone = (workerId: number) => world.processes.some((one) => one.isGone && one.workerIds.has(workerId))
    const left = stuck(books, { now: clock.now(), calmAt, isGone })
    if (left.length === 0) break
    if (passedMs > mostMs) throw new Breach('I7 once faults stop, all goes on', { passedMs, left: left.slice(0, 3) })
    if (world.history.steps - steps > restStepsMax) throw new Error('This world does not come to rest.')
  }
  for (const schedule of books.schedules.records.values()) {
    const { row } = schedule
    const isActive =
      row.deleted_at === null && row.disabled_at === null && row.paused_until === null && row.is_done === 0
    // The step that lifts a stop may still be behind a slow call of the same people.
    const isStopped = books.holds.isStopped(clock.now()) || books.holds.isStopped(clock.now() - 1_500)
    const isBack = timeline.now <= clock.backAt + 61_000
    if (isActive && !isStopped && !isBack) books.schedules.demandFired(schedule, clock.now() - 1_500)
  }
  await startAtOnce(world)
  world.judgeWhole()
  const stopsBy = Math.max(timeline.now, ...world.workers.map(({ frozenUntil }) => frozenUntil)) + stopMsMax
  for (const worker of world.workers) worker.stop(world, random.pick([0, 1_000]))
  while (world.workers.length > 0) {
    await world.step()
    if (timeline.now > stopsBy) throw new Breach('whoever is told to stop does', { left: world.workers.length })
  }
  world.judgeWhole()
}

/** Where no wake-up is lost, work that comes is begun at once, however seldom anybody looks by himself. */
async function startAtOnce(world: World): Promise<void> {
  const { timeline, scenery, books } = world
  if (scenery.wakeLoss > 0) return
  // What people had asked for before it became calm may have been done since.
  if (world.hasAdmission) await settled(world, endAdmission(world.people.store))
  await settled(world, liftWide(world))
  const by = enqueuer(world)
  const answer = by.store.enqueue([{ queue: 'quick', target: { handler: 'first' }, payload: null }])
  let id = ''
  answer.then(([enqueued]) => {
    id = enqueued?.id ?? ''
  })
  // A worker in the same program may ask for it before it is on its way.
  await turnOfTheEventLoop()
  while (id === '' && !by.isGone) await world.step()
  // Its worker was told to stop, and the program has ended before it heard.
  if (id === '') return
  const untilAt = timeline.now + startMsMax
  const hasBegun = () => (books.runs.byText(id)?.fence ?? 0) > 0
  while (!hasBegun() && timeline.now <= untilAt) await world.step()
  if (!hasBegun()) throw new Breach('a wake-up that is not lost wakes', { run: id, afterMs: startMsMax })
}

function calm(world: World): void {
  const { timeline, random, people, workers } = world
  world.isCalm = true
  world.luck.comeBack()
  for (const worker of workers) {
    worker.isDeaf = false
    const isKeptWaiting = worker.frozenUntil > timeline.now || [...worker.calls].some(({ fate }) => fate.isSlow)
    worker.isHampered = isKeptWaiting || worker.standing === 'stopping'
    if (worker.standing === 'running' && random.chance(0.7)) worker.stop(world, random.pick([0, 500]))
  }
  for (const { process, finish } of world.witness.running()) {
    timeline.add(random.between(0, 50), process, 'target ends', finish)
  }
  void liftWide(world)
  for (const queue of queueNames) {
    people.store.do(setQueue, queue, { policy: { rateLimit: null }, actor }).catch((error: Error) => {
      world.broke(new Breach('a calm store answers', { error: error.message }))
    })
  }
  world.startWorker({ canAll: true })
}

/** A hold on everything, or on a kind of work, would keep the last run from starting. */
async function liftWide(world: World): Promise<void> {
  const { store } = world.people
  try {
    for (const { id, scope } of await store.look(listHolds)) {
      if (scope === 'namespace' || scope === 'kind') await store.do(liftHold, id, { actor })
    }
  } catch (error) {
    world.broke(new Breach('a calm store answers', { error: (error as Error).message }))
  }
}
