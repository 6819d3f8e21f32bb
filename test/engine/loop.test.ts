import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { Loop, turnOfTheEventLoop } from '../../src/engine/loop.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { CountingClock, deferred } from './stage.ts'

const failed = () => 1_000

async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await turnOfTheEventLoop()
}

describe('a loop', () => {
  it('sleeps until the instant its tick named', async () => {
    const clock = new TestClock()
    let ticks = 0
    const tick = async () => {
      ticks++
      return 100
    }
    const loop = new Loop({ name: 'a', clock, failed, tick })
    loop.start()
    await turns()
    expect(ticks).toBe(1)
    clock.advance(99)
    await turns()
    expect(ticks).toBe(1)
    clock.advance(1)
    await turns()
    expect(ticks).toBe(2)
    await loop.stop()
  })

  it('does not lose a wake-up that comes while a tick is under way', async () => {
    const gates = [deferred(), deferred()]
    let ticks = 0
    const tick = async () => {
      await gates[ticks++]?.promise
      return null
    }
    const loop = new Loop({ name: 'a', clock: new TestClock(), failed, tick })
    loop.start()
    await turns()
    loop.wake()
    expect(ticks).toBe(1)
    gates[0]?.resolve()
    await turns()
    expect(ticks).toBe(2)
    expect(loop.isAsleep).toBe(false)
    gates[1]?.resolve()
    await turns()
    expect(loop.isAsleep).toBe(true)
    await loop.stop()
    expect(ticks).toBe(2)
  })

  it('never runs two ticks at once, however often it is woken', async () => {
    let [under, most, ticks] = [0, 0, 0]
    const tick = async () => {
      most = Math.max(most, ++under)
      await turns(2)
      ticks++
      under--
      return 0
    }
    const loop = new Loop({ name: 'a', clock: systemClock, failed, tick })
    loop.start()
    loop.start()
    for (let times = 0; times < 50; times++) {
      loop.wake()
      await turnOfTheEventLoop()
    }
    await loop.stop()
    expect(most).toBe(1)
    expect(ticks).toBeGreaterThan(5)
  })

  it('goes on after a tick that threw, as long later as it is told, and counts failures in a row', async () => {
    const clock = new TestClock()
    const told: unknown[] = []
    let ticks = 0
    const tick = async () => {
      if (++ticks <= 2) throw new Error(`tick ${ticks}`)
      return null
    }
    const loop = new Loop({
      name: 'a',
      clock,
      tick,
      failed: (name, error, inARow) => {
        told.push([name, (error as Error).message, inARow])
        return 10
      },
    })
    loop.start()
    await turns()
    clock.advance(10)
    await turns()
    clock.advance(10)
    await turns()
    expect(told).toEqual([
      ['a', 'tick 1', 1],
      ['a', 'tick 2', 2],
    ])
    expect(ticks).toBe(3)
    await loop.stop()
  })

  it('counts failures in a row anew after a tick that went well', async () => {
    const clock = new TestClock()
    const inARow: number[] = []
    let ticks = 0
    const tick = async () => {
      if (++ticks !== 2) throw new Error('no')
      return 10
    }
    const note = (_loop: string, _error: unknown, times: number) => {
      inARow.push(times)
      return 10
    }
    const loop = new Loop({ name: 'a', clock, tick, failed: note })
    loop.start()
    for (let tick = 0; tick < 3; tick++) {
      await turns()
      clock.advance(10)
    }
    await turns()
    expect(inARow).toEqual([1, 1, 2])
    await loop.stop()
  })

  it('is asleep only while nothing is under way and nothing was asked for', async () => {
    const clock = new TestClock()
    const gate = deferred()
    let ticks = 0
    const tick = async () => {
      if (++ticks === 2) await gate.promise
      return 100
    }
    const loop = new Loop({ name: 'a', clock, failed, tick })
    expect(loop.isAsleep).toBe(true)
    loop.start()
    expect(loop.isAsleep).toBe(false)
    await turns()
    expect(loop.isAsleep).toBe(true)
    clock.advance(100)
    await turns()
    expect(loop.isAsleep).toBe(false)
    gate.resolve()
    await turns()
    expect(loop.isAsleep).toBe(true)
    loop.wake()
    expect(loop.isAsleep).toBe(false)
    await loop.stop()
    expect(loop.isAsleep).toBe(true)
  })

  it('leaves no alarm behind when it is woken or stopped, because an alarm keeps a program from ending', async () => {
    const clock = new CountingClock()
    const loop = new Loop({ name: 'a', clock, failed, tick: async () => 3_600_000 })
    loop.start()
    await turns()
    for (let times = 0; times < 3; times++) {
      loop.wake()
      await turns()
    }
    expect(clock.alarms).toBe(1)
    await loop.stop()
    expect(clock.alarms).toBe(0)
  })

  it('stops at once when it sleeps, and after its tick when one is under way', async () => {
    const gate = deferred()
    const asleep = new Loop({ name: 'a', clock: new TestClock(), failed, tick: async () => null })
    asleep.start()
    await turns()
    await asleep.stop()

    let isOver = false
    const busy = new Loop({ name: 'b', clock: new TestClock(), failed, tick: () => gate.promise.then(() => 0) })
    busy.start()
    const stopping = busy.stop().then(() => {
      isOver = true
    })
    await turns()
    expect(isOver).toBe(false)
    gate.resolve()
    await stopping
  })

  it('withstands being started and stopped at random', async () => {
    let ticks = 0
    const tick = async () => {
      ticks++
      return 0
    }
    const loop = new Loop({ name: 'a', clock: systemClock, failed, tick })
    for (let round = 0; round < 200; round++) {
      loop.start()
      if (round % 3 === 0) await turnOfTheEventLoop()
      if (round % 2 === 0) loop.wake()
      await loop.stop()
    }
    const after = ticks
    await turns(10)
    expect(ticks).toBe(after)
    expect(ticks).toBeGreaterThanOrEqual(200)
  })
})
