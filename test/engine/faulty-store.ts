import { BelfryError } from '../../src/core/error.ts'
import type { Store, Wake } from '../../src/store/port.ts'

/** What happens to a call: its answer is lost before or after it took effect, or it stays away until it is let go. */
export type Fault = 'before' | 'after' | Promise<unknown>

export interface FaultyStore {
  readonly store: Store
  /** The same store without faults. */
  readonly real: Store
  /** Asked at each call, with how often this verb was called; `undefined` lets it through. */
  fault: (verb: string, call: number) => Fault | undefined
  /** Whether wake-ups are lost, and the store knows it. */
  isDeaf: boolean
  /** Whether wake-ups are lost, and nobody knows it. */
  losesWakes: boolean
}

/** A store whose calls go wrong when a test says so. */
export function faulty(real: Store): FaultyStore {
  const calls = new Map<string, number>()
  const store = new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      if (name === 'hears') return () => !world.isDeaf
      if (name === 'listen') {
        return (heard: (wake: Wake) => void) => target.listen((wake) => world.isDeaf || world.losesWakes || heard(wake))
      }
      return (...args: unknown[]) => {
        const count = (calls.get(name) ?? 0) + 1
        calls.set(name, count)
        const fault = world.fault(name, count)
        const call = () => Reflect.apply(value, target, args) as unknown
        return fault === undefined ? call() : faultyCall(call, fault)
      }
    },
  })
  const world: FaultyStore = { store, real, fault: () => undefined, isDeaf: false, losesWakes: false }
  return world
}

async function faultyCall(call: () => unknown, fault: Fault): Promise<unknown> {
  if (fault === 'before') throw new BelfryError('unavailable', 'It broke off; nothing was written.')
  if (fault !== 'after') await fault
  const answer = await call()
  if (fault !== 'after') return answer
  throw new BelfryError('commit-unknown', 'It may or may not have taken effect.')
}
