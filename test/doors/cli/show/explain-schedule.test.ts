import { describe, expect, it } from 'vitest'
import { showScheduleExplained } from '../../../../src/operations/schedule/show-explained-schedule.ts'
import { registerWorker } from '../../../../src/store/workers/register-worker.ts'
import { atDesk, verbsAt } from '../../../operations/desk.ts'
import { sheetOf } from '../shown.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const minuteMs = 60_000
const target = { handler: 'report' }

/** What a person in New York reads, with the schedule's zone being Paris. */
async function shown(name = 'report', isColoured = false): Promise<string[]> {
  const sheet = sheetOf({ now: desk().clock.now(), zone: 'America/New_York', isColoured })
  return showScheduleExplained(await schedules.explain(name), sheet).split('\n')
}

const live = () =>
  desk().store.do(registerWorker, { name: 'w', host: 'h', can: { kinds: ['handler'] }, beatMs: 600_000 })

describe('the explanation of a schedule', () => {
  it('says in its first lines where it stands and when it runs next, by its own clock, and then why', async () => {
    await live()
    await schedules.put('report', { cron: '0 12 * * *', zone: 'Europe/Paris', target })
    await schedules.hint('report', { at: '2026-01-05T09:10Z', reason: 'the inbox fills up' })
    await schedules.hint('report', { every: '1h', ttl: '2h', reason: 'a quiet day' })
    desk().clock.advance(minuteMs)
    expect(await shown()).toEqual([
      'report  due-later  Its next occurrence is not due yet.',
      '  next in 9 min, Mon 10:10 Europe/Paris (ai-oneshot)',
      '',
      'Why',
      '     its timing     in 1 h 59 min, Mon 12:00 Europe/Paris  lost  an interval hint overrides the baseline',
      '     interval hint  in 59 min, Mon 11:00 Europe/Paris      lost  the one-shot hint is earlier (person tester: a quiet day)',
      '  →  one-shot hint  in 9 min, Mon 10:10 Europe/Paris       won   it is the earliest candidate in force (person tester: the inbox fills up)',
      '  decided 1 min ago, Mon 10:00 Europe/Paris by version 1 of the schedule',
      '  For the stored input the governor gives the same answer.',
      '',
      'Retries',
      '  of a run: at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
      '',
      'Hints',
      '  every 1 h                              active  until Mon 12:00 Europe/Paris (in 1 h 59 min)  person tester: a quiet day',
      '  once in 9 min, Mon 10:10 Europe/Paris  active  until Mon 10:30 Europe/Paris (in 29 min)      person tester: the inbox fills up',
    ])
  })

  it('gives the command that gets a paused one on', async () => {
    await live()
    await schedules.put('night report', { cron: '0 12 * * *', zone: 'Europe/Paris', target })
    await schedules.pause('night report', { for: '2h', reason: 'the database moves' })
    expect(await shown('night report')).toEqual([
      'night report  paused  It is paused: the database moves.',
      '  - The pause ends by itself: in 2 h, Mon 12:00 Europe/Paris',
      "  - Resume it.                                                belfry schedule resume 'night report'",
      '  next in 2 h, Mon 12:00 Europe/Paris (baseline-cron)',
      '',
      'Why',
      '  pause stopped it: the schedule is paused until then',
      '  decided now, Mon 10:00 Europe/Paris by version 1 of the schedule',
      '  For the stored input the governor gives the same answer.',
      '',
      'Retries',
      '  of a run: at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
    ])
  })

  it('of one that waits for a run shows how that run stands, and what came before', async () => {
    await schedules.put('report', { every: '10m', target })
    for (let runs = 0; runs < 2; runs++) {
      desk().clock.advance((runs + 1) * 10 * minuteMs)
      await desk().store.fireDue({ limit: 1 })
      const [lease] = await desk().lease()
      const { runId = '', fence = 0, scheduleId } = lease ?? {}
      const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
      if (runs === 0) await desk().store.settle([{ runId, fence, scheduleId: scheduleId ?? null, outcome }])
    }
    expect(await shown()).toEqual([
      'report  waits-for-run  Its next occurrence is measured from the end of r-18, which has not ended. But the last one failed: broken (not retryable); its interval of 10m has become 20m.',
      '  - r-18 ends.',
      '  - Cancel it: ask its worker to stop.      belfry run cancel r-18',
      '  - See the output of the last failed run.  belfry run output r-16',
      '  next in 10 min, Mon 04:40 America/New_York, if the run ended now (baseline-interval)',
      '',
      'Why',
      '  the interval counts from the end of that run',
      '  backoff 10 min → 20 min after 1 failed in a row: each failure in a row doubles the wait, five times at most; the first success ends it',
      '  decided now, Mon 04:30 America/New_York by version 1 of the schedule',
      '  For the stored input the governor gives the same answer.',
      '',
      'Retries',
      '  of a run: at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
      '',
      'Waits for',
      '  r-18  leased  w on h (w-19) executes attempt 1.',
      '',
      'Last',
      '  now         fired   it became a run, which has not ended  r-18',
      '  20 min ago  failed  its run failed                        r-16',
    ])
  })

  it('of one that backs off names the instant before the backoff and the one after it, each once', async () => {
    await schedules.put('report', { every: '10m', target })
    desk().clock.advance(10 * minuteMs)
    await desk().store.fireDue({ limit: 1 })
    const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
    for (const { runId, fence, scheduleId } of await desk().lease()) {
      await desk().store.settle([{ runId, fence, scheduleId, outcome }])
    }
    const text = await shown()
    expect(text.slice(text.indexOf('Why') + 1, text.indexOf('Why') + 3)).toEqual([
      '  →  its timing  in 20 min, Mon 04:30 America/New_York  won  it is the earliest candidate in force; the backoff moved it from Mon 04:20 America/New_York (in 10 min)',
      expect.stringMatching(/^ {2}backoff 10 min → 20 min after 1 failed in a row/),
    ])
    expect(text.join('\n').match(/in 20 min/g)).toHaveLength(2)
  })

  it('names the instant that a bound moved it to as an instant', async () => {
    await live()
    await schedules.put('report', { every: '10m', min: '20m', target })
    expect(await shown()).toContainEqual(
      expect.stringMatching(/^ {2}min moved it to Mon 04:20 America\/New_York \(in 20 min\): /),
    )
  })

  it('of an overdue one says since when, and what to type', async () => {
    await schedules.put('report', { cron: '0 12 * * *', zone: 'Europe/Paris', target })
    desk().clock.advance(125 * minuteMs)
    expect(await shown()).toEqual([
      'report  overdue  It is overdue, and no worker is alive.',
      '  - Start a worker.  belfry up',
      '  due 5 min ago, Mon 12:00 Europe/Paris (baseline-cron)',
      '',
      'Why',
      '  →  its timing  5 min ago, Mon 12:00 Europe/Paris  won  it is the earliest candidate in force',
      '  decided 2 h 5 min ago, Mon 10:00 Europe/Paris by version 1 of the schedule',
      '  For the stored input the governor gives the same answer.',
      '',
      'Retries',
      '  of a run: at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
    ])
  })

  it('tells everything that differs, should the stored answer be another', async () => {
    await schedules.put('report', { every: '10m', target })
    const answer = await schedules.explain('report')
    const differs = [{ field: 'at', stored: 'one instant', again: 'another' }]
    const rederived = { answer: 'differs', sentence: 'It differs: at.', differs } as const
    const sheet = sheetOf({ now: desk().clock.now() })
    expect(showScheduleExplained({ ...answer, rederived }, sheet)).toContain(
      '  It differs: at.\n    at  stored: one instant  again: another',
    )
  })

  it('lets nobody paint the terminal through a reason', async () => {
    await schedules.put('report', { every: '10m', target })
    await schedules.hint('report', { every: '5m', reason: '\u001b[31mred\u001b[0m' })
    expect((await shown()).join('\n')).not.toContain('\u001b')
    expect((await shown('report', true)).join('\n')).not.toContain('\u001b[31mred')
    expect((await shown('report', true)).join('\n')).toContain('\u001b[32mdue-later\u001b[39m')
  })
})
