import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { scheduleFigures } from '../../../src/doors/http/schedule-figures.ts'
import { verbsAt } from '../../operations/desk.ts'
import { onPorch } from './porch.ts'

describe.each(['SQLite', 'PostgreSQL'] as const)('the metrics of each schedule (%s)', (database) => {
  const porch = onPorch(database)
  const { schedules } = verbsAt(() => porch().desk.context)
  const text = async () => (await porch().ask('/metrics', { as: 'read' })).text()
  const value = async (figure: string, schedule: string) => {
    const line = (await text())
      .split('\n')
      .find((each) => each.startsWith(`belfry_schedule_${figure}{schedule="${schedule}"} `))
    return line === undefined ? null : Number(line.split(' ').at(-1))
  }
  const standing = async (schedule: string) => ({
    success: await value('last_success_timestamp_seconds', schedule),
    end: await value('last_end_timestamp_seconds', schedule),
    failures: await value('consecutive_failures', schedule),
    next: await value('next_run_timestamp_seconds', schedule),
  })
  /** Fires what is due an hour later, and ends it; answers when, in seconds. */
  const nextEnds = async (
    outcome: { readonly kind: 'success' } | { readonly kind: 'failed'; readonly reason: string },
  ) => {
    const { clock, store } = porch().desk
    clock.advance(3_600_000)
    await store.fireDue({ limit: 10 })
    const leases = await porch().desk.lease()
    expect(leases).toHaveLength(1)
    await store.settle(leases.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome })))
    return clock.now() / 1_000
  }

  it.each([
    ['cron', { cron: '0 * * * *', zone: 'UTC' }],
    ['every', { every: '1h' }],
  ])('tell the last success, the last end, the failures in a row and the next instant of %s', async (_, timing) => {
    await schedules.create({ name: 'nightly', ...timing, target: { handler: 'x' }, attempts: 1 } as never)
    const start = porch().desk.clock.now() / 1_000
    expect(await standing('nightly')).toEqual({ success: null, end: null, failures: 0, next: start + 3_600 })
    const first = await nextEnds({ kind: 'success' })
    expect(await standing('nightly')).toEqual({ success: first, end: first, failures: 0, next: first + 3_600 })
    const second = await nextEnds({ kind: 'failed', reason: 'no' })
    expect(await standing('nightly')).toMatchObject({ success: first, end: second, failures: 1 })
    porch().desk.clock.advance(3_600_000)
    const third = await nextEnds({ kind: 'success' })
    expect(await standing('nightly')).toEqual({ success: third, end: third, failures: 0, next: third + 3_600 })
    await schedules.pause('nightly')
    expect(await standing('nightly')).toMatchObject({ next: null, success: third })
    await schedules.delete('nightly')
    expect(await text()).not.toContain('nightly')
  })

  it('are written as Prometheus reads them, whatever the schedule is called', async () => {
    await schedules.create({ name: 'a "quoted"\\ name', every: '1h', target: { handler: 'x' } })
    const said = await text()
    expect(said).toContain('belfry_schedule_consecutive_failures{schedule="a \\"quoted\\"\\\\ name"} 0\n')
    for (const line of said.split('\n').filter((each) => each !== '')) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{.+\})? [-+.\de]+(NaN)?)$/)
    }
    // The lines of one figure stand together, below what it is.
    expect(said.match(/# TYPE belfry_schedule_/g)).toHaveLength(4)
    expect(said).toContain('belfry_schedules_are_cut 0')
  })
})

describe('the metrics of very many schedules', () => {
  const schedule = { spec: null, problem: null, failureCount: 0, disabled: null, isDone: false }
  const ends = { lastEndAt: null, lastSuccessAt: null, nextDueAt: null }

  it.each([
    [10_000, 0],
    [10_001, 1],
  ])('of %d schedules the first 10,000 are told, and whether there are others: %d', async (count, isCut) => {
    const names = Array.from({ length: count }, (_, index) => `s${String(index).padStart(6, '0')}`)
    let asked = 0
    const page = async ({ after = '', limit }: { after?: string; limit: number }) => {
      asked += 1
      return names
        .filter((name) => name > after)
        .slice(0, limit)
        .map((name) => ({ name, ...schedule, ...ends }))
    }
    const text = await scheduleFigures({ look: (_: unknown, asked: never) => page(asked) } as never)
    expect(text.match(/^belfry_schedule_consecutive_failures\{/gm)).toHaveLength(10_000)
    expect(text).toContain(`belfry_schedules_are_cut ${isCut}\n`)
    expect(asked).toBe(21)
  })
})

describe('the alert rules in docs/alerts.yml', () => {
  const porch = onPorch()
  const file = fileURLToPath(new URL('../../../docs/alerts.yml', import.meta.url))
  const { groups } = parse(readFileSync(file, 'utf8'), { strict: true }) as {
    groups: {
      name: string
      rules: { alert: string; expr: string; for?: string; labels: object; annotations: object }[]
    }[]
  }
  const rules = groups.flatMap((group) => group.rules)

  it('are what Prometheus reads: each has a name, an expression, a severity and what it says', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, expr, for: lasting, labels, annotations, ...others } of rules) {
      expect(alert).toMatch(/^Belfry[A-Z]\w+$/)
      expect(expr.match(/[([{]/g)?.length, alert).toBe(expr.match(/[)\]}]/g)?.length)
      if (lasting !== undefined) expect(lasting).toMatch(/^\d+[smh]$/)
      expect(labels).toEqual({ severity: expect.stringMatching(/^(info|warning|critical)$/) })
      expect(annotations).toEqual({ summary: expect.any(String), description: expect.any(String) })
      expect(others).toEqual({})
    }
  })

  it('name no metric and no label that /metrics does not tell', async () => {
    await porch().json('/api/runs', { body: { target: null } })
    const text = await (await porch().ask('/metrics')).text()
    const known = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name))
    const named = rules.flatMap(({ expr }) => expr.match(/\bbelfry_\w+/g) ?? [])
    expect(named.filter((name) => !known.has(name))).toEqual([])
    expect(named).toEqual(expect.arrayContaining([...known].filter((name) => name?.startsWith('belfry_schedule_'))))
    const labels = JSON.stringify(rules).match(/\$labels\.\w+/g) ?? []
    expect(new Set(labels)).toEqual(new Set(['$labels.instance', '$labels.schedule', '$labels.queue']))
    expect(text).toContain('state="parked"')
  })
})
