import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { describe, expect, it } from 'vitest'
import { tokenOperations } from '../../../src/operations/token/noun.ts'
import type { Store } from '../../../src/store/port.ts'
import { findSchedule, scheduleNow } from '../../../src/store/reads/find-schedule.ts'
import { onPorch, type Porch } from '../../doors/http/porch.ts'
import { call, modelAt } from '../../doors/mcp/model.ts'
import { verbsAt } from '../../operations/desk.ts'

// biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
const rules = [{ name: 'surge', when: { queue_depth: { above: 200 } }, then: { every: '30s', ttl: '15m' } }]
// biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
const own = [{ name: 'mine', when: { x: 1 }, then: { every: '10s', ttl: '24h' } }]
const target = { handler: 'queue' }
const bounds = { min: '30s', max: '20m', window: '* 8-19 * * 1-5', zone: 'UTC' }
const depth = {
  name: 'depth',
  every: '5m',
  target,
  ...bounds,
  group: 'checkout',
  autonomy: 'suggest',
  planner: { fields: ['queue_depth'] },
  rules,
} as const
const { name: _, rules: __, ...withoutRules } = depth

/** Each change, and the field that the refusal must name. */
const changes: readonly [what: string, change: Record<string, unknown>, field: string][] = [
  ['raises its own autonomy', { autonomy: 'act' }, 'autonomy'],
  ['takes the autonomy away', { autonomy: null }, 'autonomy'],
  ['writes a rule, which would outrank it', { rules: own }, 'rules'],
  ['removes the rules', { rules: null }, 'rules'],
  ['empties the rules', { rules: [] }, 'rules'],
  ['shows planners more of the answers', { planner: null }, 'planner'],
  ['leaves a paused group', { group: null }, 'group'],
  ['joins another group', { group: 'other' }, 'group'],
  ['removes the window', { window: null }, 'window'],
  ['opens the window', { window: '* * * * *' }, 'window'],
  ['reads the window in another zone', { zone: 'Asia/Tokyo' }, 'window'],
  ['lowers min', { min: '1s' }, 'min'],
  ['removes min', { min: null }, 'min'],
  ['raises max', { max: '10d' }, 'max'],
  ['removes max', { max: null }, 'max'],
]

async function agentAt(porch: Porch) {
  const { token } = await tokenOperations.create.call(porch.desk.context, {
    name: 'claude',
    scope: 'admin',
    for: 'agent',
  })
  return { authorization: `Bearer ${token}` }
}

