import { BelfryError } from '../src/core/error.ts'
import { defaultQueue } from '../src/core/queue/policy.ts'
import { turnOfTheEventLoop } from '../src/engine/loop.ts'
import type { LeaseRequest, NewRun } from '../src/store/port.ts'
import { isLone } from '../src/store/runs/lone-run.ts'
import type { Break } from './brittle-database.ts'
import { type Answer, beginCall, type Call, type Came, cameOf } from './faulty-store.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

const failsShare = 0.15
const answerTurnsMax = 8

/**
 * A lone run is on its way to the store, and its process is told so. What a worker there asks for in the same turn of the
 * event loop goes the same way, and the same becomes of it.
 */
export function arrive(call: Call, runs: readonly NewRun[]): void {
  const { process } = call
  if (!isLone(runs) || !process.awaitsArrivals) return
  process.arrival = call
  setImmediate(() => leave(call))
  process.hearComing(queueOf(runs[0]))
}

/** From here on nothing goes along with it. */
export function leave(call: Call): void {
  if (call.process.arrival === call) call.process.arrival = null
}

/** Takes the lease along with the run that is on its way, or answers nothing where none is. */
export function join(world: World, process: Process, request: LeaseRequest): Promise<unknown> | null {
  const { arrival } = process
  if (arrival === null || arrival.joined !== null) return null
  const [[run]] = arrival.args as [[NewRun]]
  if (queueOf(run) !== request.queue) return null
  return new Promise((resolve, reject) => {
    const make = () => world.store.lease(request)
    const { fate } = arrival
    const call = { process, verb: 'lease', args: [request], madeAt: world.timeline.now, fate, make, resolve, reject }
    arrival.joined = { ...call, joined: null }
    world.note(process, 'asks for a lease along with it')
    beginCall(world, arrival.joined)
  })
}

function queueOf({ queue = defaultQueue }: NewRun): string {
  return queue
}

/**
 * Both in one transaction of the real store, which is told beneath it what becomes of that transaction and tells both
 * callers by itself. Something in it may fail that has to do with one of them; then each is done again, alone.
 */
export async function together(world: World, call: Call, lease: Call): Promise<Answer[]> {
  const how = breakOf(world, call)
  if (how === 'fails') world.history.count('seen: lease on its way with a run, fails')
  world.breakNext(how)
  world.wakes.begin(call)
  let leasing: Promise<Came> | null = null
  const unlisten = world.store.listen(
    () => undefined,
    () => {
      leasing = cameOf(lease.make)
    },
  )
  const enqueued = await cameOf(call.make)
  unlisten()
  world.tookEffect(call, enqueued)
  const leased = await soon(leasing ?? cameOf(lease.make))
  world.wakes.end()
  const facts = () => ({ how, enqueued })
  world.demand(leased !== null, 'a lease that went along with a run is answered', facts)
  if (leased === null) return [{ call, came: enqueued }]
  world.tookEffect(lease, leased)
  const answers = [
    { call, came: enqueued },
    { call: lease, came: leased },
  ]
  demandTold(world, answers, how)
  return answers
}

/** What came within a few turns of the event loop: by then the store has done each of the two by itself as well. */
async function soon(coming: Promise<Came>): Promise<Came | null> {
  const answer: { came: Came | null } = { came: null }
  coming.then((came) => {
    answer.came = came
  })
  for (let turn = 0; turn < answerTurnsMax && answer.came === null; turn++) await turnOfTheEventLoop()
  return answer.came
}

function breakOf({ random, isCalm }: World, { fate: { end } }: Call): Break | null {
  if (end === 'refused' || end === 'unknown-done' || end === 'unknown-undone') return end
  return end === 'fine' && !isCalm && random.chance(failsShare) ? 'fails' : null
}

/** Of a transaction that broke off nobody knows more than the other, and of one that was refused nobody is told otherwise. */
function demandTold(world: World, answers: readonly Answer[], how: Break | null): void {
  if (how === null || how === 'fails') return
  const told = answers.map(({ came }) =>
    'error' in came && came.error instanceof BelfryError ? came.error.code : null,
  )
  const code = how === 'refused' ? 'unavailable' : 'commit-unknown'
  const facts = () => ({ how, told })
  world.demand(
    told.every((one) => one === code),
    'whoever shares a transaction hears the same of it',
    facts,
  )
}
