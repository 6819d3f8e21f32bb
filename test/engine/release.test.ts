import { describe, expect, it } from 'vitest'
import { kernelHoldReasons } from '../../src/core/hold-reason.ts'
import { openStore } from '../../src/open-store.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { releaseLeased } from '../../src/store/leases/stop-leased.ts'
import type { Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, stage, stopped } from './stage.ts'

const target = { handler: 'work' }
const everything = { scope: 'namespace', subject: '' } as const
const actor = { name: 'tester', door: 'test' }

/** As `belfry stop --release` does it. */
async function stopAndRelease(store: Store): Promise<void> {
  await store.do(putHold, { ...everything, reason: kernelHoldReasons.stopped, actor })
  await store.do(releaseLeased, { ...everything, reason: 'Incident 4711', limit: 100 })
}

describe('a release of leased runs', () => {
  it.each([
    ['at once', false, 0],
    ['with the next renewal when every wake-up is lost', true, 10_000],
  ])('reaches their worker %s, and uses no attempt', async (_, losesWakes, waitMs) => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = losesWakes
    const here = await stage({ clock, store: world.store })
    const reasons: unknown[] = []
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      reasons.push(attempt.signal.reason)
      throw new Error('it was stopped')
    })
    const id = await here.enqueue({ target })
    await here.engine.start()
    await here.until('run.started')
    await stopAndRelease(here.store)
    clock.advance(waitMs)
    expect(await here.until('run.retrying')).toMatchObject({ runId: id, reason: 'Incident 4711' })
    expect(reasons).toEqual(['release'])
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0, fence: 1 })
  })

  it('from another process parks a run that must not be repeated, uncounted', async () => {
    const here = await stage({ place: 'sqlite' })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('it was stopped')
    })
    await here.engine.start()
    const id = await here.enqueue({ target, repeatable: false })
    await here.until('run.started')
    const other = await openStore(`sqlite:${here.store.place}`)
    try {
      await stopAndRelease(other)
      expect(await here.until('run.parked')).toMatchObject({ runId: id, reason: 'effect-unknown' })
      expect(await here.store.look(findRun, id)).toMatchObject({ attempts: 0 })
    } finally {
      await other.close()
    }
  })

  it('leaves the end of a handler that finished meanwhile', async () => {
    const here = await stage()
    const gate = deferred()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      await gate.promise
      return 'done'
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await stopAndRelease(here.store)
    gate.resolve()
    await here.until('run.completed')
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed' })
  })
})
