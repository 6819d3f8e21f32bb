// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Rule, readRules } from '../../../src/core/rule-form.ts'
import { judgeSibling } from '../../../src/parts/planner/sibling-rules.ts'
import { putGroup } from '../../../src/store/groups/write-group.ts'
import { listHints } from '../../../src/store/reads/find-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { actor, hour, minute, onEachStore, type Stage, second, startAt } from '../../store/schedule-stage.ts'

const every5m = { timing: { everyMs: 5 * minute }, target: { http: { url: 'http://127.0.0.1:3000/queue' } } }
const rulesOf = (given: unknown): readonly Rule[] => readRules(given, 'rules', [])
const surge = rulesOf([
  { name: 'surge', when: { queue_depth: { above: 200 } }, runs: 3, then: { every: '30s', ttl: '15m' } },
])

/** Ends the next run of a schedule with this body, as soon as it is due. Returns when the schedule runs next, in seconds after that end. */
async function answers(stage: Stage, body: unknown, { name = 'depth', status = 200 } = {}): Promise<number | null> {
  const { nextRunAt } = await stage.view(name)
  if (nextRunAt !== null && nextRunAt > stage.clock.now) stage.to(nextRunAt)
  await stage.fire()
  return answered(stage, body, { name, status })
}

async function answered(stage: Stage, body: unknown, { name = 'depth', status = 200 } = {}): Promise<number | null> {
  const { id } = await stage.view(name)
  const lease = (await stage.leaseHttp()).find(({ scheduleId }) => scheduleId === id)
  if (lease === undefined) throw new Error(`no run of ${name} could go`)
  const outcome =
    status < 400
      ? ({ kind: 'success' } as const)
      : ({ kind: 'failed', reason: `HTTP ${status}`, retryable: false } as const)
  const { runId, fence, scheduleId } = lease
  await stage.store.settle([
    { runId, fence, scheduleId, outcome, result: { status, headers: {}, body, durationMs: 12 } },
  ])
  const { nextRunAt } = await stage.view(name)
  return nextRunAt === null ? null : (nextRunAt - stage.clock.now) / second
}

/** A group for siblings. */
async function etl({ store }: Stage): Promise<{ group: string }> {
  await store.do(putGroup, 'etl', {}, { mode: 'create', actor })
  return { group: 'etl' }
}

const hintsOf = async ({ store }: Stage, name = 'depth') =>
  (await store.look(listHints, name)).filter(({ ended }) => ended === null)

