import { expect, it } from 'vitest'
import { type ScheduleCode, scheduleReasons } from '../../../src/operations/reasons/schedule-reasons.ts'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { holdOn, stop } from '../../holding.ts'
import { actor, hour, minute, second, startAt } from '../../store/schedule-stage.ts'
import { onEachTold } from '../explain/stage.ts'

onEachTold('explain a schedule', (told) => {
  const seen = new Set<ScheduleCode>()
  const explain = async (name = 'report') => {
    const answer = await told().verbs.schedules.explain(name)
    seen.add(answer.code)
    return answer
  }

  it('that is due later says when, from which candidates, and agrees with schedules.next', async () => {
    await told().stage.put({})
    const answer = await explain()
    expect(answer).toMatchObject({
      code: 'due-later',
      unblock: [],
      lateMs: null,
      next: { at: startAt + hour, source: 'baseline-cron', isEstimate: false },
      candidates: [{ by: 'baseline', wishedAt: startAt + hour, effect: 'won', hint: null }],
      rules: [],
      rederived: { answer: 'same', differs: [] },
      spread: null,
      backoff: null,
    })
    expect(answer.decision).toMatchObject({ at: startAt, version: 1, state: { anchorAt: startAt } })
    expect(answer.notes).toEqual(['No worker is alive. Its runs would wait.'])
  })

  it('of a fixed delay whose run is live names the run and how that stands', async () => {
    const { stage } = told()
    await stage.put({ timing: { everyMs: hour } })
    const [run] = (await stage.fireAt(startAt + hour)).runs
    expect(await explain()).toMatchObject({
      code: 'waits-for-run',
      sentence: `Its next occurrence is measured from the end of ${run?.id}, which has not ended.`,
      waitsFor: { run: run?.id, status: 'ready', code: 'no-worker' },
      unblock: [{ what: `${run?.id} ends.` }, { what: expect.stringContaining(`belfry.handle('report', …)`) }],
      next: { at: startAt + 2 * hour, isEstimate: true },
      rederived: { answer: 'same' },
    })
    await stage.lease()
    const leased = await explain()
    expect(leased.waitsFor?.code).toBe('leased')
    expect(leased.unblock.map(({ what }) => what)).toEqual([`${run?.id} ends.`, 'Cancel it: ask its worker to stop.'])
  })

  it('that fails says so where it says when it runs next, and where to read why', async () => {
    const { stage } = told()
    await told().worker()
    const outcome = (reason: string) => ({ kind: 'failed', reason, retryable: false }) as const
    await stage.put({ timing: { everyMs: 10 * minute } })
    const first = await stage.runAt(startAt + 10 * minute, outcome('no disk.'))
    await told().worker()
    expect(await explain()).toMatchObject({
      code: 'due-later',
      sentence:
        'Its next occurrence is not due yet, but the last one failed: no disk. (not retryable); its interval of 10m has become 20m.',
      unblock: [{ command: `belfry run output ${first}` }],
    })
    const second = await stage.runAt(startAt + 30 * minute, outcome('no memory'))
    expect(await explain()).toMatchObject({
      sentence:
        'Its next occurrence is not due yet, but the last 2 in a row failed, last with: no memory (not retryable); its interval of 10m has become 40m.',
      unblock: [{ command: `belfry run output ${second}` }],
    })
    stage.to(startAt + 70 * minute)
    await told().worker()
    expect((await explain()).sentence).toMatch(/^Its occurrence is due: .* But the last 2 in a row failed, last with/)
    await stage.fire()
    expect((await explain()).sentence).toMatch(/which has not ended\. But the last 2 in a row failed/)
    await stage.end(await stage.leaseOne())
    expect(await explain()).toMatchObject({ sentence: 'Its next occurrence is not due yet.', unblock: [] })
  })

  it('of a calendar that fails says nothing of an interval, and names no run that was removed', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.runAt(startAt + hour, { kind: 'failed', reason: 'no disk', retryable: false })
    expect((await explain()).sentence).toBe(
      'Its next occurrence is not due yet, but the last one failed: no disk (not retryable).',
    )
    await stage.sql('delete from belfry.run')
    expect(await explain()).toMatchObject({
      sentence: 'Its next occurrence is not due yet, but the last one failed.',
      unblock: [],
    })
  })

  it('that was paused with a whole sentence for a reason ends with one full stop', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.store.do(pauseSchedule, 'report', { until: startAt + minute, reason: 'The disk is full.' })
    expect((await explain()).sentence).toBe('It is paused: The disk is full.')
    await stage.store.do(pauseSchedule, 'report', { reason: 'The disk is full.' })
    expect((await explain()).sentence).toBe('It is paused until it is resumed: The disk is full.')
  })

  it('that is due and not fired is due now, and overdue after a minute, whether or not a worker is alive', async () => {
    const { stage } = told()
    await stage.put({})
    stage.to(startAt + hour + 30 * second)
    expect(await explain()).toMatchObject({
      code: 'due-now',
      lateMs: 30 * second,
      sentence: 'Its occurrence is due, and no worker is alive.',
      unblock: [{ command: 'belfry up' }],
      notes: [],
      next: { at: startAt + hour },
    })
    await told().worker()
    expect(await explain()).toMatchObject({ code: 'due-now', lateMs: 30 * second, unblock: [] })
    stage.to(startAt + hour + 7 * minute)
    expect(await explain()).toMatchObject({
      code: 'overdue',
      lateMs: 7 * minute,
      sentence: 'It is overdue, and no worker is alive.',
      unblock: [{ command: 'belfry up' }],
      notes: [],
    })
    await told().worker()
    expect(await explain()).toMatchObject({
      code: 'overdue',
      sentence: 'It is overdue, and 1 live worker has not fired it.',
      unblock: [{ command: 'belfry worker list' }],
    })
  })

  it('that is paused tells why and until when, and that nobody has ended the pause yet', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.store.do(pauseSchedule, 'report', { until: startAt + minute, reason: 'the database moves' })
    expect(await explain()).toMatchObject({
      code: 'paused',
      sentence: 'It is paused: the database moves.',
      unblock: [{ at: startAt + minute }, { command: 'belfry schedule resume report' }],
      rules: [{ rule: 'pause', effect: 'stopped' }],
      rederived: { answer: 'same' },
    })
    stage.to(startAt + minute)
    await told().worker()
    expect((await explain()).code).toBe('pause-over')
    await stage.store.do(pauseSchedule, 'report', { reason: 'it annoys' })
    expect(await explain()).toMatchObject({
      code: 'disabled',
      sentence: 'It is paused until it is resumed: it annoys.',
      next: null,
      unblock: [{ command: 'belfry schedule resume report' }],
      rederived: { answer: 'same' },
    })
  })

  it('that is over tells which end it came to', async () => {
    const { stage } = told()
    await stage.put({ name: 'ended', endAt: startAt + hour })
    await stage.put({ name: 'counted', maxRuns: 1 })
    await stage.put({ name: 'never' })
    const never = { cron: '0 0 30 2 *', zone: 'UTC' }
    await stage.sql(
      `update belfry.schedule set spec = $1 where name = 'never'`,
      JSON.stringify({ name: 'never', timing: never }),
    )
    await stage.put({ name: 'once', timing: { at: startAt + hour } })
    await stage.fireAt(startAt + hour)
    expect(await explain('ended')).toMatchObject({ code: 'ended', next: null, rederived: { answer: 'same' } })
    expect(await explain('counted')).toMatchObject({ code: 'max-runs', sentence: 'It has had its only run.' })
    expect(await explain('once')).toMatchObject({
      code: 'once-over',
      candidates: [{ by: 'baseline', effect: 'ignored', why: 'its only instant has been planned already' }],
      unblock: [
        { what: 'Run it by hand.', command: 'belfry schedule run once' },
        { what: 'Or give it another instant.', command: null },
      ],
    })
    expect((await explain('never')).code).toBe('calendar-over')
    await stage.put({ name: 'until', options: { until: { command: 'true' } } })
    await stage.sql(`update belfry.schedule set finished = 'until', wake_at = $1 where name = 'until'`, startAt + hour)
    await stage.store.do(pauseSchedule, 'until', { reason: 'it annoys' })
    await stage.store.do(resumeSchedule, 'until')
    expect(await explain('until')).toMatchObject({
      code: 'finished',
      sentence: 'It has finished: its `until` ended it after a run.',
      next: null,
      rederived: { answer: 'same' },
      unblock: [{ command: 'belfry schedule reset until' }, { command: 'belfry schedule run until' }],
    })
    await stage.put({ name: 'none', timing: {} })
    expect(await explain('none')).toMatchObject({
      code: 'no-timing',
      unblock: [{ what: 'Run it by hand.' }, { what: 'Or give it a hint, or a timing.' }],
    })
  })

  it('none of whose instants is in the open hours of its calendars any more names them', async () => {
    const { stage, verbs } = told()
    await verbs.calendars.put('office', { zone: 'UTC', open: ['mon-sun 00:00-24:00'] })
    await stage.put({ timing: { cron: '0 3 * * *', zone: 'UTC' }, options: { calendar: ['office'] } })
    expect((await explain()).code).toBe('due-later')
    expect(await verbs.calendars.put('office', { open: ['mon-fri 08:00-18:00'] })).toMatchObject({ schedules: 1 })
    expect(await explain()).toMatchObject({
      code: 'never-open',
      sentence: 'None of its instants is in the open hours of office.',
      rules: [{ rule: 'calendar', effect: 'stopped' }],
      rederived: { answer: 'same' },
    })
  })

  it('whose chain is broken says so, whether it lost its plan or waits for what has ended', async () => {
    const { stage } = told()
    await stage.put({ name: 'lost' })
    await stage.sql(
      `update belfry.schedule set next_run_at = null, next_due_at = null, next_decision = null, wake_at = null`,
    )
    expect(await explain('lost')).toMatchObject({ code: 'broken-chain', rederived: { answer: 'not-asked' } })
    await stage.put({ name: 'waits', timing: { everyMs: hour } })
    const id = await stage.runAt(startAt + hour)
    await stage.sql(`update belfry.schedule set waits_for = (select run_id from belfry.ledger) where name = 'waits'`)
    expect(await explain('waits')).toMatchObject({ code: 'broken-chain', waitsFor: { run: id, status: 'completed' } })
  })

  it('under a hold that skips occurrences names it, unless the next occurrence is after its end', async () => {
    const { stage } = told()
    await stage.put({})
    const reason = { code: 'budget', firing: 'skips' } as const
    const by = { scope: 'queue', subject: 'default', reason, note: 'Budget b is spent.', actor } as const
    await stage.store.do(setQueue, 'default', { actor })
    await stage.store.do(putHold, { ...by, until: startAt + hour })
    expect(await explain()).toMatchObject({ code: 'due-later' })
    await stage.store.do(putHold, { ...by, until: startAt + hour + minute })
    expect(await explain()).toMatchObject({
      code: 'skips',
      sentence: expect.stringContaining('Its next occurrence ends without a run: '),
    })
  })

  it('while everything is stopped, and where this machine cannot work it out', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.store.do(putHold, stop)
    expect(await explain()).toMatchObject({
      code: 'stopped',
      sentence: 'Everything is stopped by ada: a fire.',
      unblock: [{ what: 'Start everything again.', command: 'belfry go' }],
    })
    const spec = { ...(await stage.view()).spec, timing: { cron: '0 * * * *', zone: 'Mars/Olympus' } }
    await stage.sql('update belfry.schedule set spec = $1', JSON.stringify(spec))
    const answer = await explain()
    expect(answer).toMatchObject({ code: 'cannot-be-worked-out', next: null, rederived: { answer: 'unworkable' } })
    expect(answer.sentence).toContain('Mars/Olympus')
  })

  it('that is held says so first, with what releases it, and not that it is due later', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.store.do(putHold, holdOn('schedule', 'report'))
    const { code, sentence, unblock, notes } = await explain()
    expect({ code, sentence }).toEqual({ code: 'held', sentence: expect.stringMatching(/a test.* Its runs wait\.$/) })
    expect(unblock.map(({ command }) => command)).toEqual([expect.stringContaining('belfry hold')])
    expect(notes.join()).not.toContain('a test')
  })

  it('that was deleted is explained by its id', async () => {
    const { stage } = told()
    await stage.put({})
    const { id } = await stage.view()
    await stage.store.do(deleteSchedule, 'report')
    expect(await explain(id)).toMatchObject({ code: 'deleted', schedule: 'report', next: null })
  })

  it('tells of the last occurrences why they had no run, and which runs were removed', async () => {
    const { stage } = told()
    await stage.put({})
    const [run] = (await stage.fireAt(startAt + hour)).runs
    const lease = await stage.leaseOne()
    await stage.fireAt(startAt + 2 * hour)
    await stage.end(lease)
    expect((await explain()).last).toMatchObject([
      {
        outcome: 'overlap',
        causedBy: run?.id,
        why: `a run of the schedule had not ended: ${run?.id}`,
        isRunKept: null,
      },
      { outcome: 'completed', runId: run?.id, why: 'its run completed', isRunKept: true },
    ])
    await stage.sql('delete from belfry.run')
    expect((await explain()).last[1]).toMatchObject({ isRunKept: false })
    await stage.sql('delete from belfry.ledger')
    expect((await explain()).notes).toContain('Its older history was removed by retention.')
  })

  it('says when its queue is paused and whether anybody can execute its target', async () => {
    await told().stage.put({ queue: 'mail' })
    await told().worker({ kinds: [], handlers: ['report'] })
    await told().stage.store.do(setQueue, 'mail', { paused: { reason: 'a bad deploy' }, actor })
    expect(await explain()).toMatchObject({
      code: 'due-later',
      workers: { live: 1, able: 1, sentence: '1 of 1 live worker has the handler "report".' },
      notes: ['Its queue mail is paused: a bad deploy. Its runs would wait.'],
    })
  })

  it('has been told with every code there is', () => {
    expect([...seen].sort()).toEqual(Object.keys(scheduleReasons).sort())
  })
})
