import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { readOutput } from '../../src/store/reads/read-output.ts'
import type { Attempt } from '../../src/targets/attempt.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import type { Fault } from './faulty-store.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }
const kilobytes = (count: number, letter = 'x') => letter.repeat(count * 1024)

/** A worker whose every write of output is seen, and may go wrong. */
async function scene(
  work: (attempt: Attempt) => unknown,
  fault: (write: number) => Fault | undefined = () => undefined,
) {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const writes: string[] = []
  world.fault = (verb, call, args) => {
    if (verb !== 'appendOutput') return undefined
    writes.push(args[1] as string)
    return fault(call)
  }
  const here = await stage({ clock, store: world.store })
  here.handle('work', work)
  await here.engine.start()
  const id = await here.enqueue({ target, options: { timeoutMs: 3_600_000 } })
  await here.until('run.started')
  return { clock, world, here, id, writes, text: async () => (await world.real.look(readOutput, id))?.text }
}

describe('output', () => {
  it('is gathered for 250 ms and written in its order', async () => {
    const gate = deferred()
    const { clock, here, writes } = await scene(async (attempt) => {
      for (const word of ['one ', 'two ', '', 'three']) attempt.output(word)
      await gate.promise
    })
    clock.advance(249)
    await settleDown()
    expect(writes).toEqual([])
    clock.advance(1)
    await settleDown()
    expect(writes).toEqual(['one two three'])
    gate.resolve()
    await here.until('run.completed')
    expect(writes).toHaveLength(1)
  })

  it('is written at once when 64 KB have gathered, also while another write was under way', async () => {
    const gate = deferred()
    const slow = deferred()
    const { clock, here, writes } = await scene(
      async (attempt) => {
        attempt.output(kilobytes(64, 'a'))
        await settleDown()
        attempt.output(kilobytes(60, 'b'))
        attempt.output(kilobytes(4, 'b'))
        await gate.promise
        attempt.output('c')
        await stopped(attempt)
      },
      (write) => (write === 1 ? slow.promise : undefined),
    )
    await settleDown(60)
    // One write at a time: what comes meanwhile waits for its end, and becomes one larger write.
    expect(writes).toEqual([kilobytes(64, 'a')])
    slow.resolve()
    await settleDown()
    expect(writes.slice(1)).toEqual([kilobytes(64, 'b')])
    gate.resolve()
    await settleDown()
    clock.advance(250)
    await settleDown()
    expect(writes.slice(2)).toEqual(['c'])
    expect(here.of('worker.failed')).toEqual([])
  })

  it('that came during a write follows after 250 ms, while its run goes on', async () => {
    const slow = deferred()
    const { clock, writes } = await scene(
      async (attempt) => {
        attempt.output(kilobytes(64))
        await settleDown()
        attempt.output('little')
        await stopped(attempt)
      },
      (write) => (write === 1 ? slow.promise : undefined),
    )
    await settleDown(60)
    slow.resolve()
    await settleDown()
    expect(writes).toHaveLength(1)
    clock.advance(250)
    await settleDown()
    expect(writes.slice(1)).toEqual(['little'])
  })

  it('of a source that is faster than the store holds the source up until there is room', async () => {
    const slow = deferred()
    let isDrained = false
    const { here, text } = await scene(
      async (attempt) => {
        for (let part = 0; part < 6; part++) attempt.output(kilobytes(64))
        await attempt.drained()
        isDrained = true
      },
      (write) => (write === 1 ? slow.promise : undefined),
    )
    await settleDown(60)
    expect(isDrained).toBe(false)
    slow.resolve()
    await here.until('run.completed')
    expect(isDrained).toBe(true)
    expect((await text())?.length).toBe(6 * 64 * 1024)
  })

  it('is all written before the end of its attempt is, in order, one write at a time', async () => {
    const slow = deferred()
    let [under, most] = [0, 0]
    const { here, text, world } = await scene(
      async (attempt) => {
        attempt.output(kilobytes(64, 'a'))
        await settleDown()
        attempt.output('end')
      },
      (write) => async (call) => {
        most = Math.max(most, ++under)
        if (write === 1) await slow.promise
        const answer = await call()
        under--
        return answer
      },
    )
    let settles = 0
    const { fault } = world
    world.fault = (verb, ...rest) => {
      if (verb === 'settle') settles++
      return fault(verb, ...rest)
    }
    await settleDown(90)
    expect(settles).toBe(0)
    slow.resolve()
    await here.until('run.completed')
    expect(await text()).toBe(`${kilobytes(64, 'a')}end`)
    expect(most).toBe(1)
  })

  it('that the store did not take is offered again every half second, and nothing of it is lost', async () => {
    const { clock, here, text, writes } = await scene(
      (attempt) => attempt.output('important'),
      (write) => (write <= 2 ? 'before' : undefined),
    )
    await settleDown()
    expect(writes).toHaveLength(1)
    clock.advance(500)
    await settleDown()
    expect(writes).toHaveLength(2)
    clock.advance(500)
    await here.until('run.completed')
    expect(await text()).toBe('important')
  })

  it('that the store refuses is told of, and its run ends as it would have', async () => {
    const { here } = await scene(
      (attempt) => attempt.output('odd'),
      () => () => Promise.reject(new BelfryError('invalid', 'No.')),
    )
    await here.until('run.completed')
    expect(here.of('worker.failed')).toMatchObject([{ loop: 'output', error: { message: 'No.' } }])
  })

  it('is how a run may learn that its lease was taken, and then it stops and says nothing more', async () => {
    const gate = deferred()
    const ended = deferred<unknown>()
    const { clock, here, id, world, writes } = await scene(async (attempt) => {
      await gate.promise
      attempt.output('too late')
      await stopped(attempt)
      attempt.output('later still')
      ended.resolve(attempt.signal.reason)
    })
    await world.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    gate.resolve()
    await settleDown()
    clock.advance(250)
    expect(await ended.promise).toBe('lease-lost')
    await settleDown()
    expect(writes).toEqual(['too late'])
    expect(here.of('run.lease-lost')).toMatchObject([{ runId: id, because: 'taken-back' }])
  })

  it('of a handler that was left behind is not taken in after the end of its attempt', async () => {
    const gate = deferred()
    const spoken = deferred()
    const { clock, here, writes } = await scene(async (attempt) => {
      await gate.promise
      attempt.output('from the grave')
      await attempt.drained()
      spoken.resolve()
    })
    clock.advance(3_600_000)
    clock.advance(200)
    await here.until('run.retrying')
    gate.resolve()
    await spoken.promise
    clock.advance(250)
    await settleDown()
    expect(writes).toEqual([])
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('keeps no handler waiting that was left behind while the store did not answer', async () => {
    const slow = deferred()
    const goesOn = deferred()
    const { clock } = await scene(
      async (attempt) => {
        for (let part = 0; part < 6; part++) attempt.output(kilobytes(64))
        await attempt.drained()
        goesOn.resolve()
      },
      () => slow.promise,
    )
    clock.advance(3_600_000)
    clock.advance(200)
    await goesOn.promise
    slow.resolve()
  })
})
