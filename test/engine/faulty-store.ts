import { BelfryError } from '../../src/core/error.ts'
import type { Store, Wake } from '../../src/store/port.ts'

/**
 * What happens to a call: its answer is lost before or after it took effect, it stays away until it is let go, or
 * somebody else answers, who may make the call or not.
 */
export type Fault = 'before' | 'after' | Promise<unknown> | ((call: () => Promise<unknown>) => unknown)

type NamedStep = Parameters<Store['do']>[0]

export interface FaultyStore {
  readonly store: Store
  /** The same store without faults. */
  readonly real: Store
  /** Asked at each call, of reads as `read.findRun`, with how often this verb was called; `undefined` lets it through. */
  fault: (verb: string, call: number, args: readonly unknown[]) => Fault | undefined
  /** Whether wake-ups are lost, and the store knows it. */
  isDeaf: boolean
  /** Whether wake-ups are lost, and nobody knows it. */
  losesWakes: boolean
  /** How many listen to it. */
  listeners: number
  /** Wakes those who listen as another process would. */
  wake: (wake: Wake) => void
}

/** A store whose calls go wrong when a test says so. */
export function faulty(real: Store): FaultyStore {
  const calls = new Map<string, number>()
  const faultyVerb = (verb: string, call: (...args: unknown[]) => unknown) => {
    return (...args: unknown[]) => {
      const count = (calls.get(verb) ?? 0) + 1
      calls.set(verb, count)
      const fault = world.fault(verb, count, args)
      return fault === undefined ? call(...args) : faultyCall(() => call(...args), fault)
    }
  }
  const ears = new Set<(wake: Wake) => void>()
  const listen = (heard: (wake: Wake) => void) => {
    ears.add(heard)
    const end = real.listen((wake) => world.isDeaf || world.losesWakes || heard(wake))
    world.listeners++
    return () => {
      world.listeners--
      ears.delete(heard)
      end()
    }
  }
  const own: Record<string, unknown> = {
    listen,
    hears: () => !world.isDeaf,
    do: (verb: NamedStep, ...args: unknown[]) => faultyVerb(verb.name, (...same) => real.do(verb, ...same))(...args),
    look: (read: NamedStep, ...args: unknown[]) =>
      faultyVerb(`read.${read.name}`, (...same) => real.look(read, ...same))(...args),
  }
  const store = new Proxy(real, {
    get(_, name) {
      const value: unknown = Reflect.get(real, name, real)
      if (typeof name !== 'string') return value
      return own[name] ?? (typeof value === 'function' ? faultyVerb(name, value.bind(real)) : value)
    },
  })
  const world: FaultyStore = {
    store,
    real,
    fault: () => undefined,
    isDeaf: false,
    losesWakes: false,
    listeners: 0,
    wake: (wake) => {
      for (const heard of ears) heard(wake)
    },
  }
  return world
}

async function faultyCall(call: () => unknown, fault: Fault): Promise<unknown> {
  if (typeof fault === 'function') return fault(async () => call())
  if (fault === 'before') throw new BelfryError('unavailable', 'It broke off; nothing was written.')
  if (fault !== 'after') await fault
  const answer = await call()
  if (fault !== 'after') return answer
  throw new BelfryError('commit-unknown', 'It may or may not have taken effect.')
}
