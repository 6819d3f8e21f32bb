// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { describe, expect, it } from 'vitest'
import { answersPage } from '../../../src/parts/planner/evals/recorded-answers.ts'
import { findScheduleRow } from '../../../src/store/reads/find-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { atDesk, problemsIn, verbsAt } from '../../operations/desk.ts'
import { minute, onEachStore, second, startAt } from '../../store/schedule-stage.ts'
import { looked, submit, tighten, working } from './scene.ts'

const surge = { name: 'surge', when: { queue_depth: { above: 200 } }, then: { every: '30s', ttl: '15m' } }

onEachStore('recorded answers', (stage) => {
  it('are read by pages, also those of runs by hand, without what was no answer or is too long', async () => {
    await stage().put({ name: 'depth', timing: { everyMs: 5 * minute }, target: { handler: 'a' } })
    const results: unknown[] = [{ n: 1 }, { long: 'x'.repeat(17_000) }, undefined, 'text']
    for (const result of results) {
      await stage().fireAt((await stage().view('depth')).nextRunAt ?? 0)
      const { runId, fence, scheduleId } = await stage().leaseOne()
      stage().pass(second)
      const outcome =
        result === undefined
          ? ({ kind: 'failed', reason: 'x', retryable: false } as const)
          : ({ kind: 'success' } as const)
      await stage().store.settle([{ runId, fence, scheduleId, outcome, ...(result !== undefined && { result }) }])
    }
    const asked = await stage().store.do(runNow, 'depth')
    const now = await stage().leaseOne()
    stage().pass(second)
    const { runId, fence, scheduleId } = now
    const success = { kind: 'success' } as const
    await stage().store.settle([{ runId, fence, scheduleId, outcome: success, result: { by: 'hand' } }])
    expect(asked).toMatchObject({ id: runId })
    const row = await stage().store.look(findScheduleRow, 'depth')
    if (row === null) throw new Error('no schedule')
    const page = await stage().store.look(answersPage, row, {
      after: { enqueuedAt: startAt, id: 0 },
      to: stage().clock.now,
    })
    expect(page).toMatchObject({ withoutBody: 2, next: null })
    expect(
      page.answers.map(({ body, hasFailed, startedAt, endedAt }) => [body, hasFailed, endedAt - startedAt]),
    ).toEqual([
      [{ n: 1 }, false, second],
      [undefined, false, second],
      [undefined, true, second],
      ['text', false, second],
      [{ by: 'hand' }, false, second],
    ])
  })
})

