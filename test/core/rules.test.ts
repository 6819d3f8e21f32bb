// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MatchProblem } from '../../src/core/json/matcher.ts'
import { type Rule, readRules } from '../../src/core/rule-form.ts'
import {
  isJudged,
  judgeRules,
  memoryBytesMax,
  type RuleAnswer,
  type RuleMemory,
  withJudged,
} from '../../src/core/rules.ts'

const now = Date.UTC(2026, 0, 5, 9)
const minute = 60_000

function rulesOf(given: unknown): readonly Rule[] {
  const problems: MatchProblem[] = []
  const rules = readRules(given, 'rules', problems)
  expect(problems).toEqual([])
  return rules
}

/** What the rules make of answers, one after the other: the effect of each. */
function judged(given: unknown, answers: readonly (Partial<RuleAnswer> | object)[], kept: RuleMemory = {}) {
  const rules = rulesOf(given)
  let memory = kept
  return answers.map((answer) => {
    const isWhole = 'body' in answer || 'status' in answer || 'failures' in answer || 'durationMs' in answer
    const whole = { sibling: null, body: undefined, failures: 0, ...(isWhole ? answer : { body: answer }) }
    const { won, memory: after } = judgeRules({ now, rules, memory, answer: whole })
    memory = after
    return won === null ? null : { ...won.effect, by: won.rule, reason: won.reason }
  })
}

const one = (when: object, then: object = { every: '30s' }, more: object = {}) => [{ name: 'r', when, then, ...more }]
const fits = { kind: 'interval' }

