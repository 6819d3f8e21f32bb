import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { openPlace, stage } from './stage.ts'

export const target = { handler: 'work' }
export const can = { kinds: ['handler'] }

/** A worker to be, on a store that counts what it is asked. */
export async function scene({ maxConcurrent }: { maxConcurrent?: number } = {}) {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const here = await stage({ clock, store: world.store, ...(maxConcurrent === undefined ? {} : { maxConcurrent }) })
  const calls: string[] = []
  world.fault = (verb) => {
    calls.push(verb)
    return undefined
  }
  return { clock, world, here, count: (verb: string) => calls.filter((one) => one === verb).length }
}