describe('planner eval', () => {
  const desk = atDesk()
  const { planner, schedules } = verbsAt(() => desk().context)

  /** Ends the next runs of a schedule, each with a result, as a worker would. */
  async function answering(name: string, results: readonly unknown[]): Promise<void> {
    for (const result of results) {
      const { nextRunAt } = await schedules.get(name)
      desk().clock.set(Math.max(nextRunAt ?? 0, desk().clock.now()))
      await desk().store.fireDue({ limit: 10 })
      const [lease] = await desk().lease()
      if (lease === undefined) throw new Error('nothing could go')
      const { runId, fence, scheduleId } = lease
      await desk().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' }, result }])
    }
  }

  it('says what rules would have saved and added, stays inside the bounds, and changes nothing', async () => {
    await schedules.put({ name: 'depth', every: '5m', min: '15s', max: '15m', target: { handler: 'queue' } })
    await answering('depth', [{ queue_depth: 10 }, { queue_depth: 300 }, { queue_depth: 20 }, { queue_depth: 10 }])
    const before = await schedules.get('depth')
    const { schedules: played, left } = await planner.eval({ last: '1d', rules: [surge] })
    expect(left).toEqual([])
    const [line] = played
    expect(line).toMatchObject({ schedule: 'depth', answers: 4, withoutBody: 0, saved: 0, breaches: 0, isWhole: true })
    expect(line?.rules).toBe((line?.baseline ?? 0) + (line?.added ?? 0))
    expect(line?.acted.surge).toBeGreaterThan(0)
    expect(await schedules.get('depth')).toEqual(before)
    expect(await schedules.hints('depth')).toEqual([])
  })

  it('plays own rules without others, and says what it leaves out and why', async () => {
    await schedules.put({ name: 'quiet', every: '5m', target: { handler: 'queue' } })
    await schedules.put({ name: 'once', at: '2026-12-01T09:00Z', target: { handler: 'queue' } })
    await schedules.put({ name: 'new', every: '5m', target: { handler: 'queue' }, rules: [surge] })
    const { schedules: played, left } = await planner.eval({})
    expect(played).toEqual([])
    expect(left).toEqual([
      { schedule: 'new', why: 'it gave no answer in that time' },
      { schedule: 'once', why: 'it has no recurring timing' },
    ])
    expect((await planner.eval({ schedule: 'quiet' })).left).toEqual([{ schedule: 'quiet', why: 'no rules' }])
    await expect(planner.eval({ schedule: 'nope' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it.each<[string, object, string]>([
    ['rules that are none', { rules: [{ name: 'x', when: {}, then: {} }] }, 'rules[0] (x).then'],
    ['no rules in a list', { rules: [] }, 'rules'],
    ['a time too long', { last: '91d' }, 'last'],
    ['a time without a unit', { last: '7' }, 'last'],
  ])('refuses %s', async (_, input, field) => {
    expect((await problemsIn(planner.eval(input))).map((problem) => problem.field)).toContain(field)
  })
})

describe('a replay', () => {
  it('by rules judges the answers that the look knew, without a model, and touches nothing', async () => {
    const belfry = await working([tighten, submit('above 200')], 'suggest')
    const { analysis } = await looked(belfry)
    const id = analysis?.id ?? ''
    await belfry.planner.pause()
    const { run, rules } = await belfry.analyses.replay(id, { rules: [surge] })
    expect(run).toBeNull()
    expect(rules).toMatchObject({
      before: [{ tool: 'propose_interval', arguments: { intervalMs: 30_000 } }],
      after: [{ rule: 'surge', wants: 'every 30s for 15m', reason: 'queue_depth was 300' }],
    })
    expect(await belfry.schedules.hints('depth')).toEqual([])
    await expect(belfry.analyses.replay(id, { rules: [surge], model: 'other' })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('means nothing beside rules'),
    })
  })

  it.each<[string, Parameters<typeof working>[0]]>([
    ['that acted', [{ calls: [{ tool: 'get_response_history', args: { limit: 1 } }] }, tighten, submit('grows')]],
    ['that did nothing', [{ calls: [{ tool: 'get_sibling_latest_responses' }] }, submit('calm')]],
    [
      'that paused and cleared',
      [{ calls: [{ tool: 'clear_hints' }, { tool: 'pause_until', args: { untilIso: null } }] }, submit('rest')],
    ],
    [
      'whose arguments were wrong',
      [{ calls: [{ tool: 'propose_interval', args: { intervalMs: 'x' } }] }, submit('no')],
    ],
  ])(
    'of a look %s gives the same decisions from the same facts, and what happened since is not seen',
    async (_, script) => {
      const belfry = await working(script)
      const { analysis } = await looked(belfry)
      await belfry.schedules.clearHints('depth')
      await belfry.schedules.update('depth', { description: 'Another one.' })
      await belfry.schedules.run('depth')
      const before = await belfry.schedules.get('depth')
      const { run } = await belfry.analyses.replay(analysis?.id ?? '', { prompt: 'Another prompt.' })
      const { result } = await belfry.runs.wait(run ?? '')
      expect(result?.value).toMatchObject({ isSame: true, promptHash: expect.stringMatching(/^[0-9a-f]{12}$/) })
      expect(JSON.stringify(result)).not.toContain(analysis?.promptHash)
      expect((await belfry.schedules.hints('depth')).filter(({ ended }) => ended === null)).toEqual([])
      const { version, description } = await belfry.schedules.get('depth')
      expect({ version, description }).toEqual({ version: before.version, description: before.description })
      expect(await belfry.analyses.list()).toHaveLength(1)
    },
  )
})
