import { describe, expect, it, onTestFinished } from 'vitest'
import { problemResponse } from '../../../../src/doors/http/problem-details.ts'
import { Belfry } from '../../../../src/index.ts'
import { listNamespaces, setNamespace } from '../../../../src/parts/admission/budgets/namespaces.ts'
import { listHolds } from '../../../../src/store/holds/list-holds.ts'
import { findSchedule } from '../../../../src/store/reads/find-schedule.ts'
import { enqueue } from '../../../../src/store/runs/enqueue.ts'
import { fireDue } from '../../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../../../src/store/schedules/run-now.ts'
import { setHint } from '../../../../src/store/schedules/set-hint.ts'
import { errorOf, problemsIn } from '../../../operations/desk.ts'
import { actor, onEachDatabase, startAt } from '../../../store/scene.ts'

const target = { handler: 'h' }
const minute = 60_000
const february = Date.UTC(2026, 1, 1)

onEachDatabase('quotas', (scene) => {
  const set = (change: Parameters<typeof setNamespace>[2]['change']) => {
    const { namespace } = scene().context
    return scene().write((context) => setNamespace(context, namespace, { change, zoneDefault: 'UTC', actor }))
  }
  const seen = async () => {
    const all = await scene().read(listNamespaces)
    return all.find(({ name }) => name === scene().context.namespace)
  }
  const schedule = (name: string, more: object = {}) => {
    const spec = { name, timing: { cron: '* * * * *', zone: 'UTC' }, target, ...more }
    return scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
  }
  const fire = () => scene().write((context) => fireDue(context, { limit: 10 }))
  const holds = () => scene().read(listHolds)
  const planOf = async (name: string) => {
    const found = await scene().read((context) => findSchedule(context, name))
    return found as NonNullable<typeof found>
  }

  it('runs are counted by the step that makes them, and beyond the quota nothing is made', async () => {
    await set({ runsPerMonth: 3 })
    await scene().enqueue({ target })
    const last = await scene().enqueue({ target, dedupeKey: 'd' })
    await scene().enqueue({ target, dedupeKey: 'd' })
    expect(await seen()).toMatchObject({ runsMade: 2, runsPerMonth: 3, resetAt: february })
    const many = scene().write((context) => enqueue(context, [{ target }, { target }]))
    expect(await errorOf(many)).toMatchObject({
      code: 'quota',
      details: { runsPerMonth: 3, made: 2, resetAt: '2026-02-01T00:00:00.000Z', retryAfterMs: february - startAt },
    })
    expect(await seen()).toMatchObject({ runsMade: 2 })
    await scene().enqueue({ target })
    expect(await errorOf(scene().enqueue({ target }))).toMatchObject({ code: 'quota' })
    await scene().sql(
      'delete from belfry.run where id = (select max(id) from belfry.run where ns = $1)',
      scene().context.ns,
    )
    expect(await errorOf(scene().enqueue({ target }))).toMatchObject({ code: 'quota' })
    expect(last).toMatch(/^r-/)
  })

  it('a new quota counts the runs that the namespace has made in this month', async () => {
    scene().clock.now = startAt - 40 * 24 * 60 * minute
    await scene().enqueue({ target })
    scene().clock.now = startAt
    await scene().enqueue({ target })
    await schedule('minutely')
    scene().clock.now += minute
    await fire()
    await set({ runsPerMonth: 3 })
    expect(await seen()).toMatchObject({ runsMade: 2 })
    await scene().enqueue({ target })
    expect(await errorOf(scene().enqueue({ target }))).toMatchObject({ code: 'quota' })
    await set({ runsPerMonth: null })
    await scene().enqueue({ target })
    await set({ runsPerMonth: 4 })
    expect(await seen()).toMatchObject({ runsMade: 4 })
    expect(await holds()).toMatchObject([{ reason: 'quota' }])
  })

  it('made runs start although the quota is used up', async () => {
    await set({ runsPerMonth: 1 })
    await scene().enqueue({ target })
    expect(await holds()).toMatchObject([{ scope: 'occurrences', reason: 'quota', until: february, firing: 'skips' }])
    expect(await scene().lease()).toHaveLength(1)
  })

  it('occurrences beyond the quota end skipped, never more than it allows in one step, and a raise lets them fire at once', async () => {
    await set({ runsPerMonth: 3 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await schedule(name)
    scene().clock.now = startAt + minute
    const fired = await fire()
    expect(fired.runs).toHaveLength(3)
    expect(fired.skipped.map(({ reason }) => reason)).toEqual(['quota', 'quota'])
    expect(await seen()).toMatchObject({ runsMade: 3 })
    for (const { runId, ...lease } of await scene().lease()) await scene().end({ runId, ...lease } as never)
    scene().clock.now = startAt + 2 * minute
    // The other two were asked for after the reset.
    expect(await fire()).toMatchObject({ runs: [], skipped: Array(3).fill({ reason: 'quota' }) })
    await set({ runsPerMonth: 10 })
    expect(await holds()).toEqual([])
    expect(await fire()).toMatchObject({ runs: [], skipped: [{ reason: 'quota' }, { reason: 'quota' }] })
    scene().clock.now = startAt + 3 * minute
    expect((await fire()).runs).toHaveLength(5)
  })

  it('a schedule whose timing is changed while it is due makes no run beyond the quota', async () => {
    await schedule('a')
    await set({ runsPerMonth: 1 })
    await scene().enqueue({ target })
    scene().clock.now = startAt + minute
    const spec = { name: 'a', timing: { cron: '0 * * * *', zone: 'UTC' }, target }
    await scene().write((context) => putSchedule(context, spec, { mode: 'put', actor }))
    expect(await seen()).toMatchObject({ runsMade: 1 })
    expect(await scene().lease()).toHaveLength(1)
  })

  it.each([
    ['a cron', { timing: { cron: '*/7 * * * *', zone: 'UTC' } }, 7 * minute],
    ['a fixed delay', { timing: { everyMs: minute } }, minute],
    ['a fixed rate', { timing: { everyMs: minute, from: 'start' } }, minute],
  ] as const)(
    '%s whose quota is used up is next due at the reset; a raised quota asks again at once',
    async (_, timed, period) => {
      await set({ runsPerMonth: 1 })
      await scene().enqueue({ target })
      await schedule('a', timed)
      scene().clock.now = startAt + period
      expect(await fire()).toMatchObject({ runs: [], skipped: [{ reason: 'quota', count: 1 }] })
      expect((await planOf('a')).nextRunAt).toBe(february)
      // What its calendar names until then is one row once it is over.
      scene().clock.now = startAt + 4 * period + 1
      expect(await fire()).toMatchObject({ runs: [], skipped: [] })
      await set({ runsPerMonth: 2 })
      const asked = await fire()
      const isDelay = !('cron' in timed.timing) && !('from' in timed.timing)
      expect(asked).toMatchObject({ skipped: isDelay ? [] : [{ reason: 'quota', count: 3 }] })
      const { nextRunAt } = await planOf('a')
      expect(nextRunAt).toBe(isDelay ? startAt + 4 * period + 1 : startAt + 5 * period)
      scene().clock.now = startAt + 5 * period
      expect((await fire()).runs).toHaveLength(1)
    },
  )

  it('a schedule that waited for the reset fires there, and what passed meanwhile is one row of the ledger', async () => {
    await set({ runsPerMonth: 1 })
    await scene().enqueue({ target })
    await schedule('a', { timing: { cron: '0 0 * * *', zone: 'UTC' } })
    const day = 86_400_000
    const midnight = Math.ceil(startAt / day) * day
    scene().clock.now = midnight
    await fire()
    scene().clock.now = february
    const { runs, skipped } = await fire()
    expect(runs).toMatchObject([{ occurrenceAt: february }])
    expect(skipped).toEqual([
      { schedule: 'a', from: midnight + day, count: (february - midnight) / day - 1, reason: 'quota' },
    ])
  })

  it('the next month begins anew', async () => {
    await set({ runsPerMonth: 1 })
    await scene().enqueue({ target })
    scene().clock.now = february
    await scene().enqueue({ target })
    expect(await seen()).toMatchObject({ runsMade: 1 })
    expect(await errorOf(scene().enqueue({ target }))).toMatchObject({ code: 'quota' })
    expect((await holds()).filter(({ until }) => (until ?? 0) > february)).toHaveLength(1)
  })

  it('a run by hand counts, and is refused beyond the quota', async () => {
    await schedule('a', { overlap: 'allow' })
    await set({ runsPerMonth: 1 })
    const now = () => scene().write((context) => runNow(context, 'a', { actor } as never))
    expect(await now()).toMatchObject({ answer: 'created' })
    expect(await errorOf(now())).toMatchObject({ code: 'quota' })
  })

  it('a namespace has as many schedules as it may have', async () => {
    await schedule('a')
    await schedule('b')
    await set({ schedulesMax: 2 })
    expect(await errorOf(schedule('c'))).toMatchObject({ code: 'quota', details: { schedulesMax: 2 } })
    await set({ schedulesMax: 1 })
    const changed = { name: 'a', timing: { cron: '0 * * * *', zone: 'UTC' }, target } as const
    expect(await scene().write((context) => putSchedule(context, changed, { mode: 'put', actor }))).toMatchObject({
      answer: 'updated',
    })
    await set({ schedulesMax: null })
    await schedule('c')
    expect(await seen()).toMatchObject({ schedules: 3, schedulesMax: null })
    await set({ schedulesMax: 5 })
    const made = await Promise.allSettled(['d', 'e', 'f', 'g', 'h', 'i'].map((name) => schedule(name)))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  })

  it('a hint lets a schedule fire no more often than its namespace allows, whoever gives it', async () => {
    await schedule('a', { timing: { cron: '0 * * * *', zone: 'UTC' } })
    await set({ everyMinMs: 5 * minute })
    for (const by of ['person', 'rule', 'planner'] as const) {
      const hint = { kind: 'interval', ms: minute, ttlMs: 60 * minute, reason: 'busy', author: 'someone', by } as const
      expect(await scene().write((context) => setHint(context, 'a', hint))).toMatchObject({
        clamped: { from: minute, to: 5 * minute, why: 'the namespace allows one occurrence every 5m' },
      })
    }
    expect((await planOf('a')).nextRunAt).toBe(startAt + 5 * minute)
  })

  it('a one-shot hint waits until its namespace allows another occurrence, whoever gives it, and a run by hand does not', async () => {
    await schedule('a', { timing: { cron: '0 * * * *', zone: 'UTC' }, overlap: 'allow' })
    await set({ everyMinMs: 5 * minute })
    const hint = (by: 'person' | 'rule' | 'planner', at: number) => {
      const given = { kind: 'oneshot', at, ttlMs: 60 * minute, reason: 'data', author: 'someone', by } as const
      return scene().write((context) => setHint(context, 'a', given))
    }
    const fired = async () => (await fire()).runs.length
    expect(await hint('person', startAt + minute)).toMatchObject({ nextRunAt: startAt + minute })
    scene().clock.now = startAt + minute
    expect(await fired()).toBe(1)
    for (const by of ['person', 'rule', 'planner'] as const) {
      expect(await hint(by, startAt + 2 * minute)).toMatchObject({ nextRunAt: startAt + 6 * minute })
    }
    expect((await planOf('a')).nextDecision).toMatchObject({ source: 'clamped-min', winner: 'oneshot-hint' })
    // Given before the others have run, and due right after them.
    await hint('rule', startAt + 7 * minute)
    await hint('planner', startAt + 8 * minute)
    scene().clock.now = startAt + 6 * minute
    expect(await fired()).toBe(1)
    expect((await planOf('a')).nextRunAt).toBe(startAt + 11 * minute)
    await scene().write((context) => runNow(context, 'a', { force: true }))
    scene().clock.now = startAt + 10 * minute
    expect(await fired()).toBe(0)
    scene().clock.now = startAt + 11 * minute
    expect(await fired()).toBe(1)
    expect(await planOf('a')).toMatchObject({ hints: {}, nextRunAt: startAt + 60 * minute })
  })

  it('a schedule fires no more often than its namespace allows', async () => {
    await set({ everyMinMs: 5 * minute })
    expect(await problemsIn(schedule('a'))).toMatchObject([{ field: 'cron', problem: 'fires every 1m' }])
    expect(await problemsIn(schedule('a', { timing: { everyMs: 4 * minute } }))).toMatchObject([{ field: 'every' }])
    // Two of its instants are closer than the others.
    expect(await problemsIn(schedule('a', { timing: { cron: '0,59 * * * *', zone: 'UTC' } }))).toHaveLength(1)
    await schedule('a', { timing: { everyMs: 5 * minute } })
    await schedule('b', { timing: { cron: '*/5 * * * *', zone: 'UTC' } })
    await schedule('c', { timing: {} })
  })

  it('tokens of a month are a budget of the namespace', async () => {
    await set({ tokensPerMonth: 1_000, zone: 'Europe/Paris' })
    expect(await seen()).toMatchObject({
      tokensPerMonth: 1_000,
      tokensUsed: 0,
      zone: 'Europe/Paris',
      resetAt: february - 3_600_000,
    })
    await set({ schedulesMax: 5 })
    expect(await seen()).toMatchObject({ tokensPerMonth: 1_000, schedulesMax: 5 })
    await set({ tokensPerMonth: null })
    expect(await seen()).toMatchObject({ tokensPerMonth: null, schedulesMax: 5 })
  })
})

describe('a namespace', () => {
  async function open(): Promise<Belfry> {
    const belfry = await Belfry.open({ store: 'memory:', log: false })
    onTestFinished(() => belfry.close())
    return belfry
  }

  it('is listed with its quotas, and explain names the quota and the command that raises it', async () => {
    const belfry = await open()
    await belfry.schedules.put({ name: 'digest', every: '1h', target })
    await belfry.namespaces.set('default', { runsPerMonth: 1, everyMin: '1m' })
    await belfry.runs.enqueue({ target })
    const refused = await errorOf(belfry.runs.enqueue({ target }))
    expect(refused).toMatchObject({ code: 'quota' })
    const response = problemResponse(refused, '')
    const seconds = Math.ceil(Number(refused.details?.retryAfterMs) / 1_000)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, String(seconds)])
    expect(await belfry.namespaces.list()).toMatchObject([
      { name: 'default', runsMade: 1, everyMinMs: 60_000, schedules: 1 },
    ])
    expect(await belfry.schedules.explain('digest')).toMatchObject({
      code: 'skips',
      sentence: 'Its next occurrence ends without a run: The namespace has made the 1 runs of its month.',
    })
    expect(await belfry.admission.list()).toMatchObject([
      { on: 'occurrences', reason: 'quota', waiting: 0, lift: 'belfry namespace set default --runs-per-month N' },
    ])
    expect(await belfry.namespaces.set('default', { runsPerMonth: null })).toMatchObject({ runsPerMonth: null })
    await belfry.runs.enqueue({ target })
  })

  it('refuses wrong quotas and unknown names', async () => {
    const belfry = await open()
    const wrong = await problemsIn(
      belfry.namespaces.set('default', { runsPerMonth: 0, everyMin: '0s', zone: 'Mars' } as never),
    )
    expect(wrong.map(({ field }) => field).sort()).toEqual(['everyMin', 'runsPerMonth', 'zone'])
    expect(await errorOf(belfry.namespaces.set('defualt', { runsPerMonth: 5 }))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean "default"?',
    })
  })
})
