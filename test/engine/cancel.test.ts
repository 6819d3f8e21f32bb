import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

describe('cancelling a leased run', () => {
  it('stops it at once when its worker is in this process', async () => {
    // No renewal comes while the clock stands.
    const clock = new TestClock()
    const here = await stage({ clock, store: await openPlace({ clock }) })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw attempt.signal.reason
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    expect(await here.store.do(cancelRun, id, 'not needed')).toBe('cancel-requested')
    expect(await here.until('run.cancelled')).toMatchObject({ runId: id, reason: 'not needed' })
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'cancelled', end: { reason: 'not needed' } })
  })

  it('reaches its worker with the next renewal when every wake-up is lost', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = true
    const here = await stage({ clock, store: world.store })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    const id = await here.enqueue({ target })
    await here.engine.start()
    await here.until('run.started')
    await here.store.do(cancelRun, id, 'not needed')
    clock.advance(10_000)
    await here.until('run.cancelled')
  })

  it('that comes after its end leaves the end as it is, marked as late', async () => {
    const here = await stage()
    const gate = deferred()
    here.handle('work', () => gate.promise.then(() => 'done'))
    const world = faulty(here.store)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    gate.resolve()
    await here.until('run.completed')
    expect(await world.store.do(cancelRun, id, 'too late')).toBe('already-ended')
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed' })
  })

  it('from another process reaches its worker', async () => {
    const here = await stage({ place: 'sqlite' })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    const other = await openStore(`sqlite:${here.store.place}`)
    try {
      await other.do(cancelRun, id, 'from elsewhere')
      expect(await here.until('run.cancelled')).toMatchObject({ runId: id })
    } finally {
      await other.close()
    }
  })
})
