import { turnOfTheEventLoop } from '../src/engine/loop.ts'
import type { LeaseRequest, NewRun, Store, Wake } from '../src/store/port.ts'
import { arrive, join, leave, together } from './arrival.ts'
import { failure } from './brittle-database.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** What becomes of a call, drawn when it is made. */
export interface Fate {
  /** How long it is on its way to the store, and its answer on the way back. */
  readonly thereMs: number
  readonly backMs: number
  /** The answer comes in the same step as the effect. */
  readonly isPrompt: boolean
  readonly isSlow: boolean
  /**
   * Whether it takes effect, and what the caller is told: the answer; that nothing happened; or that nobody knows, which
   * is told with and without an effect. Or the caller dies, before or after.
   */
  readonly end: 'fine' | 'refused' | 'unknown-done' | 'unknown-undone' | 'dies-before' | 'dies-after'
}

/** A call of one process, from when it is made until it is answered. */
export interface Call {
  readonly process: Process
  readonly verb: string
  readonly args: readonly unknown[]
  readonly madeAt: number
  readonly fate: Fate
  readonly make: () => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** The lease that is done in the same transaction, if a worker of its process asked for it in time. */
  joined: Call | null
}

type NamedStep = Parameters<Store['do']>[0]

export type Came = { readonly value: unknown } | { readonly error: unknown }

export function isRead(verb: string): boolean {
  return verb.startsWith('read.')
}

/** The store as one process sees it: the real one, behind whatever happens to calls on their way. */
export function faultyStore(world: World, process: Process): Store {
  const own: Record<string, unknown> = {
    do: (verb: NamedStep, ...args: unknown[]) => {
      return begin(world, process, { verb: verb.name, args, make: () => world.store.do(verb, ...args) })
    },
    look: (read: NamedStep, ...args: unknown[]) => {
      return begin(world, process, { verb: `read.${read.name}`, args, make: () => world.store.look(read, ...args) })
    },
    keepsOrder: world.scenery.keepsOrder,
    hears: () => !(process.isDeaf && process.knowsItIsDeaf),
    wakeOthers: () => world.wakes.toOthers(process),
    close: async () => undefined,
    enqueue: (runs: readonly NewRun[]) => {
      const make = () => world.store.enqueue(runs)
      return begin(world, process, { verb: 'enqueue', args: [runs], make, begun: (call) => arrive(call, runs) })
    },
    lease: (request: LeaseRequest) => {
      const make = () => world.store.lease(request)
      return join(world, process, request) ?? begin(world, process, { verb: 'lease', args: [request], make })
    },
    listen: (heard: (wake: Wake) => void, coming?: (queue: string) => void) => {
      const listener = { heard, coming }
      process.ears.add(listener)
      return () => process.ears.delete(listener)
    },
  }
  return verbsOf(world, process, (): object => world.store, own) as Store
}

/** Verbs are made when they are first asked for, and are the same from then on. */
function verbsOf(world: World, process: Process, real: () => object, own: Record<string, unknown>): object {
  return new Proxy(own, {
    get(made, name) {
      if (typeof name !== 'string' || Object.hasOwn(made, name)) return Reflect.get(made, name)
      const value: unknown = Reflect.get(real(), name)
      if (typeof value !== 'function') return value
      made[name] = (...args: unknown[]) => {
        return begin(world, process, { verb: name, args, make: () => value.apply(real(), args) })
      }
      return made[name]
    },
  })
}

interface Asked extends Pick<Call, 'verb' | 'args' | 'make'> {
  /** Told when it is on its way. */
  readonly begun?: (call: Call) => void
}

