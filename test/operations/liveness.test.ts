import { describe, expect, it } from 'vitest'
import { storeSession } from '../../src/doors/cli/session/store-session.ts'
import { noteAbsentWorker } from '../../src/doors/cli/show/no-worker.ts'
import { paintOf } from '../../src/doors/cli/show/terminal-sheet.ts'
import { workerOperations } from '../../src/operations/worker/noun.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { shown as shownBy } from '../doors/cli/shown.ts'
import { verbsAt } from './desk.ts'
import { canTellProcesses, startProcess } from './mortal.ts'
import { actor, checkIn, hour, inEachWard, second, type Ward } from './store/ward.ts'

const target = { handler: 'report' }

/** What the note behind a write says of workers. */
async function noted({ context }: Ward): Promise<string> {
  let text = ''
  const stderr = { write: (more: string) => (text += more) }
  const session = storeSession(context, {
    close: async () => undefined,
    openPrivate: () => Promise.reject(new Error('none')),
  })
  await noteAbsentWorker(session, { stderr, own: 'belfry', paint: paintOf(false), naming: {}, saysPlace: false })
  return text
}

// Only Linux tells one process from another.
describe.runIf(canTellProcesses)('a worker that was killed', () => {
  inEachWard((ward) => {
    const { runs, schedules, workers } = verbsAt(() => ward().context)

    /** A worker in a process of its own, at work at one run, with another run and an occurrence that wait. */
    async function atWork() {
      const process = startProcess()
      const workerId = await ward().worker({ process: process.identity, can: { kinds: ['handler'] } })
      const [held] = await ward().store.enqueue([{ target }])
      await ward().leaseFor(workerId, hour)
      const [ready] = await ward().store.enqueue([{ target }])
      await ward().store.do(putSchedule, { name: 's', timing: { everyMs: second }, target }, { mode: 'put', actor })
      ward().clock.advance(second)
      return { kill: process.kill, workerId, held: held?.id ?? '', ready: ready?.id ?? '' }
    }

    async function seen({ held, ready }: { held: string; ready: string }) {
      const schedule = await schedules.explain('s')
      return {
        list: (await workers.list()).map(({ isLive, isDead }) => [isLive, isDead]),
        doctor: checkIn(await ward().doctor(), 'workers').says,
        held: (await runs.explain(held)).code,
        ready: (await runs.explain(ready)).code,
        schedule: [schedule.code, schedule.sentence],
        isNoted: (await noted(ward())).includes('no worker runs'),
      }
    }

    it('is dead at once to everybody who asks, and not to some of them', async () => {
      const { kill, workerId, ...ids } = await atWork()
      expect(await seen(ids)).toEqual({
        list: [[true, false]],
        doctor: '1 worker is alive.',
        held: 'leased',
        ready: 'in-line',
        schedule: ['due-now', 'Its occurrence is due: a live worker makes a run of it at its next check.'],
        isNoted: false,
      })
      await kill()
      expect(await seen(ids)).toEqual({
        list: [[false, true]],
        doctor: 'No worker is alive.',
        held: 'holder-dead',
        ready: 'no-worker',
        schedule: ['due-now', 'Its occurrence is due, and no worker is alive.'],
        isNoted: true,
      })
      const sheet = { now: ward().clock.now() }
      expect(await shownBy(workerOperations.list, await workers.list(), sheet)).toMatch(
        / dead, last heartbeat 1 s ago /,
      )
      await ward().store.beat([workerId], { stopped: true })
      expect((await workers.list())[0]).toMatchObject({ isLive: false, isDead: false })
      expect(await shownBy(workerOperations.list, await workers.list(), sheet)).not.toMatch(/dead|died/)
    })

    it('is not asked to end its run, nor expected to renew it', async () => {
      const { kill, workerId, held } = await atWork()
      await kill()
      const answer = await runs.explain(held)
      expect(answer).toMatchObject({
        sentence: `w on h (${workerId}) died during attempt 1, and no worker is alive to reclaim it.`,
        unblock: [{ what: 'Start a worker, which reclaims it.', command: 'belfry up' }],
        next: { what: 'Start a worker, which reclaims it.' },
      })
      expect(answer.timeline.at(-1)?.detail).toBe('its worker died and cannot renew it')
      await ward().store.do(cancelRun, held, 'enough')
      expect((await runs.explain(held)).sentence).toContain(
        'Its cancellation was requested, so it then ends as cancelled.',
      )
    })

    it('gives its run back within seconds where a worker beside it lives, and elsewhere when its lease expires', async () => {
      const { kill, held } = await atWork()
      await kill()
      const other = startProcess().identity
      await ward().worker({ process: { ...other, bootId: 'another machine' } })
      const far = await runs.explain(held)
      expect(far.sentence).toMatch(/; workers on other machines reclaim it when its lease expires\.$/)
      expect(far.unblock).toEqual([
        { what: expect.stringContaining('when its lease expires'), command: null, at: far.timeline.at(-1)?.at },
      ])
      await ward().worker({ process: other })
      const near = await runs.explain(held)
      expect(near.sentence).toMatch(/; another worker reclaims it within seconds\.$/)
      expect(near.unblock).toEqual([{ what: 'A live worker reclaims it within seconds.', command: null, at: null }])
    })

    it('is told to be dead where its run stands in the way of another', async () => {
      const { kill, ready } = await atWork()
      await ward().store.do(setQueue, 'default', { policy: { maxConcurrent: 1 }, actor })
      await ward().worker({ process: startProcess().identity })
      expect((await runs.explain(ready)).waiting?.holders).toMatchObject([{ isDead: false }])
      await kill()
      expect((await runs.explain(ready)).waiting?.holders).toMatchObject([{ isDead: true }])
    })
  })
})
