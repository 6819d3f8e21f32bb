import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { turnOfTheEventLoop } from '../../src/engine/loop.ts'
import type { Store } from '../../src/store/port.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }

/** A worker on a store whose calls are noted when they are asked for and when they are answered. */
async function scene({ maxConcurrent, keepsOrder = true }: { maxConcurrent: number; keepsOrder?: boolean }) {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const store = keepsOrder ? world.store : withoutOrder(world.store)
  const here = await stage({ clock, store, maxConcurrent })
  const calls: string[] = []
  world.fault = (verb) => {
    if (verb !== 'settle' && verb !== 'lease') return undefined
    calls.push(`${verb} asked`)
    return async (call) => {
      const answer = await call()
      calls.push(`${verb} answered`)
      return answer
    }
  }
  return { clock, world, here, calls }
}

function withoutOrder(store: Store): Store {
  return new Proxy(store, { get: (of, name) => (name === 'keepsOrder' ? false : Reflect.get(of, name, of)) })
}

type Scenery = Awaited<ReturnType<typeof scene>>

/** Two runs where there is room for one; the answer lets the first of them end. */
async function oneAfterTheOther(scenery: Scenery, start: { slots?: number } = {}): Promise<() => void> {
  return (await twoInLine(scenery, start))[0]
}

/** The same; the answer lets each of them end. */
async function twoInLine(scenery: Scenery, start: { slots?: number } = {}): Promise<[() => void, () => void]> {
  const { here, calls } = scenery
  const gates = [deferred(), deferred()] as const
  here.handle('work', ({ payload }) => gates[payload as number]?.promise)
  await here.store.enqueue([0, 1].map((payload) => ({ target, payload })))
  await here.engine.start(start)
  await here.until('run.started')
  await settleDown()
  calls.length = 0
  return [() => gates[0].resolve(), () => gates[1].resolve()]
}

describe('what begins', () => {
  it('is asked for along with the ends that make room for it, and not a second time', async () => {
    const scenery = await scene({ maxConcurrent: 1 })
    const endFirst = await oneAfterTheOther(scenery)
    endFirst()
    await scenery.here.until('run.started', 2)
    await settleDown()
    expect(scenery.calls.slice(0, 2)).toEqual(['settle asked', 'lease asked'])
    expect(scenery.calls.filter((call) => call === 'lease asked')).toHaveLength(1)
  })

  it('is asked for after the ends where the store does not keep the order', async () => {
    const scenery = await scene({ maxConcurrent: 1, keepsOrder: false })
    const endFirst = await oneAfterTheOther(scenery)
    endFirst()
    await scenery.here.until('run.started', 2)
    expect(scenery.calls.slice(0, 3)).toEqual(['settle asked', 'settle answered', 'lease asked'])
  })

  it('is asked for after the ends beside another worker, who would never find room otherwise; alone again, along', async () => {
    const scenery = await scene({ maxConcurrent: 1 })
    const { clock, here, calls } = scenery
    const worker = { name: 'other', host: 'elsewhere', can: { kinds: [], handlers: [] }, beatMs: 60_000 }
    const other = await here.store.do(registerWorker, worker)
    const [endFirst, endSecond] = await twoInLine(scenery)
    endFirst()
    await here.until('run.started', 2)
    expect(calls.slice(0, 3)).toEqual(['settle asked', 'settle answered', 'lease asked'])

    await here.store.beat([other], { stopped: true })
    await here.store.enqueue([{ target, payload: 2 }])
    clock.advance(5_000)
    await settleDown()
    calls.length = 0
    endSecond()
    await here.until('run.started', 3)
    expect(calls.slice(0, 2)).toEqual(['settle asked', 'lease asked'])
  })

  it('is asked for again when the ends come after all', async () => {
    const scenery = await scene({ maxConcurrent: 1 })
    const endFirst = await oneAfterTheOther(scenery)
    const { world, here } = scenery
    const late = deferred()
    world.fault = (verb) => (verb === 'settle' ? late.promise : undefined)
    endFirst()
    await settleDown()
    expect(here.of('run.started')).toHaveLength(1)
    late.resolve()
    await here.until('run.started', 2)
  })

  it('is asked for along with the ends where all slots of the worker were taken', async () => {
    const scenery = await scene({ maxConcurrent: 100 })
    const endFirst = await oneAfterTheOther(scenery, { slots: 1 })
    endFirst()
    await scenery.here.until('run.started', 2)
    expect(scenery.calls.slice(0, 2)).toEqual(['settle asked', 'lease asked'])
  })

  it('comes to a halt when ends cannot be written, instead of piling up ends', async () => {
    const { clock, world, here } = await scene({ maxConcurrent: 100 })
    here.handle('work', () => 'done')
    const brokenOff = async () => {
      await turnOfTheEventLoop()
      throw new BelfryError('unavailable', 'It broke off; nothing was written.')
    }
    world.fault = (verb) => (verb === 'settle' ? brokenOff : undefined)
    await here.store.enqueue(Array.from({ length: 50 }, () => ({ target })))
    await here.engine.start({ slots: 1 })
    for (let round = 0; round < 10; round++) {
      await settleDown()
      clock.advance(5_000)
    }
    expect(here.of('run.started').length).toBeLessThanOrEqual(2)
    world.fault = () => undefined
    clock.advance(5_000)
    await here.until('run.completed', 50)
  })
})