describe.each(['SQLite', 'PostgreSQL'] as const)('an agent and the bounds of a schedule, on %s', (database) => {
  const porch = onPorch(database)
  const { groups, schedules } = verbsAt(() => porch().desk.context)
  const specOf = async (name = 'depth') => (await porch().desk.store.look(findSchedule, name))?.spec

  async function begin(): Promise<Client> {
    await groups.create('checkout')
    await groups.create('other')
    await schedules.create({ ...depth })
    return modelAt({ context: async () => porch().desk.context })
  }

  it('changes none of them, by an update or a put, over MCP or with a token over HTTP', async () => {
    const model = await begin()
    const headers = await agentAt(porch())
    const before = await specOf()
    for (const [what, change, field] of changes) {
      const told = JSON.stringify(await call(model, 'schedule_update', { name: 'depth', ...change }))
      expect(told, what).toMatch(new RegExp(`Only a person changes [^.]*\\b${field}\\b`))
      const given = Object.fromEntries(Object.entries({ ...depth, ...change }).filter(([, value]) => value !== null))
      expect(await call(model, 'schedule_put', given), what).toMatchObject({ isError: true })
      const { name: ___, ...put } = given
      for (const asked of [
        { method: 'PATCH', body: change },
        { method: 'PUT', body: put },
      ]) {
        const refused = await porch().problem('/api/schedules/depth', { ...asked, headers, as: null })
        expect(refused, what).toMatchObject({ code: 'not-allowed', details: { caller: 'agent' } })
      }
    }
    expect(await specOf()).toEqual(before)
  })

  it('drops none of them by a put that leaves them out', async () => {
    const model = await begin()
    const dropped = await call(model, 'schedule_put', { name: 'depth', every: '5m', target })
    expect(dropped.isError).toBe(true)
    for (const field of ['rules', 'autonomy', 'planner', 'group', 'window', 'min', 'max']) {
      expect(JSON.stringify(dropped)).toContain(field)
    }
  })

  it('narrows them, and changes the rest', async () => {
    const model = await begin()
    const narrowed = { name: 'depth', min: '1m', max: '10m', every: '6m', description: 'narrower' }
    const done = await call(model, 'schedule_update', narrowed)
    expect(done.isError ?? false, JSON.stringify(done)).toBe(false)
    const { rules: stored } = (await specOf()) as { rules: unknown }
    const put = { ...withoutRules, name: 'depth', min: '1m', max: '10m', rules: stored }
    expect((await call(model, 'schedule_put', put)).isError ?? false).toBe(false)
    expect(await specOf()).toMatchObject({ minMs: 60_000, maxMs: 600_000, autonomy: 'suggest', group: 'checkout' })
  })

  it('cannot start what a paused group holds', async () => {
    const model = await begin()
    const headers = await agentAt(porch())
    await groups.pause('checkout')
    await schedules.run('depth', { force: true }).catch(() => undefined)
    expect(await call(model, 'schedule_put', { name: 'depth', every: '5m', target })).toMatchObject({ isError: true })
    const body = { every: '5m', target }
    await porch().problem('/api/schedules/depth', { method: 'PUT', body, headers, as: null })
    expect(await porch().desk.lease()).toEqual([])
  })

  it('is told of a person who empties the rules that none are left', async () => {
    await begin()
    expect(await schedules.update('depth', { rules: [] })).toMatchObject({ answer: 'updated', changed: ['rules'] })
    expect(await specOf()).not.toHaveProperty('rules')
    await schedules.create({ name: 'none', every: '5m', target, rules: [] })
    expect(await specOf('none')).not.toHaveProperty('rules')
  })

  it('gives a schedule of its own neither rules nor autonomy', async () => {
    const model = await begin()
    for (const more of [{ rules: own }, { autonomy: 'act' }, { planner: { fields: ['a'] } }]) {
      const made = await call(model, 'schedule_put', { name: 'mine', every: '1h', target, ...more })
      expect(made, JSON.stringify(more)).toMatchObject({ isError: true })
    }
    const plain = { name: 'mine', every: '1h', target, group: 'checkout', min: '10s' }
    expect((await call(model, 'schedule_put', plain)).isError ?? false).toBe(false)
    expect(await specOf('mine')).not.toHaveProperty('autonomy')
  })

  it('does not write over bounds that a person gave while it was asking', async () => {
    await begin()
    await schedules.create({ name: 'plain', every: '5m', target })
    const { context } = porch().desk
    let isFirst = true
    const raced = (store: Store): Store =>
      new Proxy(store, {
        get(_store, name) {
          const value = Reflect.get(store, name) as unknown
          if (name === 'audited') return (...given: Parameters<Store['audited']>) => raced(store.audited(...given))
          if (name !== 'look') return typeof value === 'function' ? value.bind(store) : value
          return async (...given: Parameters<Store['look']>) => {
            const answer = await store.look(...given)
            if (isFirst && (given[0] as unknown) === scheduleNow) {
              isFirst = false
              await schedules.update('plain', { autonomy: 'off' })
            }
            return answer
          }
        },
      })
    const agent = { ...context, store: raced(context.store), actor: { name: 'claude', door: 'mcp' } as const }
    const { schedules: theirs } = verbsAt(() => agent)
    await expect(theirs.put({ name: 'plain', every: '6m', target })).rejects.toMatchObject({ code: 'conflict' })
    expect(await specOf('plain')).toMatchObject({ autonomy: 'off' })
  })
})
