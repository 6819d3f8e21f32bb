import { expect, it } from 'vitest'
import type { Author } from '../../src/core/schedule/hint-author.ts'
import type { HintKind } from '../../src/core/schedule/hints.ts'
import { findScheduleRow, listHints } from '../../src/store/reads/find-schedule.ts'
import { endPausesOf, pauseSchedule, resumeSchedule, writePause } from '../../src/store/schedules/pause-schedule.ts'
import { lockNamedSchedule } from '../../src/store/schedules/schedule-row.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import { clearHintsOf, type HintWish, writeHint } from '../../src/store/schedules/steer-schedule.ts'
import { clockNow, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { actor, hour, minute, onEachStore, type Stage, second, startAt } from './schedule-stage.ts'

const person: Author = { kind: 'person', name: 'ann' }
const rule: Author = { kind: 'rule', name: 'surge' }
const planner: Author = { kind: 'planner', name: 'model' }
const agent: Author = { kind: 'agent', name: 'bot' }
const reason = 'a test'

function* locked(context: StoreContext) {
  const row = yield* lockNamedSchedule(context, 'report')
  if (row === null) throw new Error('there is no schedule report')
  return { row, now: yield* clockNow() }
}

function* hinting(context: StoreContext, author: Author, wish: HintWish): Step<object> {
  const { row, now } = yield* locked(context)
  const { row: _, ...told } = (yield* writeHint(context, row, { wish, author, now })) as { row?: unknown }
  return told
}

function* clearing(context: StoreContext, author: Author, kinds: readonly HintKind[]): Step<object> {
  const { row, now } = yield* locked(context)
  const { row: _, ...told } = (yield* clearHintsOf(context, row, { kinds, author, now })) as { row?: unknown }
  return told
}

function* pausing(context: StoreContext, author: Author, until: number | undefined): Step<object> {
  const { row, now } = yield* locked(context)
  const wish = { ...(until !== undefined && { until }), reason, author, now }
  const { row: _, ...told } = (yield* writePause(row, wish)) as { row?: unknown }
  return told
}

function* resuming(context: StoreContext, author: Author): Step<object> {
  const { row, now } = yield* locked(context)
  return yield* endPausesOf(context, row, { author, now })
}

const both: readonly HintKind[] = ['interval', 'oneshot']
const every = (ms: number, ttlMs = hour): HintWish => ({ kind: 'interval', ms, ttlMs, reason })
const once = (at: number, ttlMs = hour): HintWish => ({ kind: 'oneshot', at, ttlMs, reason })
const hint = ({ store }: Stage, author: Author, wish: HintWish) => store.do(hinting, author, wish)
const clear = ({ store }: Stage, author: Author, kinds = both) => store.do(clearing, author, kinds)
const pause = ({ store }: Stage, author: Author, until?: number) => store.do(pausing, author, until)
const resume = ({ store }: Stage, author: Author) => store.do(resuming, author)

async function ends({ store }: Stage): Promise<string[]> {
  return (await store.look(listHints, 'report')).map(({ by, kind, ended }) => `${by} ${kind} ${ended?.by ?? 'lives'}`)
}

onEachStore('ranks of authors', (stage) => {
  it('a hint of a higher rank rules, and the lower one counts again when it expires', async () => {
    await stage().put({ timing: { everyMs: hour } })
    expect(await hint(stage(), planner, every(10 * minute, 3 * hour))).toMatchObject({ outrankedBy: null })
    expect((await stage().view()).nextRunAt).toBe(startAt + 10 * minute)
    await hint(stage(), person, every(40 * minute, 20 * minute))
    expect((await stage().view()).nextRunAt).toBe(startAt + 40 * minute)
    expect((await stage().view()).nextDecision?.trail).toContainEqual({
      rule: 'interval-hint',
      from: startAt + 10 * minute,
      at: null,
      effect: 'lost',
      why: 'a hint of a person outranks it',
      by: 'planner',
    })
    expect((await stage().fireAt(startAt + 20 * minute)).runs).toHaveLength(1)
    expect((await stage().view()).hints).toEqual({
      interval: { ms: 10 * minute, expiresAt: startAt + 3 * hour, by: 'planner' },
    })
    expect(await ends(stage())).toEqual(['person interval expired', 'planner interval lives'])
  })

  it('each rank has one hint of each kind, planners and agents share one, and a rule stands between', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await hint(stage(), agent, every(50 * minute))
    expect(await hint(stage(), planner, every(40 * minute))).toMatchObject({ answer: 'written', outrankedBy: null })
    await hint(stage(), rule, every(30 * minute))
    expect(await hint(stage(), agent, every(20 * minute))).toMatchObject({ answer: 'written', outrankedBy: 'rule' })
    await hint(stage(), person, once(startAt + 10 * minute))
    expect((await stage().view()).hints).toMatchObject({
      interval: { ms: 30 * minute, by: 'rule' },
      oneshot: { at: startAt + 10 * minute },
      outranked: [{ kind: 'interval', ms: 20 * minute, by: 'agent' }],
    })
    expect(await ends(stage())).toEqual([
      'person oneshot lives',
      'agent interval lives',
      'rule interval lives',
      'planner interval replaced',
      'agent interval replaced',
    ])
  })

  it('no author clears what stands above it, and a person clears all', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await hint(stage(), person, every(50 * minute))
    await hint(stage(), rule, every(40 * minute))
    await hint(stage(), planner, every(30 * minute))
    expect(await clear(stage(), agent)).toEqual({ answer: 'cleared', cleared: ['interval'], kept: ['person', 'rule'] })
    expect(await clear(stage(), agent)).toEqual({ answer: 'cleared', cleared: [], kept: ['person', 'rule'] })
    expect(await clear(stage(), rule)).toEqual({ answer: 'cleared', cleared: ['interval'], kept: ['person'] })
    expect((await stage().view()).nextRunAt).toBe(startAt + 50 * minute)
    await hint(stage(), planner, every(30 * minute))
    expect(await clear(stage(), person)).toMatchObject({ cleared: ['interval'], kept: [] })
    expect((await stage().view()).hints).toEqual({})
    expect((await ends(stage())).filter((line) => line.endsWith('lives'))).toEqual([])
  })

  it('a cleared hint that is due does not fire because a lower one takes its place', async () => {
    await stage().put({ timing: { everyMs: 10 * hour } })
    await hint(stage(), planner, every(3 * hour, 9 * hour))
    await hint(stage(), person, every(hour, 9 * hour))
    stage().to(startAt + hour + minute)
    await clear(stage(), person, ['interval'])
    await hint(stage(), planner, every(3 * hour, 9 * hour))
    expect((await stage().view()).hints).toMatchObject({ interval: { by: 'planner' } })
    expect((await stage().view()).nextRunAt).toBe(startAt + 3 * hour)
    expect((await stage().fire()).runs).toEqual([])
  })

  it('a run uses up every one-shot whose instant has come, whatever its rank', async () => {
    await stage().put({ timing: { everyMs: 10 * hour } })
    await hint(stage(), planner, once(startAt + 5 * minute))
    await hint(stage(), person, once(startAt + 10 * minute))
    await stage().runAt(startAt + 10 * minute)
    expect(await ends(stage())).toEqual(['person oneshot consumed', 'planner oneshot consumed'])
    expect(await stage().view()).toMatchObject({ hints: {}, nextRunAt: startAt + 10 * minute + 10 * hour })
  })

  it('a calendar gets its instants back from the last expiry on, however many hints cover it', async () => {
    await stage().put({ missed: 'all' })
    await hint(stage(), planner, every(50 * minute, 150 * minute))
    await hint(stage(), person, every(2 * hour, 30 * minute))
    // No worker has fired since: the person's hint expired at half past, and the planner's two hours later.
    await stage().fireAt(startAt + 4 * hour)
    expect((await stage().ledger()).map(({ from, outcome }) => [(from - startAt) / minute, outcome])).toEqual([
      [50, 'fired'],
      [180, 'fired'],
      [240, 'fired'],
    ])
  })

  it('each rank has its own pause, and the latest end counts', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 24 * hour, reason: 'moved', actor })
    expect(await pause(stage(), planner, startAt + 2 * second)).toMatchObject({ answer: 'paused', clamped: null })
    expect((await stage().view()).paused).toEqual({ until: startAt + 24 * hour, reason: 'moved' })
    expect((await stage().view()).pauses.map(({ by }) => by)).toEqual(['person', 'planner'])
    expect(await resume(stage(), planner)).toEqual({ answer: 'resumed' })
    expect((await stage().view()).pauses.map(({ by }) => by)).toEqual(['person'])
    const above = { code: 'not-allowed', liftsAt: startAt + 24 * hour }
    expect(await resume(stage(), planner)).toMatchObject({ answer: 'refused', refusal: above })
    expect((await stage().view()).paused).not.toBe(null)
    await pause(stage(), rule, startAt + 20 * hour)
    expect(await stage().store.do(resumeSchedule, 'report', { actor })).toBe('resumed')
    expect(await stage().view()).toMatchObject({ paused: null, pauses: [], nextRunAt: startAt + hour })
  })

  it('no planner ends a pause without end', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().store.do(pauseSchedule, 'report', { reason: 'for good', actor })
    const refused = (await resume(stage(), planner)) as { answer: string; refusal: object }
    expect(refused.answer).toBe('refused')
    expect(refused.refusal).not.toHaveProperty('liftsAt')
    expect(await resume(stage(), person)).toEqual({ answer: 'resumed' })
    expect((await stage().view()).disabled).toBe(null)
  })

  it('pauses that have ended by themselves are gone, all of them', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await pause(stage(), person, startAt + 10 * minute)
    await pause(stage(), planner, startAt + 20 * minute)
    await stage().fireAt(startAt + 20 * minute)
    expect(await stage().view()).toMatchObject({ paused: null, pauses: [], nextRunAt: startAt + hour })
  })

  it('a pause of a non-person is bounded, and none follows before a run has ended', async () => {
    await stage().put({ timing: { everyMs: hour }, maxMs: 2 * hour })
    expect(await pause(stage(), planner)).toMatchObject({
      until: startAt + 2 * hour,
      clamped: { field: 'until', from: null, to: startAt + 2 * hour },
    })
    const again = { answer: 'refused', refusal: { code: 'not-allowed', field: 'until' } }
    expect(await pause(stage(), planner, startAt + minute)).toMatchObject(again)
    await resume(stage(), planner)
    expect(await pause(stage(), rule, startAt + minute)).toMatchObject(again)
    await stage().runAt(startAt + hour)
    expect(await pause(stage(), rule, startAt + 2 * hour)).toMatchObject({ answer: 'paused', clamped: null })
  })

  it('what a person does raises the epoch, and what others do does not', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const epoch = async () => (await stage().store.look(findScheduleRow, 'report'))?.hintEpoch
    await hint(stage(), planner, every(30 * minute))
    await pause(stage(), rule, startAt + minute)
    await resume(stage(), rule)
    await clear(stage(), planner)
    expect(await epoch()).toBe(0)
    await hint(stage(), person, every(30 * minute))
    expect(await epoch()).toBe(1)
    await pause(stage(), person, startAt + minute)
    expect(await epoch()).toBe(2)
    await resume(stage(), person)
    await clear(stage(), person)
    expect(await epoch()).toBe(4)
    await stage().put({ timing: { everyMs: 2 * hour } })
    expect(await epoch()).toBe(5)
  })

  it('is refused what is beyond its rate, and told when that lifts', async () => {
    await stage().put({ timing: { everyMs: hour } })
    for (let made = 0; made < 6; made++) {
      stage().pass(minute)
      expect(await hint(stage(), made % 2 === 0 ? planner : agent, once(startAt + hour))).toMatchObject({
        answer: 'written',
      })
    }
    const lifted = startAt + minute + hour
    const tooMany = { answer: 'refused', refusal: { code: 'too-many-changes', liftsAt: lifted } }
    expect(await hint(stage(), agent, once(startAt + hour))).toMatchObject(tooMany)
    for (let made = 6; made < 12; made++) await hint(stage(), planner, every(30 * minute))
    expect(await hint(stage(), planner, every(30 * minute))).toMatchObject(tooMany)
    expect(await clear(stage(), planner)).toMatchObject(tooMany)
    expect(await hint(stage(), rule, every(30 * minute))).toMatchObject({ answer: 'written' })
    expect(await hint(stage(), person, once(startAt + hour))).toMatchObject({ answer: 'written' })
    stage().to(lifted)
    expect(await hint(stage(), agent, once(lifted + minute))).toMatchObject({ answer: 'written' })
  })

  it('a hint of a person is stored as one, whatever its author is called', async () => {
    await stage().put({})
    const asked = { kind: 'interval', ms: minute, ttlMs: hour, reason, author: 'planner' } as const
    await stage().store.do(setHint, 'report', asked)
    expect(await stage().store.look(listHints, 'report')).toMatchObject([{ by: 'person', author: 'planner' }])
  })
})