onEachStore('rules', (stage) => {
  it('move the very next instant: the third high value in a row is the last that waits five minutes', async () => {
    await stage().put({ name: 'depth', ...every5m, rules: surge })
    expect(await answers(stage(), { queue_depth: 212 })).toBe(300)
    expect(await answers(stage(), { queue_depth: 230 })).toBe(300)
    expect(await answers(stage(), { queue_depth: 251 })).toBe(30)
    const [hint] = await hintsOf(stage())
    expect(hint).toMatchObject({ kind: 'interval', value: 30_000, reason: 'queue_depth was 212, 230, 251' })
    expect(hint?.author).toContain('surge')
    // The hint is written before the end that it is measured from, and still says what it changes.
    expect(hint).toMatchObject({
      wasNextAt: stage().clock.now + 5 * minute,
      nextAt: stage().clock.now + 30 * second,
    })
    expect(hint?.expiresAt).toBe(stage().clock.now + 15 * minute)
    expect((await stage().view('depth')).nextDecision?.source).toBe('ai-interval')
  })

  it('renew a hint when half of its time has passed, not with every run', async () => {
    await stage().put({ name: 'depth', ...every5m, rules: surge })
    for (const depth of [300, 300, 300]) await answers(stage(), { queue_depth: depth })
    const begunAt = stage().clock.now
    while (stage().clock.now < begunAt + 10 * minute) expect(await answers(stage(), { queue_depth: 300 })).toBe(30)
    expect(await stage().store.look(listHints, 'depth')).toHaveLength(2)
    for (const depth of [1, 1]) await answers(stage(), { queue_depth: depth })
    stage().to((await hintsOf(stage()))[0]?.expiresAt ?? 0)
    await stage().fire()
    await stage().fire()
    // After the hint has expired, the baseline counts from the last end.
    expect((await stage().view('depth')).nextDecision?.source).toBe('baseline-interval')
  })

  it('pause, run once and clear', async () => {
    const rules = rulesOf([
      { name: 'rest', when: { rest: true }, then: { pause: '10m' } },
      { name: 'soon', when: { soon: true }, then: { at: '+1m' } },
      { name: 'watch', when: { watch: true }, then: { every: '1m' } },
      { name: 'calm', when: { calm: true }, then: { clear: true } },
    ])
    await stage().put({ name: 'depth', ...every5m, rules })
    expect(await answers(stage(), { soon: true })).toBe(60)
    expect(await answers(stage(), { watch: true })).toBe(60)
    expect(await answers(stage(), { calm: true })).toBe(300)
    expect(await hintsOf(stage())).toEqual([])
    await answers(stage(), { rest: true })
    const { paused } = await stage().view('depth')
    expect(paused).toMatchObject({ until: stage().clock.now + 10 * minute })
    expect(paused?.reason).toContain('rest was true')
    await stage().fireAt(stage().clock.now + 10 * minute)
    expect((await stage().view('depth')).waitsFor).not.toBeNull()
  })

  it('start at once no sooner than min after the end that asks for it', async () => {
    const rules = rulesOf([{ name: 'r', when: { a: 1 }, then: { at: 'now' } }])
    await stage().put({
      name: 'depth',
      timing: { everyMs: 5 * minute },
      minMs: 2 * minute,
      target: { handler: 'a' },
      rules,
    })
    stage().pass(5 * minute)
    await stage().fire()
    stage().pass(second)
    const lease = await stage().leaseOne()
    const { runId, fence, scheduleId } = lease
    await stage().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' }, result: { a: 1 } }])
    const { nextRunAt } = await stage().view('depth')
    expect(((nextRunAt ?? 0) - stage().clock.now) / second).toBe(120)
  })
  it('pause at every end that fits, not at every second one', async () => {
    const rules = rulesOf([{ name: 'r', when: { a: 1 }, then: { pause: '10m' } }])
    await stage().put({ name: 'depth', timing: { everyMs: 5 * minute }, target: { handler: 'a' }, rules })
    const pauses: unknown[] = []
    for (let each = 0; each < 4; each += 1) {
      const { paused, nextRunAt } = await stage().view('depth')
      stage().to(Math.max(stage().clock.now, paused?.until ?? 0, nextRunAt ?? 0))
      await stage().fire()
      await stage().fire()
      const { runId, fence, scheduleId } = await stage().leaseOne()
      stage().pass(second)
      await stage().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' }, result: { a: 1 } }])
      pauses.push((await stage().view('depth')).paused !== null)
    }
    expect(pauses).toEqual([true, true, true, true])
  })

  it('see failures, and a failing interval that they watch is not backed off', async () => {
    const rules = rulesOf([{ name: 'failing', when: { $failures: { above: 1 } }, then: { every: '1m' } }])
    await stage().put({ name: 'depth', ...every5m, rules })
    expect(await answers(stage(), 'down', { status: 500 })).toBe(600)
    expect(await answers(stage(), 'down', { status: 500 })).toBe(60)
    expect((await hintsOf(stage()))[0]?.reason).toBe('$failures was 2')
  })

  it('act on cron schedules too, and stay inside min and max', async () => {
    await stage().put({
      name: 'depth',
      ...every5m,
      timing: { cron: '0 * * * *', zone: 'UTC' },
      minMs: 2 * minute,
      rules: rulesOf([{ name: 'r', when: { a: 1 }, then: { every: '10s' } }]),
    })
    await stage().fireAt(startAt + hour)
    expect(await answered(stage(), { a: 1 })).toBe(120)
  })

  it('that fit nothing, or see no JSON, change nothing', async () => {
    await stage().put({ name: 'depth', ...every5m, rules: surge })
    for (const body of ['text', null, [], { queue_depth: 'high' }]) expect(await answers(stage(), body)).toBe(300)
    expect(await hintsOf(stage())).toEqual([])
  })

  it('do not judge a run that was tried out or that was cancelled', async () => {
    const rules = rulesOf([{ name: 'any', when: { a: { exists: false } }, then: { every: '30s' } }])
    await stage().put({ name: 'depth', ...every5m, rules })
    await stage().fireAt(startAt + 5 * minute)
    const [lease] = await stage().leaseHttp()
    await stage().sql(`update belfry.run set source = 'test' where schedule_id is not null`)
    if (lease !== undefined) await stage().end(lease)
    expect(await hintsOf(stage())).toEqual([])
    await stage().fireAt(startAt + 10 * minute)
    const [second] = await stage().leaseHttp()
    if (second !== undefined) await stage().end(second, { kind: 'cancelled', reason: 'enough' })
    expect(await hintsOf(stage())).toEqual([])
  })

  it('of two answers that end together both act: the second does not undo the pause of the first', async () => {
    const rules = rulesOf([
      { name: 'rest', when: { rest: true }, then: { pause: '10m' } },
      { name: 'watch', when: { watch: true }, then: { every: '1m' } },
    ])
    const timing = { everyMs: minute, from: 'start' } as const
    await stage().put({ name: 'depth', ...every5m, timing, overlap: 'allow', rules })
    await stage().fireAt(startAt + minute)
    await stage().fireAt(startAt + 2 * minute)
    const leases = await stage().leaseHttp()
    await stage().fireAt(startAt + 3 * minute)
    const bodies = [{ rest: true }, { watch: true }]
    await stage().store.settle(
      leases.map(({ runId, fence, scheduleId }, index) => {
        const result = { status: 200, headers: {}, body: bodies[index], durationMs: 12 }
        return { runId, fence, scheduleId, outcome: { kind: 'success' }, result }
      }),
    )
    expect((await stage().view('depth')).paused).toMatchObject({ until: startAt + 13 * minute })
    expect(await hintsOf(stage())).toMatchObject([{ kind: 'interval', value: minute }])
    await stage().fireAt(startAt + 13 * minute)
    // The run that the pause had set aside can be leased again.
    expect(await stage().sql('select run_id from belfry.aside')).toEqual([])
  })

  it('on a sibling are judged by a run that the end of its run enqueues, once', async () => {
    const group = await etl(stage())
    await stage().put({ name: 'loader', ...every5m, ...group })
    const batch = rulesOf([{ name: 'batch', sibling: 'loader', when: { ready: true }, then: { at: 'now' } }])
    const refused = { name: 'alone', timing: { everyMs: hour }, target: every5m.target, rules: batch }
    await expect(stage().store.do(putSchedule, refused, { mode: 'put', actor })).rejects.toThrow(/has no group/)
    await stage().put({ name: 'processor', ...every5m, timing: { everyMs: hour }, ...group, rules: batch })
    await answers(stage(), { ready: true }, { name: 'loader' })
    const [judgement] = await stage().leaseHttp('rules')
    const payload = judgement?.target?.rules as Parameters<typeof judgeSibling>[1]
    expect(payload).toMatchObject({ schedule: 'processor', sibling: 'loader' })
    expect(await stage().store.do(judgeSibling, payload)).toEqual({ judged: 'rule batch acts' })
    expect(await stage().store.do(judgeSibling, payload)).toEqual({ judged: 'a later answer was judged before' })
    const [hint] = await hintsOf(stage(), 'processor')
    expect(hint).toMatchObject({ kind: 'oneshot', reason: 'loader: ready was true' })
    expect((await stage().view('processor')).nextRunAt).toBe(stage().clock.now)
    await stage().put({ name: 'processor', ...every5m, timing: { everyMs: hour }, ...group })
    expect(await stage().store.do(judgeSibling, payload)).toEqual({
      judged: 'no rule of it names the sibling any more',
    })
  })
})

