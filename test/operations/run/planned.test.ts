import { expect, it } from 'vitest'
import { promptSpread } from '../../../src/core/timing/spread.ts'
import { setHint } from '../../../src/store/schedules/set-hint.ts'
import { hour, minute, startAt } from '../../store/schedule-stage.ts'
import { onOneTold } from '../explain/stage.ts'

onOneTold('explain why a run was planned', (told) => {
  const explain = (id: string) => told().verbs.runs.explain(id)

  it('of an occurrence asks the governor again, and tells when another answer was stored', async () => {
    const { stage } = told()
    await stage.put({ timing: { everyMs: hour }, minMs: 2 * hour })
    const [run] = (await stage.fireAt(startAt + 2 * hour)).runs
    const id = run?.id ?? ''
    const same = await explain(id)
    expect(same.planned).toMatchObject({
      source: 'clamped-min',
      rederived: { answer: 'same' },
      candidates: [{ by: 'baseline', wishedAt: startAt + hour, effect: 'won' }],
      rules: [{ rule: 'min', effect: 'moved', from: startAt + hour, at: startAt + 2 * hour }],
    })
    await stage.put({ timing: { everyMs: 3 * hour }, minMs: 2 * hour })
    expect((await explain(id)).planned.rederived.answer).toBe('same')

    const decision = JSON.parse((await stage.sql('select decision from belfry.run'))[0]?.decision as string)
    const other = { ...decision, state: { ...decision.state, anchorAt: startAt - minute } }
    await stage.sql('update belfry.run set decision = $1', JSON.stringify(other))
    const { rederived } = (await explain(id)).planned
    expect(rederived.answer).toBe('differs')
    expect(rederived.differs[0]).toEqual({
      field: 'at',
      stored: new Date(startAt + 2 * hour).toISOString(),
      again: new Date(startAt + 2 * hour - minute).toISOString(),
    })
    await stage.sql('delete from belfry.schedule_version')
    await stage.sql('update belfry.schedule set version = 7')
    const pruned = (await explain(id)).planned.rederived
    expect([pruned.answer, pruned.sentence]).toEqual([
      'pruned',
      'Version 1 of the schedule, which decided it, is not kept any more.',
    ])
  })

  it('that came while no worker looked says that the calendar named it, unless it did not', async () => {
    const { stage } = told()
    await stage.put({ missed: 'all' })
    const { runs } = await stage.fireAt(startAt + 3 * hour)
    const id = runs[1]?.id ?? ''
    expect((await explain(id)).planned.rederived).toMatchObject({
      answer: 'same',
      sentence: 'It came due while no worker ran; the calendar gives the same instant again.',
    })
    await stage.sql(
      'update belfry.run set occurrence_at = occurrence_at + 1 where occurrence_at = $1',
      startAt + 2 * hour,
    )
    expect((await explain(id)).planned.rederived.answer).toBe('differs')
  })

  it('by a hint names its author and reason, though the run has used it up', async () => {
    const { stage } = told()
    await stage.put({})
    const hint = { kind: 'oneshot', at: startAt, author: 'planner' } as const
    await stage.store.do(setHint, 'report', { ...hint, expiresAt: startAt + hour, reason: 'soon' })
    const [run] = (await stage.fire()).runs
    await stage.store.do(setHint, 'report', { ...hint, expiresAt: startAt + 2 * hour, reason: 'a newer one' })
    const { planned } = await explain(run?.id ?? '')
    expect(planned).toMatchObject({ source: 'ai-oneshot', sentence: 'A one-shot hint gave the instant.' })
    expect(planned.rederived.answer).toBe('same')
    expect(planned.candidates).toMatchObject([
      { by: 'baseline', effect: 'lost', hint: null },
      { by: 'oneshot-hint', effect: 'won', hint: { author: 'planner', reason: 'soon' } },
    ])
  })

  it.each([
    ['later, of a cron', { timing: { cron: '*/30 * * * *', zone: 'UTC' } }],
    ['earlier, of an instant', { timing: { at: startAt + hour } }],
  ])('that was spread is due when it was, asked again: %s', async (_, spec) => {
    const { stage } = told()
    await stage.put({ ...spec, spread: promptSpread })
    const { nextRunAt, nextDueAt } = await stage.view()
    expect(nextDueAt).not.toBe(nextRunAt)
    const [run] = (await stage.fireAt(nextDueAt ?? 0)).runs
    const { planned, timeline } = await explain(run?.id ?? '')
    expect(planned.rederived.answer).toBe('same')
    expect(timeline).toContainEqual({ at: nextRunAt, what: 'nominal', detail: 'moved by its spread' })
    expect(timeline).toContainEqual({ at: nextDueAt, what: 'due', detail: '' })
    await stage.sql('update belfry.run set due_at = due_at + 1')
    const other = await explain(run?.id ?? '')
    expect(other.planned.rederived.differs.map(({ field }) => field)).toEqual(['dueAt'])
  })

  it('that a fixed rate named while nobody looked says that the governor was not asked', async () => {
    const { stage } = told()
    await stage.put({ timing: { everyMs: hour, from: 'start' }, missed: 'all' })
    const { runs } = await stage.fireAt(startAt + 3 * hour)
    expect((await explain(runs[0]?.id ?? '')).planned.rederived.answer).toBe('same')
    expect((await explain(runs[1]?.id ?? '')).planned.rederived.answer).toBe('not-asked')
  })
})
