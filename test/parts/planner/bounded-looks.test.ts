import { describe, expect, it, onTestFinished } from 'vitest'
import { parseId } from '../../../src/core/id.ts'
import { Belfry } from '../../../src/index.ts'
import { setPlanner } from '../../../src/parts/planner/desk/planner-steps.ts'
import { actOnSchedule } from '../../../src/parts/planner/looks/act-on-schedule.ts'
import { beginLook, listAnalyses, sweepAnalyses } from '../../../src/parts/planner/looks/analysis-row.ts'
import { enqueueDueLooks, findDueLooks } from '../../../src/parts/planner/looks/due-looks.ts'
import type { StoreContext } from '../../../src/store/store-context.ts'
import { actor, hour, minute, onEachStore, type Stage, second } from '../../store/schedule-stage.ts'
import { looked, scriptOf, submit, working } from './scene.ts'

const day = 24 * hour
const model = { provider: 'scripted', model: 'demo', script: '/none' } as const

describe('the tokens of a month', () => {
  it('are a budget over the queue of looks: once spent no look is enqueued, and explain says until when', async () => {
    const spent = { ...submit('all used'), usage: { tokensIn: 1_500, tokensOut: 100 } }
    const belfry = await working([spent])
    const file = scriptOf([spent])
    await belfry.planner.set({ provider: 'scripted', model: 'demo', script: file, tokensPerMonth: 1_000 })
    const { analysis } = await looked(belfry)
    expect(analysis).toMatchObject({ state: 'completed', tokensIn: 1_500 })
    const [hold] = await belfry.holds.list()
    expect(hold).toMatchObject({ reason: 'budget', until: expect.any(Number) })
    const until = new Date(hold?.until ?? 0).toISOString()
    await expect(belfry.planner.look('depth')).rejects.toMatchObject({
      code: 'conflict',
      message: `No look is possible: queue planner is held until ${until}: budget.`,
    })
    const { parts } = await belfry.schedules.explain('depth')
    expect(parts.flatMap(({ lines }) => lines)).toContain(`planner: does not look: budget until ${until}`)
    // The search for due looks still runs, and says why it enqueues none.
    const { id } = await belfry.schedules.run('belfry:looks')
    const { result } = await belfry.runs.wait(id)
    expect(result?.value).toMatchObject({ enqueued: 0, why: 'queue planner is held: budget' })
    expect((await belfry.runs.list({ queue: 'planner' })).runs).toHaveLength(1)
    await belfry.budgets.topup('planner', { tokens: 10_000 })
    await belfry.planner.look('depth')
  })
})

async function idOf(stage: Stage, name: string): Promise<number | null> {
  return parseId('schedule', (await stage.view(name)).id)
}