function begin(world: World, process: Process, { begun, ...asked }: Asked): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (process.isGone) return
    const fate = world.luck.fateOf(process, asked.verb)
    const call: Call = { ...asked, process, madeAt: world.timeline.now, fate, resolve, reject, joined: null }
    beginCall(world, call)
    // The effect happens in the store, so it does not wait for a process that is frozen, nor end with one that dies.
    const { now } = world.timeline
    const afterMs = world.scenery.keepsOrder ? Math.max(fate.thereMs, process.lastEffectAt + 1 - now) : fate.thereMs
    process.lastEffectAt = now + afterMs
    world.timeline.add(afterMs, null, `call ${call.verb}`, () => takeEffect(world, call))
    begun?.(call)
  })
}

export function beginCall(world: World, call: Call): void {
  const { process, madeAt, fate } = call
  process.calls.add(call)
  if (isTrouble(world, call)) process.troubledAt = Math.max(process.troubledAt, madeAt + fate.thereMs + fate.backMs)
}

/**
 * Whether it may cost a worker its leases: what renews them, what grants them too late, and what says which were granted.
 * All else is asked again while the leases are renewed.
 */
function isTrouble({ scenery }: World, { verb, fate: { isSlow, end } }: Call): boolean {
  // Where order is kept, whatever follows a slow call is slow.
  if (isSlow && scenery.keepsOrder) return true
  if (verb === 'lease') return isSlow
  return (verb === 'renew' || verb === 'read.leasesOf') && (isSlow || end !== 'fine')
}

async function takeEffect(world: World, call: Call): Promise<void> {
  const { process, verb, fate } = call
  leave(call)
  // Of what a dead process had asked for, some was on its way already.
  if (process.isGone && world.random.chance(0.5)) return world.note(process, `${verb} is lost with its process`)
  const { end } = fate
  if (end !== 'fine') world.history.count(`fault: ${end}`)
  if (call.joined !== null) world.history.count(`seen: lease on its way with a run, ${end}`)
  if (end === 'dies-before' && !process.isGone) return world.crash(process, `before ${verb}`)
  world.note(process, `${verb} ${end}`)
  const answers = await (call.joined === null ? alone(world, call) : together(world, call, call.joined))
  if (process.isGone) return
  if (end === 'dies-after') return world.crash(process, `after ${verb}`)
  const isPrompt = fate.isPrompt && process.frozenUntil <= world.timeline.now
  const news = end === 'fine' ? world.wakes.newsOf(call) : []
  if (isPrompt) return respondAll(world, answers, news)
  world.timeline.add(fate.backMs, process, `answer ${verb}`, () => {
    world.note(process, `hears the answer of ${verb}`)
    return respondAll(world, answers, news)
  })
}

/** What a call is going to be told. */
export interface Answer {
  readonly call: Call
  readonly came: Came
}

async function alone(world: World, call: Call): Promise<Answer[]> {
  const { end } = call.fate
  if (end === 'refused' || end === 'unknown-undone') return [{ call, came: { error: failure(end) } }]
  const came = await made(world, call)
  return [{ call, came: end === 'unknown-done' ? { error: failure(end) } : came }]
}

async function made(world: World, call: Call): Promise<Came> {
  world.wakes.begin(call)
  const came = await cameOf(call.make)
  world.wakes.end()
  world.tookEffect(call, came)
  return came
}

export async function cameOf(make: () => Promise<unknown>): Promise<Came> {
  try {
    return { value: await make() }
  } catch (error) {
    return { error }
  }
}

/** Whoever enqueued hears of it a turn before whoever leased with him, as from the store. */
async function respondAll(world: World, [first, second]: readonly Answer[], news: readonly Wake[]): Promise<void> {
  if (first !== undefined) respond(world, first, news)
  if (second === undefined) return
  await turnOfTheEventLoop()
  if (!second.call.process.isGone) respond(world, second, [])
}

/** Its own store tells a process of its own writes just before it answers. */
function respond(world: World, { call, came }: Answer, news: readonly Wake[]): void {
  const { process, resolve, reject } = call
  process.calls.delete(call)
  for (const wake of news) process.hear(wake)
  if ('error' in came) {
    reject(came.error)
    return
  }
  world.answered(call, came.value)
  resolve(came.value)
}
