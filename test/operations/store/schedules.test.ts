import { describe, expect, it } from 'vitest'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findSchedule, listLedger } from '../../../src/store/reads/find-schedule.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { verbsAt } from '../desk.ts'
import { actor, checkIn, hour, inEachWard, minute, type Ward } from './ward.ts'

async function put({ store }: Ward, spec: Partial<ScheduleSpec> & { readonly name: string }): Promise<void> {
  const whole = { timing: { everyMs: hour }, target: { handler: 'report' }, ...spec }
  await store.do(putSchedule, whole, { mode: 'put', actor })
}

inEachWard((ward) => {
  describe('overdue:', () => {
    it('a schedule that nobody looked at for a minute is wrong: to be fired by a worker, or explained', async () => {
      await put(ward(), { name: 'night ly' })
      ward().clock.advance(hour + minute - 1)
      expect(checkIn(await ward().doctor(), 'overdue').state).toBe('ok')
      ward().clock.advance(1)
      expect(checkIn(await ward().doctor(), 'overdue')).toMatchObject({
        state: 'wrong',
        findings: [{ subject: 'night ly', says: expect.stringContaining('overdue for 1m'), next: 'belfry up' }],
      })
      await ward().worker()
      expect(checkIn(await ward().doctor(), 'overdue').findings).toMatchObject([
        { next: `belfry explain schedule 'night ly'` },
      ])
      await ward().store.fireDue({ limit: 10 })
      expect(checkIn(await ward().doctor(), 'overdue').findings).toEqual([])
    })
  })

  describe('overdue, at the same instant to doctor and to explain:', () => {
    it.each([
      ['an hour', hour],
      ['thirty days', 720 * hour],
    ])('a schedule with a period of %s, with a worker alive and without one', async (_, everyMs) => {
      for (const hasWorker of [false, true]) {
        await put(ward(), { name: 's', timing: { everyMs } })
        const said = async (passMs: number) => {
          ward().clock.advance(passMs)
          if (hasWorker) await ward().worker()
          const { code } = await verbsAt(() => ward().context).schedules.explain('s')
          return [code, checkIn(await ward().doctor(), 'overdue').state]
        }
        expect(await said(everyMs + minute - 1)).toEqual(['due-now', 'ok'])
        expect(await said(1)).toEqual(['overdue', 'wrong'])
        await ward().store.do(deleteSchedule, 's')
      }
    })
  })

  describe('chain:', () => {
    it('a schedule that nothing will ever wake is wrong, and mended by fix', async () => {
      await put(ward(), { name: 'report' })
      await ward().sql('update belfry.schedule set wake_at = null, next_run_at = null')
      expect(checkIn(await ward().doctor(), 'chain')).toMatchObject({
        state: 'wrong',
        findings: [{ subject: 'report', next: 'belfry doctor --fix' }],
      })
      expect((await ward().store.look(findSchedule, 'report'))?.wakeAt).toBeNull()
      expect(checkIn(await ward().doctor({ fix: true }), 'chain')).toMatchObject({
        state: 'ok',
        findings: [{ subject: 'report', fixed: expect.stringContaining('now it runs next at') }],
      })
      expect((await ward().store.look(findSchedule, 'report'))?.wakeAt).toBe(ward().clock.now() + hour)
    })

    it('a gate that nobody opened is wrong, and opened by fix', async () => {
      const { store } = ward()
      await store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 1 }, actor })
      await store.enqueue(['k', 'k'].map((concurrencyKey) => ({ target: { handler: 'report' }, concurrencyKey })))
      await ward().leaseFor(await ward().worker())
      expect(checkIn(await ward().doctor(), 'chain').state).toBe('ok')
      await ward().sql('delete from belfry.lease')
      expect(checkIn(await ward().doctor(), 'chain')).toMatchObject({
        state: 'wrong',
        findings: [{ subject: 'default' }],
      })
      expect(checkIn(await ward().doctor({ fix: true }), 'chain')).toMatchObject({
        state: 'ok',
        findings: [{ next: null }],
      })
    })

    it('what is mended for another namespace is not told here', async () => {
      await put(ward(), { name: 'ours' })
      await put(ward(), { name: 'secret' })
      await ward().sql(`insert into belfry.namespace (id, name, created_at) values (99999, 'theirs', 0)`)
      await ward().sql(`update belfry.schedule set wake_at = null`)
      await ward().sql(`update belfry.schedule set ns = 99999 where name = 'secret'`)
      const answer = await ward().doctor({ fix: true })
      expect(checkIn(answer, 'chain').findings).toMatchObject([{ subject: 'ours' }])
      expect(JSON.stringify(answer)).not.toContain('secret')
    })
  })

  describe('handlers:', () => {
    it('a target that no live worker can execute is wrong; of disabled schedules nothing is said', async () => {
      await put(ward(), { name: 'known' })
      await put(ward(), { name: 'misspelt', target: { handler: 'reprot' } })
      await put(ward(), { name: 'disabled', target: { handler: 'gone' } })
      await ward().store.do(pauseSchedule, 'disabled', { reason: 'r' })
      await ward().worker({ can: { kinds: ['http'], handlers: ['report'] } })
      expect(checkIn(await ward().doctor(), 'handlers')).toMatchObject({
        state: 'wrong',
        findings: [
          {
            subject: 'misspelt',
            says: 'Schedule misspelt needs the handler "reprot", and no live worker has it.',
            next: `A program of yours must register it, with belfry.handle('reprot', …), and start(). Or change the target: belfry schedule update misspelt`,
          },
        ],
      })
      await put(ward(), { name: 'misspelt', target: { command: ['true'] } })
      expect(checkIn(await ward().doctor(), 'handlers').findings).toMatchObject([
        { subject: 'misspelt', next: 'belfry up' },
      ])
    })

    it('a worker that works for other queues only does not count', async () => {
      await put(ward(), { name: 'lonely', queue: 'b' })
      await put(ward(), { name: 'served' })
      await ward().worker({ can: { kinds: ['handler'], queues: ['a', 'default'] } })
      expect(checkIn(await ward().doctor(), 'handlers').findings).toMatchObject([
        {
          subject: 'lonely',
          state: 'wrong',
          says: 'Schedule lonely needs the handler "report", and no live worker that works for its queue b has it.',
          next: expect.stringMatching(/^Let the program that has it work for queue b too/),
        },
      ])
    })

    it('a schedule without a target is noted as one for hosts, unless there is a host', async () => {
      const { store } = ward()
      await store.do(putSchedule, { name: 'bare', timing: { everyMs: hour } }, { mode: 'put', actor })
      const look = async () => checkIn(await ward().doctor(), 'handlers').findings
      const found = [
        {
          subject: 'bare',
          state: 'note',
          says: 'Schedule bare has no target: outside hosts lease its runs through a door.',
          next: 'Give it a target: belfry schedule update bare',
        },
      ]
      expect(await look()).toEqual(found)
      await ward().worker({ can: { kinds: ['handler'] } })
      expect(await look()).toEqual(found)
      await ward().worker()
      expect(await look()).toEqual([])
    })

    it('where no worker is alive it is only noted that nobody knows', async () => {
      await put(ward(), { name: 'report' })
      expect(checkIn(await ward().doctor(), 'handlers')).toMatchObject({
        state: 'note',
        findings: [{ next: expect.stringContaining(`belfry.handle('report', …)`) }],
      })
    })
  })

  describe('failing:', () => {
    /** Fires a schedule and lets what comes of it fail. */
    async function fail(name: string, reason = 'The disk is full.'): Promise<void> {
      const { store, clock } = ward()
      clock.set((await store.look(findSchedule, name))?.nextRunAt ?? 0)
      await store.fireDue({ limit: 10 })
      const worker = await ward().worker()
      for (const lease of await ward().leaseFor(worker)) {
        await store.settle([{ ...lease, outcome: { kind: 'failed', reason, retryable: false } }])
      }
    }
    const look = async () => checkIn(await ward().doctor(), 'failing')

    it('the first failure is noted, with its reason and one full stop', async () => {
      await put(ward(), { name: 'report' })
      expect(await look()).toMatchObject({ state: 'ok', says: 'The last run of no schedule failed.' })
      await fail('report', 'The disk is full.')
      expect(await look()).toMatchObject({
        state: 'note',
        findings: [
          {
            subject: 'report',
            says: 'Schedule report failed once: The disk is full. (not retryable).',
            next: 'belfry explain schedule report',
          },
        ],
      })
    })

    it('three in a row are wrong, told by the last reason; two are not, nor three of one that somebody paused', async () => {
      await put(ward(), { name: 'report' })
      await fail('report', 'first')
      await fail('report', 'second')
      expect(await look()).toMatchObject({ state: 'note', findings: [{ says: expect.stringContaining('2 times') }] })
      await fail('report', 'third')
      expect(await look()).toMatchObject({
        state: 'wrong',
        findings: [
          {
            state: 'wrong',
            says: 'Schedule report failed 3 times in a row, last with: third (not retryable).',
            next: 'belfry explain schedule report',
          },
        ],
      })
      expect((await ward().doctor()).ok).toBe(false)
      await ward().store.do(pauseSchedule, 'report', { reason: 'I know' })
      expect(await look()).toMatchObject({ state: 'note', findings: [{ subject: 'report' }] })
    })

    it('three of one that is over are noted only, and one that cannot be read is told with its failures', async () => {
      await put(ward(), { name: 'over', maxRuns: 3 })
      for (const reason of ['first', 'second', 'third']) await fail('over', reason)
      expect(await look()).toMatchObject({ state: 'note', findings: [{ says: expect.stringContaining('third') }] })
      await ward().sql(`update belfry.schedule set spec = '{'`)
      expect(await look()).toMatchObject({
        state: 'note',
        findings: [{ says: 'Schedule over failed 3 times in a row.' }],
      })
    })

    it('one that was paused for its failures is wrong, with what ends the pause', async () => {
      await put(ward(), { name: 'paused', pauseAfterFailures: 1, onExhausted: 'fail' })
      await fail('paused', 'r')
      expect(await look()).toMatchObject({
        state: 'wrong',
        findings: [
          {
            subject: 'paused',
            says: 'Schedule paused failed once: r (not retryable). Belfry paused it for that.',
            next: 'belfry explain schedule paused, then belfry schedule resume paused',
          },
        ],
      })
    })

    it('the reason of a parked run that was reset is still told, and a pruned run takes its reason along', async () => {
      await put(ward(), { name: 'report', onExhausted: 'park' })
      await fail('report', 'parked for this')
      const [row] = await ward().store.look(listLedger, 'report')
      await ward().store.do(resetRun, row?.runId ?? '')
      expect((await look()).findings[0]?.says).toContain('parked for this')
      await ward().sql('delete from belfry.run')
      expect((await look()).findings[0]?.says).toBe('Schedule report failed once.')
    })
  })

  describe('broken:', () => {
    it.each([
      ['{', 'The stored spec of schedule odd cannot be read.', 'Restore its row'],
      ['null', 'The stored spec of schedule odd is not a schedule.', 'Restore its row'],
      [
        '{"name":"odd","timing":{"everyMs":1},"target":{}}',
        'The target of schedule odd has no kind',
        'belfry schedule update odd',
      ],
      [
        '{"name":"odd","timing":{"cron":"0 9 * * *","zone":"Mars/Phobos"}}',
        'Mars/Phobos',
        'belfry schedule update odd',
      ],
    ])('a schedule that is stored as %s is wrong, with what is wrong with it', async (spec, problem, next) => {
      await put(ward(), { name: 'odd' })
      await put(ward(), { name: 'sound' })
      await ward().sql(`update belfry.schedule set spec = '${spec}' where name = 'odd'`)
      expect(checkIn(await ward().doctor(), 'broken')).toMatchObject({
        state: 'wrong',
        findings: [{ subject: 'odd', says: expect.stringContaining(problem), next: expect.stringContaining(next) }],
      })
    })
  })
})
