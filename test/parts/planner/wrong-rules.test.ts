// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { describe, expect, it } from 'vitest'
import { LookSession } from '../../../src/parts/planner/looks/look-session.ts'
import { atDesk, errorOf, problemsIn, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { planner, schedules, groups } = verbsAt(() => desk().context)
const target = { handler: 'queue' }
const every = { name: 'surge', when: { queue_depth: { above: 200 } }, then: { every: '30s' } }
const pause = { name: 'rest', when: { $failures: { above: 2 } }, then: { pause: '5m' } }

describe('a rule without effect is refused with its place', () => {
  it('an interval on a schedule that runs only once, when it is written and when the timing changes', async () => {
    const once = { name: 'once', at: '2026-12-01T09:00Z', target } as const
    const field = 'rules[1] (surge).then.every'
    expect(await problemsIn(schedules.put({ ...once, rules: [pause, every] }))).toMatchObject([{ field }])
    await schedules.put({ name: 'once', every: '5m', target, rules: [pause, every] })
    expect(await problemsIn(schedules.update('once', { at: '2026-12-01T09:00Z' }))).toMatchObject([{ field }])
    expect(await schedules.put({ ...once, rules: [pause] })).toMatchObject({ answer: 'updated' })
  })

  it('a name of a fact that no end of a run has, but not a field of the answer that is written as one', async () => {
    const stray = { ...every, when: { $stat: 500 } }
    const [found] = await problemsIn(schedules.put({ name: 'x', every: '5m', target, rules: [stray] }))
    expect(found).toMatchObject({
      field: 'rules[0] (surge).when["$stat"]',
      expected: expect.stringContaining('$status'),
    })
    const quoted = { ...every, when: { '["$stat"]': 500 } }
    expect(await schedules.put({ name: 'x', every: '5m', target, rules: [quoted] })).toMatchObject({
      answer: 'created',
    })
  })

  it('a sibling that is none is refused with the index of its rule', async () => {
    await groups.create('etl')
    const rules = [pause, { ...every, sibling: 'nothere' }]
    const error = await errorOf(schedules.put({ name: 'x', every: '5m', target, group: 'etl', rules }))
    expect(error.message).toContain('rules[1] (surge).sibling')
  })
})

it('planner eval names the time that is too long as it was given', async () => {
  expect(await problemsIn(planner.eval({ last: '200d' }))).toMatchObject([{ field: 'last', problem: 'is 200d' }])
})

it('a planner that asks for a hint of more than a day is refused with the bound, not by a form', async () => {
  const session = new LookSession({} as never, async () => expect.unreachable('the bound comes first'))
  for (const [tool, args] of [
    ['propose_interval', { intervalMs: 30_000, ttlMinutes: 1_441 }],
    ['propose_next_time', { nextRunAtIso: '2026-01-05T10:00:00Z', ttlMinutes: 2_000 }],
  ] as const) {
    const { result, isError } = await session.call(tool, args)
    expect(result).toMatchObject({ ok: false, code: 'not-allowed', why: expect.stringContaining('allowed: 1 to 1440') })
    expect(isError).toBe(false)
  }
})
