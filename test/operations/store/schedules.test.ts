import { describe, expect, it } from 'vitest'
import type { ScheduleSpec } from '../../../src/core/schedule.ts'
import { actor, checkIn, hour, inEachWard, minute, type Ward } from './ward.ts'

async function put({ store }: Ward, spec: Partial<ScheduleSpec> & { readonly name: string }): Promise<void> {
  const whole = { timing: { everyMs: hour }, target: { handler: 'report' }, ...spec }
  await store.putSchedule(whole, { mode: 'put', actor })
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
        findings: [{ subject: 'night ly', says: expect.stringContaining('1m ago'), next: 'belfry up' }],
      })
      await ward().worker()
      expect(checkIn(await ward().doctor(), 'overdue').findings).toMatchObject([
        { next: `belfry explain schedule 'night ly'` },
      ])
      await ward().store.fireDue({ limit: 10 })
      expect(checkIn(await ward().doctor(), 'overdue').findings).toEqual([])
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
      expect((await ward().store.read.schedule('report'))?.wakeAt).toBeNull()
      expect(checkIn(await ward().doctor({ fix: true }), 'chain')).toMatchObject({
        state: 'ok',
        findings: [{ subject: 'report', fixed: expect.stringContaining('now it runs next at') }],
      })
      expect((await ward().store.read.schedule('report'))?.wakeAt).toBe(ward().clock.now() + hour)
    })

    it('a gate that nobody opened is wrong, and opened by fix', async () => {
      const { store } = ward()
      await store.setQueue('default', { policy: { maxConcurrentPerKey: 1 }, actor })
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
      await ward().store.pauseSchedule('disabled', { reason: 'r' })
      await ward().worker({ can: { kinds: ['http'], handlers: ['report'] } })
      expect(checkIn(await ward().doctor(), 'handlers')).toMatchObject({
        state: 'wrong',
        findings: [
          { subject: 'misspelt', says: 'Schedule misspelt needs the handler "reprot", and no live worker has it.' },
        ],
      })
      await put(ward(), { name: 'misspelt', target: { command: ['true'] } })
      expect(checkIn(await ward().doctor(), 'handlers').findings).toMatchObject([{ subject: 'misspelt' }])
    })

    it('where no worker is alive it is only noted that nobody knows', async () => {
      await put(ward(), { name: 'report' })
      expect(checkIn(await ward().doctor(), 'handlers')).toMatchObject({
        state: 'note',
        findings: [{ next: 'belfry up' }],
      })
    })
  })

  describe('failing:', () => {
    it('three failures in a row are noted, and a pause for failures with what ends it', async () => {
      await put(ward(), { name: 'once' })
      await put(ward(), { name: 'again' })
      await put(ward(), { name: 'paused', pauseAfterFailures: 1, onExhausted: 'fail' })
      await ward().sql(`update belfry.schedule set failure_count = 2 where name = 'once'`)
      await ward().sql(`update belfry.schedule set failure_count = 3 where name = 'again'`)
      await ward().store.setQueue('default', { policy: { maxAttempts: 1 }, actor })
      ward().clock.advance(hour)
      await ward().store.fireDue({ limit: 10 })
      const worker = await ward().worker()
      for (const lease of await ward().leaseFor(worker)) {
        const isIt = (await ward().store.read.schedule(lease.scheduleId ?? ''))?.spec.name === 'paused'
        if (isIt) await ward().store.settle([{ ...lease, outcome: { kind: 'failed', reason: 'r' } }])
      }
      expect(checkIn(await ward().doctor(), 'failing')).toMatchObject({
        state: 'note',
        findings: [
          { subject: 'again', says: 'Schedule again failed 3 times in a row.', next: 'belfry explain schedule again' },
          {
            subject: 'paused',
            says: 'Schedule paused failed once, and was paused for it.',
            next: 'belfry explain schedule paused, then belfry schedule resume paused',
          },
        ],
      })
    })
  })

  describe('broken:', () => {
    it.each([
      ['{', 'What is stored as spec of schedule odd cannot be read.', 'Restore its row'],
      ['null', 'What is stored of schedule odd is no schedule.', 'Restore its row'],
      [
        '{"name":"odd","timing":{"everyMs":1},"target":{}}',
        'The target of schedule odd has none of',
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
