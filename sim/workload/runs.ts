import { pause } from '../../src/core/clock.ts'
import { BelfryError, isPassing } from '../../src/core/error.ts'
import type { Enqueued, NewRun } from '../../src/store/port.ts'
import type { Process } from '../process.ts'
import { handlerNames } from '../worker.ts'
import type { World } from '../world.ts'
import { drawAccounts } from './accounts.ts'
import { drawCalendar } from './admission.ts'
import { queueNames } from './queues.ts'

/** The keys that were used before, with the run that each idempotency key was answered with. */
export interface Keys {
  readonly idempotency: Map<string, string>
  made: number
}

const triesMax = 6
const tryAgainMs = 20

/** Takes some work in. Whoever is not answered asks again, if the keys of all runs make that safe. */
export async function enqueueSome(world: World, keys: Keys): Promise<void> {
  const { people, random } = world
  const kind = random.weighted({ 'with keys': 3, some: 3, lone: 3 })
  const withKeys = kind === 'with keys'
  const length = kind === 'lone' ? 1 : random.pick([1, 1, 3, 6])
  const inputs = Array.from({ length }, () => {
    if (withKeys) return drawKeyedRun(nextKey(world, keys))
    return kind === 'lone' ? drawWork(world) : { ...drawWork(world), ...drawWaits(world) }
  })
  for (let tries = 1; tries <= triesMax; tries++) {
    try {
      const answers = await enqueuer(world).store.enqueue(inputs)
      judge(world, keys, inputs, answers)
      return
    } catch (error) {
      const isUnknown = error instanceof BelfryError && error.code === 'commit-unknown'
      if (!isPassing(error) || (isUnknown && !withKeys)) throw error
      if (isUnknown) world.history.count('act: enqueue again after an unknown commit')
      await pause(people.clock, tryAgainMs)
    }
  }
}

/** People by themselves, or a program that has a worker in it. Whoever tries again may be another one. */
export function enqueuer({ random, scenery, people, workers, timeline }: World): Process {
  if (!random.chance(scenery.enqueuedByWorkers)) return people
  const awake = workers.filter(({ standing, frozenUntil }) => standing === 'running' && frozenUntil <= timeline.now)
  return awake.length === 0 ? people : random.pick(awake)
}

/** Mostly a new key; sometimes one that was used before, by another client say. */
function nextKey({ random }: World, keys: Keys): string {
  return random.chance(0.1) && keys.made > 0 ? `i${random.between(1, keys.made)}` : `i${++keys.made}`
}

/** What comes with a key is the same whenever it comes: another input under the same key would be a conflict. */
function drawKeyedRun(idempotencyKey: string): NewRun {
  return { queue: 'default', target: { handler: 'first' }, payload: idempotencyKey, idempotencyKey }
}

/** Work that waits for nobody but a free slot. */
function drawWork(world: World): NewRun {
  const { random, clock } = world
  // The payload says so too, so that the target knows how long it may take.
  const timeoutMs = random.chance(0.2) ? random.between(50, 3_000) : null
  const account = world.hasAccounts ? drawAccounts(world) : {}
  const calendar = world.hasAdmission ? drawCalendar(world) : {}
  const options = { ...(timeoutMs !== null && { timeoutMs }), ...account, ...calendar }
  return {
    queue: random.pick(queueNames),
    target: { handler: random.pick(handlerNames) },
    payload: timeoutMs === null ? { some: 'work' } : { timeoutMs },
    ...(Object.keys(options).length > 0 && { options }),
    ...(random.chance(0.2) && { priority: random.between(-2, 200) }),
    ...(random.chance(0.1) && { deadline: clock.now() + random.between(10, 8_000) }),
    ...(random.chance(0.25) && { repeatable: false }),
    ...(random.chance(0.2) && { onExhausted: random.pick(['park', 'fail'] as const) }),
  }
}

function drawWaits({ random, clock }: World): Partial<NewRun> {
  return {
    ...(random.chance(0.2) && { notBefore: clock.now() + random.between(1, 4_000) }),
    ...(random.chance(0.35) && { concurrencyKey: random.pick(['one', 'two']) }),
    ...(random.chance(0.15) && { dedupeKey: random.pick(['this', 'that']) }),
  }
}

function judge(world: World, keys: Keys, inputs: readonly NewRun[], answers: readonly Enqueued[]): void {
  for (const [index, { idempotencyKey }] of inputs.entries()) {
    const answer = answers[index]
    const told = () => ({ input: inputs[index], answer })
    const run = answer === undefined ? undefined : world.books.runs.byText(answer.id)
    world.demand(run !== undefined, 'I5 what was acknowledged is there', told)
    if (idempotencyKey === undefined || answer === undefined) continue
    const first = keys.idempotency.get(idempotencyKey)
    world.demand(first === undefined || first === answer.id, 'a key is always answered with its run', told)
    keys.idempotency.set(idempotencyKey, answer.id)
  }
}