describe('the recipes of docs/rules.md', () => {
  const page = readFileSync('docs/rules.md', 'utf8')
  const recipe = (title: string): readonly Rule[] => {
    const [, text = ''] = new RegExp(`### ${title}[\\s\\S]*?\`\`\`json\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
    const problems: never[] = []
    const rules = readRules(JSON.parse(text), 'rules', problems)
    expect(problems).toEqual([])
    return rules
  }
  const calm = { queue_depth: 45, processing_rate_per_min: 100, error_rate_pct: 0.5, avg_latency_ms: 150 }
  const high = { ...calm, queue_depth: 300 }
  const action = (minutesAgo: number) => ({
    last_action_at: new Date(startAt + 5 * minute - minutesAgo * minute).toISOString(),
    action_type: 'cache_warm',
    cooldown_minutes: 60,
  })
  const value = (current_value: number) => ({ current_value, warning_threshold: 300, critical_threshold: 500 })

  onEachStore('are rules that do what the page says', (stage) => {
    it.each<[string, readonly object[], readonly number[]]>([
      [
        'Health status',
        [{ status: 'healthy' }, { status: 'critical' }, { status: 'degraded' }, { status: 'healthy' }],
        [300, 30, 30, 300],
      ],
      ['Metrics', [high, high, high], [300, 300, 30]],
      ['Metrics', [calm, calm, calm], [300, 300, 600]],
      [
        'Metrics',
        [
          { ...calm, error_rate_pct: 9 },
          { ...calm, error_rate_pct: 9 },
        ],
        [300, 60],
      ],
      ['Cooldown pair', [action(57)], [180]],
      ['Cooldown pair', [action(61)], [300]],
      ['Thresholds', [value(250), value(301), value(501)], [300, 60, 15]],
    ])('%s', async (title, bodies, seconds) => {
      await stage().put({ name: 'depth', ...every5m, rules: recipe(title) })
      const seen: (number | null)[] = []
      for (const body of bodies) seen.push(await answers(stage(), body))
      expect(seen).toEqual(seconds)
    })

    it('Readiness between siblings', async () => {
      const group = await etl(stage())
      await stage().put({ name: 'loader', ...every5m, ...group })
      await stage().put({
        name: 'processor',
        ...every5m,
        timing: { everyMs: hour },
        ...group,
        rules: recipe('Readiness between siblings'),
      })
      const asked: boolean[] = []
      for (const batch_id of ['mon', 'mon', 'tue', 'tue']) {
        await answers(stage(), { ready_for_processing: true, batch_id }, { name: 'loader' })
        const [judgement] = await stage().leaseHttp('rules')
        if (judgement === undefined) throw new Error('nothing to judge')
        const { judged } = await stage().store.do(
          judgeSibling,
          judgement.target?.rules as Parameters<typeof judgeSibling>[1],
        )
        await stage().end(judgement)
        asked.push(judged === 'rule batch acts')
      }
      expect(asked).toEqual([false, false, true, false])
    })
  })
})
