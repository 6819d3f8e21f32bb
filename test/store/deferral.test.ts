import { expect, it } from 'vitest'
import type { Outcome } from '../../src/core/run/verdict.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { onEachDatabase, startAt } from './scene.ts'

const hour = 3_600_000
const day = 24 * hour

onEachDatabase('a run that is deferred', (scene) => {
  const quota = (until: number): Outcome => ({ kind: 'deferred', until, reason: 'quota spent' })

  /** Leases the run at an instant and ends the attempt so. */
  async function attempt(id: string, at: number, outcome: Outcome) {
    scene().clock.now = at
    return scene().end(await scene().leaseOf(id), outcome)
  }

  it('is ready again at the instant it names, with its budget and its row of releases as they were', async () => {
    const id = await scene().enqueue()
    await attempt(id, startAt, { kind: 'released' })
    const answer = await attempt(id, startAt, quota(startAt + hour))
    expect(answer).toMatchObject({ answer: 'written', status: 'ready', nextEligibleAt: startAt + hour })
    expect(await scene().show(id)).toMatchObject({
      status: 'ready',
      attempts: 0,
      releases: 1,
      fence: 2,
      waiting: { for: 'instant', until: startAt + hour, reason: 'deferred: quota spent' },
    })
    scene().clock.now = startAt + hour - 1
    expect(await scene().lease()).toEqual([])
    scene().clock.now = startAt + hour
    expect(await scene().leaseOf(id)).toMatchObject({ fence: 3, attempts: 0 })
    const attempts = await scene().read((context) => listAttempts(context, id))
    expect(attempts[1]).toMatchObject({ outcome: 'deferred', reason: 'quota spent', ends: null })
  })

  it('is parked a day after its first deferral, though it was given back in between', async () => {
    const id = await scene().enqueue()
    await attempt(id, startAt, quota(startAt + hour))
    await attempt(id, startAt + hour, { kind: 'released' })
    expect(await attempt(id, startAt + 2 * hour, quota(startAt + 30 * day))).toMatchObject({
      nextEligibleAt: startAt + day,
    })
    expect(await attempt(id, startAt + day, quota(startAt + 30 * day))).toMatchObject({ status: 'parked' })
    expect(await scene().show(id)).toMatchObject({ parked: { reason: 'quota spent (deferred for 24h)' } })
  })

  it('has another day after an attempt that came to something, and after a reset', async () => {
    const id = await scene().enqueue()
    await attempt(id, startAt, quota(startAt + 20 * hour))
    await attempt(id, startAt + 20 * hour, { kind: 'failed', reason: 'broken' })
    const again = startAt + 23 * hour
    expect(await attempt(id, again, quota(again + 30 * day))).toMatchObject({ nextEligibleAt: again + day })
    expect(await attempt(id, again + day, quota(again + 30 * day))).toMatchObject({ status: 'parked' })
    await scene().write((context) => resetRun(context, id))
    const reset = again + day + hour
    expect(await attempt(id, reset, quota(reset + 30 * day))).toMatchObject({ nextEligibleAt: reset + day })
  })

  it('fails where an exhausted run fails, and asks for no earlier deferral where there is none to settle', async () => {
    const id = await scene().enqueue({ onExhausted: 'fail' })
    await attempt(id, startAt, quota(startAt + day))
    expect(await attempt(id, startAt + day, quota(startAt + day))).toMatchObject({ status: 'failed' })
  })
})