describe('a rule', () => {
  it.each<[string, object, readonly object[], readonly boolean[]]>([
    ['equals', { state: 'critical' }, [{ state: 'critical' }, { state: 'well' }, {}], [true, false, false]],
    ['in', { state: { in: ['a', 'b'] } }, [{ state: 'b' }, { state: 'c' }], [true, false]],
    ['matches', { note: { matches: '^err' } }, [{ note: 'error' }, { note: 'an error' }], [true, false]],
    ['exists', { note: { exists: false } }, [{}, { note: null }], [true, false]],
    ['above', { n: { above: 200 } }, [{ n: 200 }, { n: 200.5 }, { n: '300' }, {}], [false, true, false, false]],
    [
      'below a field',
      { n: { below: { field: 'm' } } },
      [{ n: 1, m: 2 }, { n: 2, m: 2 }, { n: 1 }],
      [true, false, false],
    ],
    ['changed', { b: { changed: true } }, [{ b: [1] }, { b: [1] }, { b: [2] }, {}], [false, false, true, true]],
    ['not changed', { b: { changed: false } }, [{ b: 1 }, { b: 1 }, { b: 2 }], [false, true, false]],
    [
      'several paths',
      { a: 1, b: { above: 1 } },
      [
        { a: 1, b: 1 },
        { a: 1, b: 2 },
      ],
      [false, true],
    ],
    ['a body that is none', { a: 1 }, [{ body: 'text' }, { body: null }, { body: [1] }], [false, false, false]],
  ])('compares: %s', (_, when, answers, expected) => {
    expect(judged(one(when), answers).map((effect) => effect !== null)).toEqual(expected)
  })

  it('sees the status, the failures in a row and the duration, whatever the body has under these names', () => {
    const answers = [
      { body: { $status: 500 }, status: 200 },
      { body: {}, status: 500 },
    ]
    expect(judged(one({ $status: { above: 499 } }), answers)).toEqual([null, expect.objectContaining(fits)])
    expect(judged(one({ $failures: { above: 1 } }), [{ failures: 1 }, { failures: 2 }])[1]).toMatchObject({
      reason: '$failures was 2',
    })
    expect(judged(one({ $durationMs: { above: 99 } }), [{ durationMs: 100 }, { durationMs: 1 }])[0]).toMatchObject(fits)
  })

  it('acts after the runs in a row that it asks for, names what it saw, and begins anew after one that does not fit', () => {
    const depths = [212, 230, 251, 10, 300, 301, 302].map((queue_depth) => ({ queue_depth }))
    const surge = one({ queue_depth: { above: 200 } }, { every: '30s', ttl: '15m' }, { runs: 3 })
    const effects = judged(surge, depths)
    expect(effects.map((effect) => effect?.reason ?? null)).toEqual([
      ...[null, null, 'queue_depth was 212, 230, 251', null],
      ...[null, null, 'queue_depth was 300, 301, 302'],
    ])
    expect(effects[2]).toMatchObject({ kind: 'interval', ms: 30_000, ttlMs: 15 * minute, by: 'r' })
  })

  it.each<[string, object, object, object | null]>([
    ['a pause', { pause: '10m' }, {}, { kind: 'pause', until: now + 10 * minute }],
    ['a clearing', { clear: true }, {}, { kind: 'clear' }],
    ['an instant from now', { at: '+5m' }, {}, { kind: 'oneshot', at: now + 5 * minute, ttlMs: 30 * minute }],
    ['now', { at: 'now', ttl: '2m' }, {}, { kind: 'oneshot', at: now, ttlMs: 2 * minute }],
    ['a field', { at: { field: 't' } }, { t: '2026-01-05T10:00:00+01:00' }, { kind: 'oneshot', at: now }],
    [
      'a field and minutes',
      { at: { field: 't', plusMinutes: 60 } },
      { t: '2026-01-05T09:00Z' },
      { at: now + 60 * minute },
    ],
    [
      'a pair of fields',
      { at: { field: 't', plusMinutes: { field: 'm' } } },
      { t: '2026-01-05T08:50:00Z', m: 30 },
      { at: now + 20 * minute },
    ],
    ['an instant that has passed', { at: { field: 't' } }, { t: '2026-01-05T08:59:59Z' }, null],
    ['an instant without offset', { at: { field: 't' } }, { t: '2026-01-05T10:00:00' }, null],
    ['no instant', { at: { field: 't' } }, { t: 17 }, null],
    ['an instant far away', { at: { field: 't' } }, { t: '2027-01-05T10:00:00Z' }, null],
    [
      'minutes out of range',
      { at: { field: 't', plusMinutes: { field: 'm' } } },
      { t: '2026-01-05T09:00Z', m: 1e300 },
      null,
    ],
  ])('does: %s', (_, then, body, expected) => {
    const [effect] = judged(one({ ok: true }, then), [{ body: { ok: true, ...body } }])
    if (expected === null) expect(effect).toBeNull()
    else expect(effect).toMatchObject(expected)
  })

  it('asks for a run now when it begins to fit, and not again while it does: each run would start the next', () => {
    const answers = [{ a: 1 }, { a: 1 }, { a: 1 }, { a: 2 }, { a: 1 }]
    const asked = judged(one({ a: 1 }, { at: 'now' }), answers).map((effect) => effect !== null)
    expect(asked).toEqual([true, false, false, false, true])
  })

  it('gives way to the first that fits, and the others are told', () => {
    const rules = rulesOf([
      { name: 'critical', when: { v: { above: 5 } }, then: { every: '15s' } },
      { name: 'warning', when: { v: { above: 3 } }, then: { every: '1m' } },
      { name: 'low', when: { v: { below: 1 } }, then: { clear: true } },
    ])
    const { won, memory } = judgeRules({
      now,
      rules,
      memory: {},
      answer: { sibling: null, body: { v: 6 }, failures: 0 },
    })
    expect(won?.rule).toBe('critical')
    expect(memory.trail).toEqual([
      { rule: 'critical', effect: 'won', why: 'v was 6' },
      { rule: 'warning', effect: 'lost', why: 'another rule came first' },
      { rule: 'low', effect: 'unfit', why: 'v is 6, not below 1' },
    ])
  })

  it('on a sibling sees only that sibling, and the others only the schedule itself', () => {
    const rules = [
      { name: 'own', when: { a: 1 }, runs: 2, then: { every: '30s' } },
      { name: 'its', sibling: 'loader', when: { a: 1 }, then: { at: 'now' } },
    ]
    const answer = (sibling: string | null) => ({ sibling, body: { a: 1 }, failures: 0 })
    const effects = judged(rules, [answer(null), answer('loader'), answer('other'), answer(null)])
    expect(effects.map((effect) => effect?.by ?? null)).toEqual([null, 'its', null, 'own'])
  })

  it('counts and compares in its 2 KB whatever its names and paths, and forgets rules that are gone', () => {
    const named = (index: number) => `${String.fromCodePoint(0x20000 + index).repeat(19)}${index}`
    const given = Array.from({ length: 20 }, (_, index) => ({
      name: named(index),
      sibling: `${index}-${'x'.repeat(190)}`,
      when: { [`${'very.'.repeat(40)}long${index}`]: { changed: false } },
      runs: 10,
      then: { every: '30s' },
    }))
    const rules = rulesOf(given)
    let memory: RuleMemory = {}
    const fired = new Set<string>()
    for (let round = 1; round <= 11; round += 1) {
      for (const [index, { sibling = '' }] of rules.entries()) {
        const run = round * 1_000_000_000 + index
        expect(isJudged(memory, sibling, run)).toBe(false)
        const answer = { sibling, body: {}, failures: 0 }
        const judging = judgeRules({ now, rules, memory: withJudged(memory, sibling, run), answer })
        memory = judging.memory
        expect(Buffer.byteLength(JSON.stringify(memory))).toBeLessThanOrEqual(memoryBytesMax)
        expect(isJudged(memory, sibling, run)).toBe(true)
        if (judging.won !== null) fired.add(`${round} ${judging.won.rule}`)
      }
    }
    // The first round has nothing to compare with.
    expect([...fired]).toEqual(rules.map(({ name }) => `11 ${name}`))
    const [first] = rules
    const rest = judgeRules({ now, rules: rules.slice(0, 1), memory, answer: { sibling: null, body: {}, failures: 0 } })
    expect(Object.keys(rest.memory.fits ?? {})).toHaveLength(1)
    expect(Object.keys(rest.memory.values ?? {})).toHaveLength(1)
    expect(isJudged(rest.memory, first?.sibling ?? '', 1)).toBe(true)
    expect(isJudged(rest.memory, rules[1]?.sibling ?? '', 1)).toBe(false)
  })

  it('never throws, and never remembers more than 2 KB, whatever an endpoint answers', () => {
    const rules = rulesOf(
      Array.from({ length: 20 }, (_, index) => ({
        name: `rule-${index}-of-a-schedule-with-long-names`,
        when: {
          [`field${index % 3}`]: index % 2 === 0 ? { changed: true } : { exists: true },
          a: { exists: index % 5 !== 0 },
        },
        runs: (index % 10) + 1,
        then: index % 4 === 0 ? { at: { field: 'a', plusMinutes: { field: 'field0' } } } : { every: '30s' },
      })),
    )
    const body = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({
        field0: fc.jsonValue(),
        field1: fc.string({ maxLength: 5_000 }),
        field2: fc.jsonValue(),
        a: fc.jsonValue(),
      }),
    )
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), (bodies) => {
        let memory: RuleMemory = {}
        for (const each of bodies) {
          memory = judgeRules({ now, rules, memory, answer: { sibling: null, body: each, failures: 0 } }).memory
          expect(Buffer.byteLength(JSON.stringify(memory))).toBeLessThanOrEqual(memoryBytesMax)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('a rule is refused', () => {
  const good = { name: 'r', when: { a: 1 }, then: { every: '30s' } }
  it.each<[unknown, string, RegExp]>([
    ['surge', 'rules', /^is "surge"$/],
    [Array.from({ length: 21 }, (_, n) => ({ ...good, name: `r${n}` })), 'rules', /has 21 rules/],
    [[7], 'rules[0]', /is 7/],
    [
      [{ ...good, when: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, { changed: true }])) }],
      'rules',
      /compare 21 values by changed/,
    ],
    [[{ ...good, name: undefined }], 'rules[0].name', /is missing/],
    [[{ ...good, name: 'a b' }], 'rules[0].name', /"a b"/],
    [[good, good], 'rules[1].name', /the name of rules\[0\] too/],
    [[{ ...good, when: undefined }], 'rules[0] (r).when', /is missing/],
    [[{ ...good, when: {} }], 'rules[0] (r).when', /is empty/],
    [[{ ...good, when: { a: { over: 1 } } }], 'rules[0] (r).when["a"]', /"over", which is not an operator/],
    [[{ ...good, when: { 'a..b': 1 } }], 'rules[0] (r).when["a..b"]', /is not a path/],
    [[{ ...good, when: { a: { above: 'x' } } }], 'rules[0] (r).when["a"].above', /is "x"/],
    [[{ ...good, when: { a: { above: { field: '' } } } }], 'rules[0] (r).when["a"].above.field', /is not a path/],
    [[{ ...good, when: { a: { above: { path: 'b' } } } }], 'rules[0] (r).when["a"].above', /"path"/],
    [[{ ...good, when: { $stat: 500 } }], 'rules[0] (r).when["$stat"]', /no end of a run has/],
    [
      [{ ...good, when: { a: { above: { field: '$stat' } } } }],
      'rules[0] (r).when["a"].above.field',
      /no end of a run has/,
    ],
    [[{ ...good, runs: 0 }], 'rules[0].runs', /is 0/],
    [[{ ...good, sibling: '' }], 'rules[0].sibling', /is empty/],
    [[{ ...good, unless: {} }], 'rules[0].unless', /is not a field of a rule/],
    [[{ ...good, then: undefined }], 'rules[0] (r).then', /is missing/],
    [[{ ...good, then: {} }], 'rules[0] (r).then', /has no effect/],
    [[{ ...good, then: { every: '30s', at: 'now' } }], 'rules[0] (r).then', /has every and at/],
    [[{ ...good, then: { every: '30' } }], 'rules[0] (r).then.every', /is "30"/],
    [[{ ...good, then: { every: '9s' } }], 'rules[0] (r).then.every', /is "9s"/],
    [[{ ...good, then: { every: '30s', everyMs: 30_000 } }], 'rules[0] (r).then.every', /beside `everyMs`/],
    [[{ ...good, then: { every: '30s', ttl: '5s' } }], 'rules[0] (r).then.ttl', /is "5s"/],
    [[{ ...good, then: { pause: '31d' } }], 'rules[0] (r).then.pause', /is "31d"/],
    [[{ ...good, then: { clear: true, ttl: '5m' } }], 'rules[0] (r).then.ttl', /means nothing beside clear/],
    [[{ ...good, then: { clear: 'yes' } }], 'rules[0] (r).then.clear', /is "yes"/],
    [[{ ...good, then: { at: 'soon' } }], 'rules[0] (r).then.at', /is "soon"/],
    [[{ ...good, then: { at: '+x' } }], 'rules[0] (r).then.at', /is "\+x"/],
    [[{ ...good, then: { at: { field: 't', plus: 1 } } }], 'rules[0] (r).then.at.plus', /is not known/],
    [[{ ...good, then: { at: { field: 't', plusMinutes: 'x' } } }], 'rules[0] (r).then.at.plusMinutes', /is "x"/],
    [[{ ...good, then: { stop: true } }], 'rules[0] (r).then.stop', /is not an effect/],
  ])('%j', (given, field, problem) => {
    const problems: MatchProblem[] = []
    readRules(given, 'rules', problems)
    expect(problems).toContainEqual({ field, problem: expect.stringMatching(problem), expected: expect.any(String) })
  })
})
