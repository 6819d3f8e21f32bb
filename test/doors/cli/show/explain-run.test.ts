import { describe, expect, it } from 'vitest'
import { showRunExplained } from '../../../../src/operations/run/show-explained-run.ts'
import { atDesk, verbsAt } from '../../../operations/desk.ts'
import { sheetOf } from '../shown.ts'

const desk = atDesk()
const { runs, schedules, queues } = verbsAt(() => desk().context)
const target = { handler: 'report' }

async function shown(id: string, schedule?: string): Promise<string[]> {
  const sheet = sheetOf({ now: desk().clock.now(), zone: 'Europe/Paris' })
  const answer = await runs.explain(id, schedule === undefined ? {} : { schedule })
  return showRunExplained(answer, sheet).split('\n')
}

const enqueue = async (more: object = {}) => (await runs.enqueue({ target, ...more })).id

async function end(reason: string, retryable = true): Promise<void> {
  const ends = (await desk().lease()).map(({ runId, fence, scheduleId }) => {
    return { runId, fence, scheduleId, outcome: { kind: 'failed', reason, retryable } as const }
  })
  await desk().store.settle(ends)
}

describe('the explanation of a run', () => {
  it('behind a full ceiling says so first, and names who is in its way', async () => {
    await queues.set('default', { maxConcurrent: 1 })
    const first = await enqueue()
    await desk().lease()
    desk().clock.advance(90_000)
    const second = await enqueue()
    expect(await shown(second)).toEqual([
      `${second}  concurrency-ceiling  Queue default is at its ceiling: 1 of 1 at work (${first}).`,
      '  - A slot is free once one of these runs ends.',
      '  - Or raise maxConcurrent of queue default.',
      '',
      'Blocked by',
      expect.stringMatching(new RegExp(`^ {2}${first} {2}at work on w on h \\(w-\\d+\\) {2}for 1 min 30 s$`)),
      '',
      'Why it was planned',
      '  It was enqueued directly.',
      '',
      'What happened',
      '  Mon 10:01:30 Europe/Paris  now  enqueued',
      '',
      'Retries',
      '  0 used of at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
    ])
  })

  it('behind a run whose worker died does not say that somebody is at it', async () => {
    await queues.set('default', { maxConcurrent: 1 })
    const first = await enqueue()
    await desk().lease()
    const answer = await runs.explain(await enqueue())
    const holders = (answer.waiting?.holders ?? []).map((holder) => ({ ...holder, isDead: true }))
    const sheet = sheetOf({ now: desk().clock.now(), zone: 'UTC' })
    const text = showRunExplained({ ...answer, waiting: answer.waiting && { ...answer.waiting, holders } }, sheet)
    expect(text).toMatch(new RegExp(` ${first} {2}held by w on h \\(w-\\d+\\), which died {2}for 0 ms`))
  })

  it('tells the life of one that failed twice and waits', async () => {
    const id = await enqueue()
    await end('HTTP 503')
    desk().clock.advance(1_500)
    await end('HTTP 502')
    expect(await shown(id)).toEqual([
      `${id}  backoff  Its last attempt failed, and it waits for its backoff to end. It has used 2 of 3 attempts.`,
      '  - The next attempt may start: in 2 s, Mon 10:00:03 Europe/Paris',
      `  - Read its output.                                               belfry run output ${id}`,
      '',
      'Why it was planned',
      '  It was enqueued directly.',
      '',
      'What happened',
      '  Mon 10:00 Europe/Paris     2 s ago  enqueued',
      '  Mon 10:00 Europe/Paris     2 s ago  started    attempt 1, w on h (w-16)',
      '  Mon 10:00 Europe/Paris     2 s ago  ended      attempt 1 failed: HTTP 503. It was tried again 2s later (1 attempt used; the current policy gives a backoff of 1s).',
      '  Mon 10:00:01 Europe/Paris  now      started    attempt 2, w on h (w-17)',
      '  Mon 10:00:01 Europe/Paris  now      ended      attempt 2 failed: HTTP 502. It may be tried again 2s later (2 attempts used; the current policy gives a backoff of 2s).',
      '  Mon 10:00:03 Europe/Paris  in 2 s   may start',
      '',
      'Retries',
      '  2 used of at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
    ])
  })

  it('of an occurrence that failed for good says why, how late it was, and what its schedule does next', async () => {
    await schedules.put('report', { cron: '0 12 * * *', zone: 'America/New_York', target })
    desk().clock.set(Date.parse('2026-01-05T17:00:30Z'))
    const [run] = (await desk().store.fireDue({ limit: 1 })).runs
    desk().clock.advance(2_000)
    await end('exit code 1', false)
    expect(await shown(run?.id ?? '')).toEqual([
      'r-16  failed  It failed for good: exit code 1 (not retryable).',
      '  - Read its output.       belfry run output r-16',
      '  - Make a new run of it.  belfry run retry r-16',
      '',
      'Why it was planned',
      '  Of schedule report. The calendar of its schedule gave the instant.',
      '  →  its timing  32 s ago, Mon 12:00 America/New_York  won  it is the earliest candidate in force',
      '  For the stored input the governor gives the same answer.',
      '',
      'What happened',
      '  Mon 04:00 America/New_York     8 h ago   decided  by version 1',
      '  Mon 12:00 America/New_York     32 s ago  due',
      '  Mon 12:00:30 America/New_York  2 s ago   fired    late by 30s',
      '  Mon 12:00:32 America/New_York  now       started  attempt 1, w on h (w-17)',
      '  Mon 12:00:32 America/New_York  now       ended    attempt 1 failed: exit code 1 (not retryable). The run ended: failed.',
      '  it started 32 s late',
      '',
      'Retries',
      '  1 used of at most 3 attempts, 1s × 2^(n−1) between them, at most 1m (set by its queue)',
      '',
      'Next',
      '  It has ended; its schedule runs next: in 24 h, Tue 12:00 America/New_York',
    ])
  })

  it('that ended well after a failure names what shows its output, as it must be typed here', async () => {
    const id = await enqueue()
    await end('HTTP 503')
    desk().clock.advance(1_500)
    await desk().work()
    const spell = (text: string) => text.replace('belfry', 'npx belfry')
    const sheet = sheetOf({ now: desk().clock.now(), zone: 'UTC', spell })
    const text = showRunExplained(await runs.explain(id), sheet)
    expect(text).toContain(`\nNote\n  Read the output of its attempts: npx belfry run output ${id}`)
  })

  it('of a parked one gives the command that gets it on', async () => {
    const id = await enqueue()
    await end('exit code 1', false)
    expect((await shown(id)).slice(0, 4)).toEqual([
      `${id}  parked  It is parked and needs a person: exit code 1 (not retryable).`,
      `  - Read its output.                                                  belfry run output ${id}`,
      `  - Reset it once the cause is fixed: it gets all its attempts back.  belfry run reset ${id}`,
      `  - Or end it for good.                                               belfry run cancel ${id}`,
    ])
  })
})
