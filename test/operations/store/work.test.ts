import { describe, expect, it } from 'vitest'
import { parts } from '../../../src/parts.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { listWorkers } from '../../../src/store/reads/list-workers.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { databaseOf, SqlStore } from '../../../src/store/sql-store.ts'
import { startProcess } from '../mortal.ts'
import { actor, checkIn, gone, here, hour, inEachWard, minute, second, Ward } from './ward.ts'

const target = { handler: 'report' }

/** A run whose lease has just expired. */
async function expired(ward: Ward, more: Parameters<Ward['worker']>[0] = {}) {
  await ward.store.enqueue([{ target }])
  const workerId = await ward.worker(more)
  const [lease] = await ward.leaseFor(workerId, 3 * minute)
  ward.clock.advance(3 * minute)
  return { workerId, runId: lease?.runId ?? '' }
}

inEachWard((ward) => {
  describe('workers:', () => {
    it('that none is alive is wrong where there is work or an active schedule, and else noted', async () => {
      const look = async () => checkIn(await ward().doctor(), 'workers')
      expect(await look()).toMatchObject({
        state: 'note',
        findings: [{ says: expect.stringContaining('there is no work for one') }],
      })
      const { store } = ward()
      await store.do(putSchedule, { name: 's', timing: { everyMs: hour } }, { mode: 'put', actor })
      expect(await look()).toMatchObject({
        state: 'wrong',
        findings: [{ says: 'No worker is alive, but schedules are active.', next: 'belfry up' }],
      })
      await store.do(deleteSchedule, 's')
      await store.enqueue([{ target }])
      expect(await look()).toMatchObject({
        state: 'wrong',
        findings: [{ says: 'No worker is alive, but there is work in queue default.' }],
      })
      await ward().worker()
      expect(await look()).toMatchObject({ state: 'ok', says: '1 worker is alive.', findings: [] })
    })

    it('that none is alive is wrong where a run only waits for its instant, or is leased', async () => {
      const { store, clock } = ward()
      const [run] = await store.enqueue([{ target, notBefore: clock.now() + 5 * hour }])
      const look = async () => checkIn(await ward().doctor(), 'workers')
      expect(await look()).toMatchObject({
        state: 'wrong',
        findings: [
          {
            says: 'No worker is alive, but the first of the runs that wait for an instant may start in 5h.',
            next: 'belfry up',
          },
        ],
      })
      await store.do(setQueue, 'default', { paused: { reason: 'no paper' }, actor })
      expect((await look()).state).toBe('note')
      await store.do(setQueue, 'default', { paused: false, actor })
      await store.do(cancelRun, run?.id ?? '', 'no need')
      expect((await look()).state).toBe('note')
      await store.enqueue([{ target }])
      await ward().leaseFor(await ward().worker(), hour)
      clock.advance(2 * minute + 1)
      expect((await look()).findings[0]).toMatchObject({
        state: 'wrong',
        says: 'No worker is alive, but no worker would reclaim leases that expire.',
      })
    })

    it('that none is alive is wrong after fix has put a run into backoff', async () => {
      await expired(ward())
      const after = await ward().doctor({ fix: true })
      expect(checkIn(after, 'stuck').state).toBe('ok')
      expect([after.ok, checkIn(after, 'workers').findings[0]?.says]).toEqual([
        false,
        'No worker is alive, but the first of the runs that wait for an instant may start in 1s.',
      ])
    })

    // Only Linux tells one process from another.
    it.runIf(here !== null)('one whose process was killed is dead at once, and noted as stopped by fix', async () => {
      const { identity, kill } = startProcess()
      const id = await ward().worker({ process: identity })
      expect(checkIn(await ward().doctor({ fix: true }), 'workers')).toMatchObject({ state: 'ok', findings: [] })
      await kill()
      const before = checkIn(await ward().doctor(), 'workers')
      expect(before.says).toBe('No worker is alive.')
      expect(before.findings.at(-1)).toMatchObject({ subject: id, state: 'note', next: 'belfry doctor --fix' })
      const after = checkIn(await ward().doctor({ fix: true }), 'workers')
      expect(after.findings[0]).toMatchObject({ subject: id, fixed: 'It was recorded as dead.' })
      const [worker] = await ward().store.look(listWorkers)
      expect(worker?.stoppedAt).toBe(ward().clock.now())
    })

    it('one that is only silent is told, and never noted as stopped from here', async () => {
      const elsewhere = { ...gone, bootId: 'another machine' }
      const [silent, unknown] = [await ward().worker({ process: elsewhere }), await ward().worker()]
      ward().clock.advance(2 * minute + 1)
      const { findings } = checkIn(await ward().doctor({ fix: true }), 'workers')
      expect(findings.map(({ subject, fixed }) => [subject, fixed])).toEqual([
        ['workers', undefined],
        [silent, undefined],
        [unknown, undefined],
      ])
      for (const { stoppedAt } of await ward().store.look(listWorkers)) expect(stoppedAt).toBeNull()
    })

    // Only Linux tells one process from another.
    it.runIf(here !== null)(
      'a dead one that holds a run is left to a worker, which ends what it left behind',
      async () => {
        await ward().store.enqueue([{ target }])
        const id = await ward().worker({ process: gone })
        await ward().leaseFor(id, hour)
        const { findings } = checkIn(await ward().doctor({ fix: true }), 'workers')
        expect(findings.at(-1)).toMatchObject({ subject: id, says: expect.stringContaining('It holds 1 run.') })
        expect((await ward().store.look(listWorkers))[0]?.stoppedAt).toBeNull()
      },
    )
  })

  describe('stuck:', () => {
    it('a lease that expired with nobody alive is wrong at once, and fix takes it back', async () => {
      const { runId } = await expired(ward())
      const before = checkIn(await ward().doctor(), 'stuck')
      expect(before).toMatchObject({
        state: 'wrong',
        findings: [{ subject: runId, next: 'belfry up, or belfry doctor --fix' }],
      })
      expect((await ward().store.look(findRun, runId))?.status).toBe('leased')
      const after = checkIn(await ward().doctor({ fix: true }), 'stuck')
      expect(after).toMatchObject({
        state: 'ok',
        findings: [{ subject: runId, next: null, fixed: expect.stringContaining('the run is now ready') }],
      })
      expect((await ward().store.look(findRun, runId))?.status).toBe('ready')
    })

    it('a lease that has not expired is never taken', async () => {
      await ward().store.enqueue([{ target }, { target }])
      const id = await ward().worker({ process: gone })
      const [one] = await ward().leaseFor(id, hour)
      ward().clock.advance(hour - 1)
      await ward().doctor({ fix: true })
      expect((await ward().store.look(findRun, one?.runId ?? ''))?.status).toBe('leased')
    })

    it('beside a live worker it is wrong after a minute, and taken back by fix after five', async () => {
      const { runId } = await expired(ward())
      const live = await ward().worker()
      const look = async (fix = false) => checkIn(await ward().doctor({ fix }), 'stuck')
      const passes = async (ms: number) => {
        ward().clock.advance(ms)
        await ward().store.beat([live])
      }
      expect((await look()).state).toBe('ok')
      await passes(minute)
      expect(await look(true)).toMatchObject({ state: 'wrong', findings: [{ subject: runId }] })
      await passes(4 * minute)
      expect(await look(true)).toMatchObject({ state: 'ok', findings: [{ fixed: expect.any(String) }] })
    })

    // Only Linux tells one process from another.
    it.runIf(here !== null)('it is not taken while the process of its holder runs on this machine', async () => {
      const { runId } = await expired(ward(), { process: here })
      const { findings } = checkIn(await ward().doctor({ fix: true }), 'stuck')
      expect(findings).toMatchObject([{ subject: runId, next: expect.stringContaining('still runs on this machine') }])
      expect((await ward().store.look(findRun, runId))?.status).toBe('leased')
    })

    // Only Linux tells one process from another.
    it.runIf(here !== null)('it is taken though a process with the number of its holder runs here', async () => {
      const { runId } = await expired(ward(), { process: { ...here, bootId: 'another machine' } })
      expect(checkIn(await ward().doctor({ fix: true }), 'stuck').findings[0]).toMatchObject({
        subject: runId,
        next: null,
      })
    })

    // Only Linux tells one process from another.
    it.runIf(here !== null)('that one is held here keeps no other from being taken', async () => {
      const held = await expired(ward(), { process: here, beatMs: second })
      const left = await expired(ward())
      await ward().doctor({ fix: true })
      const statusOf = async (id: string) => (await ward().store.look(findRun, id))?.status
      expect([await statusOf(held.runId), await statusOf(left.runId)]).toEqual(['leased', 'ready'])
    })

    it('one of another namespace is never taken, though it expired before ours', async () => {
      await ward().sql(`insert into belfry.namespace (id, name, created_at) values (4711, 'other', 0)`)
      const other = new SqlStore(databaseOf(ward().store), {
        ns: 4711,
        namespace: 'other',
        defaultMaxConcurrent: 5,
        parts,
      })
      const theirs = await expired(new Ward(other, ward().clock, ward().url))
      const ours = await expired(ward())
      const { findings } = checkIn(await ward().doctor({ fix: true }), 'stuck')
      expect(findings).toMatchObject([{ subject: ours.runId, fixed: expect.stringContaining('reclaimed') }])
      expect((await ward().store.look(findRun, ours.runId))?.status).toBe('ready')
      expect((await other.look(findRun, theirs.runId))?.status).toBe('leased')
    })

    it('after the clock was set back nothing is taken', async () => {
      const { runId, workerId } = await expired(ward())
      ward().clock.advance(hour)
      await ward().store.beat([workerId])
      ward().clock.set(ward().clock.now() - 30 * minute)
      await ward().doctor({ fix: true })
      expect((await ward().store.look(findRun, runId))?.status).toBe('leased')
    })

    it('a run at work for an hour is noted, and one that was to end five minutes ago', async () => {
      const { store, clock } = ward()
      await store.enqueue([{ target }])
      const id = await ward().worker({ beatMs: hour })
      const [lease] = await ward().leaseFor(id, 2 * hour)
      const runId = lease?.runId ?? ''
      clock.advance(55 * minute)
      await store.do(cancelRun, runId, 'enough')
      clock.advance(5 * minute - 1)
      expect(checkIn(await ward().doctor(), 'stuck')).toMatchObject({ state: 'ok', findings: [] })
      clock.advance(1)
      expect(checkIn(await ward().doctor(), 'stuck')).toMatchObject({
        state: 'note',
        findings: [
          { subject: runId, next: `If that is too long: belfry run cancel ${runId}` },
          { subject: runId, says: expect.stringContaining('was requested 5m ago') },
        ],
      })
    })

    it('runs that are too late to start, and that nobody can end as such, are wrong', async () => {
      const { store, clock } = ward()
      const deadline = clock.now() + second
      const made = await store.enqueue([
        { target, deadline },
        { target, deadline },
        { payload: 1, deadline },
        { target },
      ])
      await store.do(
        putSchedule,
        { name: 's', timing: { cron: '0 * * * *', zone: 'UTC' }, target: { handler: 'late' }, maxLatenessMs: minute },
        { mode: 'put', actor },
      )
      clock.advance(hour)
      const [late] = (await store.fireDue({ limit: 1 })).runs
      const look = async () => checkIn(await ward().doctor(), 'stuck').findings
      clock.advance(minute)
      expect((await look()).map(({ subject }) => subject)).toEqual([made[0]?.id, made[2]?.id])
      clock.advance(1)
      await ward().worker({ can: { kinds: ['http'] } })
      expect(await look()).toMatchObject([
        {
          subject: made[0]?.id,
          state: 'wrong',
          says: 'In queue default 2 runs are too late to start and cannot end as skipped, because no live worker has the handler "report".',
          next: `End each of them: belfry run cancel ${made[0]?.id}`,
        },
        { subject: made[2]?.id, says: expect.stringContaining('because no outside host leases from it') },
        { subject: late?.id, says: expect.stringContaining('no live worker has the handler "late"') },
      ])
      await ward().worker({ can: { kinds: ['handler'] } })
      expect(await look()).toMatchObject([{ subject: made[2]?.id }])
      await ward().sql(`update belfry.queue set policy = '{'`)
      expect(await look()).toEqual([])
    })

    it('parked runs are noted by their reasons, with the commands that explain and reset one', async () => {
      const { store } = ward()
      await store.do(setQueue, 'default', { policy: { maxAttempts: 1 }, actor })
      await store.enqueue([{ target }, { target }])
      const ends = (await ward().leaseFor(await ward().worker())).map((lease) => {
        return { ...lease, outcome: { kind: 'failed', reason: 'no disk' } as const }
      })
      await store.settle(ends)
      const first = ends[0]?.runId
      expect(checkIn(await ward().doctor({ fix: true }), 'stuck')).toMatchObject({
        state: 'note',
        findings: [
          {
            subject: first,
            says: expect.stringMatching(/^2 runs of queue default are parked with the reason .*no disk/),
            next: `belfry explain run ${first}, then belfry run reset ${first}`,
          },
        ],
      })
    })
  })

  describe('no-worker:', () => {
    it('ready runs that no live worker can execute are wrong, and those without a target wait for hosts', async () => {
      const { store } = ward()
      await store.enqueue([{ target }, { target }, { payload: 1, queue: 'out side' }])
      const live = await ward().worker({ can: { kinds: ['http'], handlers: ['mail'] } })
      expect(checkIn(await ward().doctor(), 'no-worker')).toMatchObject({
        state: 'wrong',
        findings: [
          {
            subject: 'report',
            says: 'In queue default 2 runs are ready and need the handler "report", which no live worker has.',
            next: `A program of yours must register it, with belfry.handle('report', …), and start(). See them: belfry run list --status ready --queue default`,
          },
          {
            subject: 'out side',
            state: 'note',
            says: expect.stringContaining('outside hosts, which lease through a door'),
            next: `Lease them as an outside host: belfry sched lease HOST --queue 'out side'. Or enqueue them again with a target, and cancel these. See them: belfry run list --status ready --queue 'out side'`,
          },
        ],
      })
      await store.beat([live], { can: { kinds: [], handlers: ['report'], host: true } })
      expect(checkIn(await ward().doctor(), 'no-worker')).toMatchObject({ state: 'ok', findings: [] })
      ward().clock.advance(2 * minute + 1)
      expect(checkIn(await ward().doctor(), 'no-worker')).toMatchObject({ state: 'wrong' })
    })

    it('a worker that works for other queues only does not count, and neither does it end what is too late', async () => {
      const { store, clock } = ward()
      await store.enqueue([
        { target, queue: 'a' },
        { target, queue: 'b' },
        { target, queue: 'b', deadline: clock.now() + second },
      ])
      await ward().worker({ can: { kinds: ['handler'], queues: ['a'] } })
      clock.advance(second)
      const diagnosis = await ward().doctor()
      expect(checkIn(diagnosis, 'no-worker').findings).toMatchObject([
        {
          subject: 'report',
          state: 'wrong',
          says: 'In queue b 2 runs are ready and need the handler "report", which no live worker has for that queue.',
          next: expect.stringMatching(/^Let the program that has it work for queue b too/),
        },
      ])
      expect(checkIn(diagnosis, 'stuck').findings.map(({ says }) => says)).toEqual([
        'In queue b 1 run is too late to start and cannot end as skipped, because no live worker that works for that queue has the handler "report".',
      ])
      await ward().worker({ can: { kinds: ['handler'], queues: ['b'] } })
      const served = await ward().doctor()
      expect([checkIn(served, 'no-worker').state, checkIn(served, 'stuck').state]).toEqual(['ok', 'ok'])
    })

    it('a worker of the command line is the way to commands and HTTP only', async () => {
      const { store } = ward()
      await store.enqueue([
        { target },
        { target: { command: ['true'] } },
        { target: { http: { url: 'https://a.test' } } },
      ])
      const ways = async () =>
        checkIn(await ward().doctor(), 'no-worker').findings.map(({ subject, next }) => [subject, next])
      const byHandler = expect.stringContaining(`belfry.handle('report', …)`)
      const all = [
        ['command', 'belfry up'],
        ['report', byHandler],
        ['http', 'belfry up'],
      ]
      expect(await ways()).toEqual(all)
      await ward().worker({ can: { kinds: [] } })
      expect(await ways()).toEqual(all)
    })
  })
})
