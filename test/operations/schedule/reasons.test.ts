import { expect, it } from 'vitest'
import { promptSpread } from '../../../src/core/timing/spread.ts'
import type { NewHint } from '../../../src/store/port.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { clearHints, setHint } from '../../../src/store/schedules/set-hint.ts'
import { hour, minute, startAt } from '../../store/schedule-stage.ts'
import { onOneTold } from '../explain/stage.ts'

onOneTold('the reasons of a schedule', (told) => {
  const explain = (name = 'report') => told().verbs.schedules.explain(name)
  const hint = (name: string, given: object) => {
    const common = { expiresAt: startAt + 30 * minute, author: 'planner', reason: 'the inbox fills up' }
    return told().stage.store.do(setHint, name, { ...common, ...given } as NewHint)
  }

  it.each([
    ['a cron', {}],
    ['a fixed delay', { timing: { everyMs: 7 * minute } }],
    ['a fixed rate', { timing: { everyMs: 7 * minute, from: 'start' } }],
    ['an instant', { timing: { at: startAt + hour } }],
    ['no timing', { timing: {} }],
    ['a spread', { spread: promptSpread }],
  ] as const)('of %s names the same next occurrence as schedules.next, at every step of its life', async (_, spec) => {
    const { stage, verbs } = told()
    await stage.put(spec)
    const agree = async () => expect((await explain()).next).toEqual((await verbs.schedules.next('report'))[0] ?? null)
    await agree()
    await hint('report', { kind: 'oneshot', at: startAt + 5 * minute })
    await agree()
    await stage.fireAt(startAt + 5 * minute)
    await agree()
    for (const lease of await stage.lease()) await stage.fail(lease)
    await agree()
    await stage.store.do(pauseSchedule, 'report', { until: startAt + 3 * hour, reason: 'r' })
    await agree()
    expect((await explain()).rederived.answer).toBe('same')
  })

  it('under hints names the winner and the losers, with author and reason', async () => {
    await told().stage.put({})
    await hint('report', { kind: 'oneshot', at: startAt + 10 * minute, reason: 'look again soon' })
    expect((await explain()).candidates).toMatchObject([
      { by: 'baseline', effect: 'lost', why: 'the one-shot hint is earlier' },
      {
        by: 'oneshot-hint',
        at: startAt + 10 * minute,
        effect: 'won',
        hint: { author: 'planner', reason: 'look again soon', expiresAt: startAt + 30 * minute },
      },
    ])
    await hint('report', { kind: 'interval', ms: 5 * minute, author: 'rules' })
    const both = await explain()
    expect(both.candidates.map(({ by, effect, hint }) => [by, effect, hint?.author])).toEqual([
      ['baseline', 'lost', undefined],
      ['interval-hint', 'won', 'rules'],
      ['oneshot-hint', 'lost', 'planner'],
    ])
    expect(both).toMatchObject({
      next: { at: startAt + 5 * minute, source: 'ai-interval' },
      rederived: { answer: 'same' },
    })
  })

  it('tells of each hint whether it still counts, and why it does not', async () => {
    const { stage } = told()
    await stage.put({ timing: {} })
    await hint('report', { kind: 'oneshot', at: startAt + minute })
    await hint('report', { kind: 'oneshot', at: startAt + 2 * minute })
    await hint('report', { kind: 'interval', ms: hour })
    await stage.store.do(clearHints, 'report', ['interval'])
    await stage.fireAt(startAt + 2 * minute)
    await hint('report', { kind: 'interval', ms: 2 * hour, expiresAt: startAt + hour })
    expect((await explain()).hints.map(({ kind, counts, why }) => [kind, counts, why])).toEqual([
      ['interval', true, 'it is in force until it expires'],
      ['interval', false, 'it was cleared'],
      ['oneshot', false, 'a run has used it'],
      ['oneshot', false, 'a newer hint replaced it'],
    ])
    stage.to(startAt + hour)
    expect((await explain()).hints[0]).toMatchObject({ counts: false, why: 'it has expired' })
    await stage.fire()
    expect((await explain()).hints[0]).toMatchObject({ counts: false, ended: { by: 'expired' } })
  })

  it('says of a hint that waits for the end of a live run what it waits for', async () => {
    const { stage } = told()
    await stage.put({})
    const [run] = (await stage.fireAt(startAt + hour)).runs
    const at = startAt + hour + minute
    await hint('report', { kind: 'oneshot', at, expiresAt: at + hour })
    await stage.fireAt(at)
    const { hints, notes, live } = await explain()
    expect(hints[0]).toMatchObject({
      counts: true,
      why: 'it is due: it waits to be fired, or for a live run to end',
    })
    expect(live).toEqual([run?.id])
    expect(notes).toContain(
      `${run?.id} of it is live: an occurrence that comes due before that run ends is skipped (overlap skip).`,
    )
  })

  it('tells what the bounds moved', async () => {
    await told().stage.put({ timing: { everyMs: 10 * minute }, minMs: 20 * minute })
    expect((await explain()).rules).toMatchObject([
      { rule: 'min', effect: 'moved', from: startAt + 10 * minute, at: startAt + 20 * minute },
    ])
    await told().stage.put({ name: 'slow', timing: { everyMs: 10 * minute }, maxMs: 15 * minute })
    await hint('slow', { kind: 'interval', ms: hour })
    expect((await explain('slow')).rules).toMatchObject([
      { rule: 'max', effect: 'moved', from: startAt + hour, at: startAt + 15 * minute },
    ])
    await told().stage.put({ name: 'later', timing: { everyMs: minute }, startAt: startAt + hour })
    expect((await explain('later')).next?.at).toBe(startAt + hour)
  })

  it('tells how failures in a row lengthen an interval', async () => {
    const { stage } = told()
    await stage.put({ timing: { everyMs: 10 * minute } })
    await stage.runAt(startAt + 10 * minute, { kind: 'failed', reason: 'broken', retryable: false })
    await stage.runAt(startAt + 30 * minute, { kind: 'failed', reason: 'broken', retryable: false })
    const answer = await explain()
    expect(answer.backoff).toMatchObject({ failures: 2, everyMs: 10 * minute, waitMs: 40 * minute })
    expect(answer.rules).toMatchObject([
      { rule: 'backoff', effect: 'moved', from: startAt + 40 * minute, at: startAt + 70 * minute },
    ])
    expect(answer.next?.at).toBe(startAt + 70 * minute)
    expect(answer.last.map(({ outcome, isRunKept }) => [outcome, isRunKept])).toEqual([
      ['failed', true],
      ['failed', true],
    ])
  })

  it('tells by how much an occurrence is spread, and that hints are not', async () => {
    await told().stage.put({ timing: { cron: '*/30 * * * *', zone: 'UTC' }, spread: promptSpread })
    const { spread, next, rederived } = await explain()
    expect(spread?.offsetMs).toBe((next?.dueAt ?? 0) - (next?.at ?? 0))
    expect(spread?.offsetMs).toBeGreaterThan(0)
    expect(spread?.why).toContain('later, by a fraction of its period')
    expect(rederived.answer).toBe('same')
    await hint('report', { kind: 'oneshot', at: startAt + minute })
    expect((await explain()).spread).toEqual({ offsetMs: 0, why: 'hints are not spread' })
  })

  it.each([
    ['instant', 'next_run_at', 'at'],
    ['due instant', 'next_due_at', 'dueAt'],
  ])('notices that another %s is stored than the governor answers', async (_, column, field) => {
    await told().stage.put({})
    await told().stage.sql(`update belfry.schedule set ${column} = ${column} + 1000`)
    const { rederived } = await explain()
    expect(rederived.answer).toBe('differs')
    expect(rederived.differs.map((one) => one.field)).toContain(field)
  })

  it.each([
    ['source', { source: 'ai-interval' }],
    ['winner', { winner: 'interval-hint' }],
    ['waitsForEnd', { waitsForEnd: true }],
    ['trail', { trail: [] }],
  ])('notices that another %s is stored than the governor answers', async (field, change) => {
    const { stage } = told()
    await stage.put({})
    const stored = (await stage.view()).nextDecision
    await stage.sql('update belfry.schedule set next_decision = $1', JSON.stringify({ ...stored, ...change }))
    const { rederived } = await explain()
    expect(rederived.differs.map((one) => one.field)).toEqual([field])
    expect(rederived.sentence).toBe(`For the stored input the governor gives another answer: ${field}.`)
  })

  it('says which version is missing when that one was removed', async () => {
    const { stage } = told()
    await stage.put({})
    await stage.sql('update belfry.schedule set version = 2')
    expect((await explain()).rederived.answer).toBe('same')
    await stage.sql('delete from belfry.schedule_version')
    expect((await explain()).rederived).toMatchObject({
      answer: 'pruned',
      sentence: 'Version 1 of the schedule, which decided it, is not kept any more.',
    })
  })
})
