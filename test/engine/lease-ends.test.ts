import { describe, expect, it } from 'vitest'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { can, scene, target } from './lease-scene.ts'
import { actor, pass, settleDown } from './stage.ts'

describe('a worker whose own runs end all the time', () => {
  /** Each run that ends makes room for the next one; wake-ups are lost, and nobody knows it. */
  async function busy() {
    const made = await scene({ maxConcurrent: 1 })
    const { world, here } = made
    await here.store.do(setQueue, 'other', { policy: { maxConcurrent: 5 }, actor })
    const gates: (() => void)[] = []
    here.handle('step', () => new Promise<void>((resolve) => gates.push(resolve))).handle('work', () => 'done')
    await here.store.enqueue(Array.from({ length: 50 }, () => ({ target: { handler: 'step' } })))
    await here.engine.start()
    await here.until('run.started')
    await settleDown()
    world.losesWakes = true
    const endOne = async () => {
      const { length } = here.of('run.started')
      gates.pop()?.()
      await here.until('run.started', length + 1)
      await settleDown()
    }
    return { ...made, endOne }
  }

  it('does not look at all the queues for each of them', async () => {
    const { endOne, count } = await busy()
    const looks = count('read.workAhead')
    for (let ends = 0; ends < 10; ends++) await endOne()
    expect(count('read.workAhead')).toBe(looks)
  })

  it('looks at them once a second all the same, and finds what it was not told of', async () => {
    const { clock, here, endOne } = await busy()
    const unheard = await here.enqueue({ target, queue: 'other' })
    for (let ends = 0; ends < 9; ends++) {
      clock.advance(100)
      await endOne()
    }
    expect(here.of('run.completed').map(({ runId }) => runId)).not.toContain(unheard)
    clock.advance(100)
    await endOne()
    expect(here.of('run.completed').map(({ runId }) => runId)).toContain(unheard)
  })
})

describe('a worker with one slot that a long line keeps busy', () => {
  it('finds within seconds what came into another queue unheard', async () => {
    const { clock, here, world } = await scene({ maxConcurrent: 5 })
    await here.store.do(setQueue, 'other', { policy: { maxConcurrent: 5 }, actor })
    const gates: (() => void)[] = []
    here.handle('step', () => new Promise<void>((resolve) => gates.push(resolve))).handle('work', () => 'done')
    await here.store.enqueue(Array.from({ length: 50 }, () => ({ target: { handler: 'step' } })))
    await here.engine.start({ slots: 1 })
    await here.until('run.started')
    world.losesWakes = true
    const unheard = await here.enqueue({ target, queue: 'other' })
    const hasCome = () => here.of('run.completed').some(({ runId }) => runId === unheard)
    for (let ends = 0; ends < 30 && !hasCome(); ends++) {
      clock.advance(100)
      gates.pop()?.()
      await settleDown()
    }
    expect(hasCome()).toBe(true)
  })
})

describe('the end of a run in a queue with room to spare', () => {
  /** A worker that knows whether it is alone, and has nothing to do. */
  async function rested(policy = {}, others = 0) {
    const made = await scene({ maxConcurrent: 5 })
    const { clock, here, world } = made
    for (let other = 0; other < others; other++) {
      await world.real.do(registerWorker, { name: 'other', host: 'h', can, beatMs: 60_000 })
    }
    await here.store.do(setQueue, 'default', { policy: { maxConcurrent: 5, ...policy }, actor })
    here.handle('work', () => 'done')
    await here.engine.start()
    await pass(clock, 10_000)
    const leasesOf = async () => {
      const before = made.count('lease')
      const ended = here.of('run.completed').length
      await here.enqueue({ target, concurrencyKey: 'k' })
      await here.until('run.completed', ended + 1)
      await settleDown()
      return made.count('lease') - before
    }
    return { ...made, leasesOf }
  }

  it('lets nobody go, so a worker that is alone asks for nothing', async () => {
    expect(await (await rested()).leasesOf()).toBe(1)
  })

  it('may let another of its key go, so it asks', async () => {
    const { leasesOf } = await rested({ maxConcurrentPerKey: 1 })
    await leasesOf()
    expect(await leasesOf()).toBe(2)
  })

  it('may be the end that others wait for, so beside others it asks', async () => {
    expect(await (await rested({}, 1)).leasesOf()).toBe(2)
  })
})