onEachStore('looks', (stage) => {
  it('that are due are enqueued by one bounded step, each once, and none while the queue is held', async () => {
    const { store } = stage()
    await store.do(setPlanner, model, { actor, zone: 'UTC' })
    for (const name of ['a', 'b']) await stage().put({ name, autonomy: 'act' })
    await stage().put({ name: 'off', autonomy: 'off' })
    expect(await store.do(enqueueDueLooks)).toMatchObject({ enrolled: 4, enqueued: 0 })
    await stage().fireAt(stage().clock.now + hour)
    for (const lease of await stage().lease()) await stage().end(lease)
    stage().pass(6 * minute)
    expect(await store.do(enqueueDueLooks)).toMatchObject({ enqueued: 2 })
    expect(await store.do(enqueueDueLooks)).toMatchObject({ enqueued: 0 })
    expect((await stage().leaseHttp('planner')).map(({ target }) => target)).toMatchObject([
      { analysis: { schedule: 'a' } },
      { analysis: { schedule: 'b' } },
    ])
  })

  it('at many schedules without news keep no other waiting, and come again when these may have run', async () => {
    const { store } = stage()
    await store.do(setPlanner, model, { actor, zone: 'UTC' })
    const names = Array.from({ length: 105 }, (_, index) => `idle-${index}`)
    for (const name of names) await stage().put({ name, timing: { everyMs: 3 * hour }, autonomy: 'act' })
    await stage().put({ name: 'busy', autonomy: 'act' })
    expect(await findDueLooks({ store })).toEqual({ enrolled: 107, enqueued: 0 })
    await stage().runAt(stage().clock.now + hour)
    const now = stage().clock.now
    await stage().sql(`update belfry.planner_look set look_at = ${now - minute}`)
    await stage().sql(
      `update belfry.planner_look set look_at = ${now} where schedule_id = ${await idOf(stage(), 'busy')}`,
    )
    expect(await findDueLooks({ store })).toEqual({ enrolled: 0, enqueued: 1 })
    const early = await stage().sql(
      `select count(*) as early from belfry.planner_look where look_at < ${now + 30 * minute}`,
    )
    expect(Number(early[0]?.early)).toBe(0)
  })

  it('come at once to a schedule whose autonomy is no longer off', async () => {
    const { store } = stage()
    await store.do(setPlanner, model, { actor, zone: 'UTC' })
    await stage().put({ name: 'report', autonomy: 'off' })
    await stage().runAt(stage().clock.now + hour)
    expect(await store.do(enqueueDueLooks)).toMatchObject({ enqueued: 0 })
    stage().pass(minute)
    await stage().put({ name: 'report', autonomy: 'act' })
    expect(await store.do(enqueueDueLooks)).toMatchObject({ enqueued: 1 })
  })

  it('leave analyses and proposals for 90 days, and no longer; a sweep is bounded', async () => {
    const { store } = stage()
    await store.do(setPlanner, model, { actor, zone: 'UTC' })
    await stage().put({ name: 'depth', autonomy: 'suggest' })
    const looks = async (count: number) => {
      for (let each = 0; each < count; each += 1) {
        const begun = await store.do(beginLook, { schedule: 'depth', run: null, author: 'demo', isAsked: true })
        const analysisId = begun.answer === 'begun' ? begun.analysisId : 0
        const effect = { kind: 'interval', ms: 10 * minute, ttlMs: hour } as const
        const author = { kind: 'planner', name: 'demo' } as const
        const seen = { schedule: 'depth', version: 1, epoch: 0, analysisId }
        await store.do(actOnSchedule, { ...seen, author, effect, reason: 'x' })
        stage().pass(second)
      }
    }
    await looks(3)
    stage().pass(89 * day)
    await looks(1)
    const swept = (rowsLeft: number) =>
      store.do(function* sweeping(context: StoreContext) {
        return yield* sweepAnalyses({ context, now: stage().clock.now, queues: [], rowsLeft })
      })
    expect(await swept(100)).toBe(0)
    stage().pass(2 * day)
    expect(await swept(4)).toBe(4)
    expect(await swept(100)).toBe(2)
    expect(await swept(100)).toBe(0)
    expect(await store.look(listAnalyses, { limit: 10 })).toHaveLength(1)
  })
})

describe('the doctor', () => {
  const findings = async (belfry: Belfry) => {
    const { checks } = await belfry.store.doctor()
    return checks.find(({ check }) => check === 'planner')
  }

  it('says which secret a worker lacks, and that a look waits for it; with the secret the look goes on', async () => {
    const belfry = await Belfry.open({ store: 'memory:', log: false })
    onTestFinished(() => belfry.close())
    expect(await findings(belfry)).toMatchObject({ state: 'ok', says: 'No model is set; rules work without one.' })
    await belfry.planner.set({ provider: 'anthropic', model: 'claude', key: 'CLAUDE_MISSING' })
    await belfry.schedules.put({ name: 'depth', every: '1h', target: { handler: 'queue' }, autonomy: 'act' })
    await belfry.start()
    const { run } = await belfry.planner.look('depth')
    expect((await belfry.runs.explain(run)).code).toBe('no-worker')
    const found = await findings(belfry)
    expect(JSON.stringify(found)).toMatch(/No live worker takes looks of anthropic claude.*secret CLAUDE_MISSING/)
    expect(JSON.stringify(found)).toContain('BELFRY_SECRET_CLAUDE_MISSING')
  })
})
