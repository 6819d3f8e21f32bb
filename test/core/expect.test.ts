import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EndFacts, type Expectation, expectationProblems, outcomeOf } from '../../src/core/run/expect.ts'
import { verdict } from '../../src/core/run/verdict.ts'

const success = { kind: 'success' }
const http = (facts: Partial<EndFacts> = {}): EndFacts => ({ status: 200, ...facts })
const command = (facts: Partial<EndFacts> = {}): EndFacts => ({ exitCode: 0, signal: null, ...facts })
const handler = (facts: Partial<EndFacts> = {}): EndFacts => ({ ...facts })
const judged = (facts: EndFacts, rules?: Expectation) => outcomeOf({ facts, expect: rules })
const failed = (reason: string | RegExp, more: object = {}) => ({
  kind: 'failed',
  reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
  ...more,
})

describe('without an expectation', () => {
  it.each<[EndFacts, unknown]>([
    [http({ status: 200 }), success],
    [http({ status: 204 }), success],
    [http({ status: 299 }), success],
    [http({ status: 304 }), failed('status 304')],
    [http({ status: null }), failed('ended without a status')],
    [command(), success],
    [command({ exitCode: 3 }), failed('exit code 3')],
    [command({ exitCode: null, signal: 'SIGKILL' }), failed('ended by SIGKILL')],
    [command({ exitCode: null }), failed('ended without an exit code')],
    [{ signal: 'SIGKILL' }, failed('ended by SIGKILL')],
    [handler(), success],
    [handler({ text: 'no', json: false }), success],
  ])('%j is judged by the facts that it has', (facts, outcome) => expect(judged(facts)).toEqual(outcome))

  it.each([400, 401, 403, 404, 405, 410, 413, 422, 451])('%d is not tried again: it would be refused again', (status) =>
    expect(judged(http({ status }))).toEqual(failed(`status ${status}`, { retryable: false })),
  )

  it.each([408, 409, 425, 429, 500, 501, 502, 503, 504, 301])('%d is left to the policy', (status) =>
    expect(judged(http({ status }))).toEqual(failed(`status ${status}`)),
  )

  it('an error is a failure with its own words, and says itself whether trying again helps', () => {
    expect(judged(http({ status: undefined, error: 'refused' }))).toEqual(failed('refused'))
    expect(judged(handler({ error: 'no', retryable: false }))).toEqual(failed('no', { retryable: false }))
    expect(judged(handler({ error: 'no', retryable: true, retryAfterMs: 5 }))).toEqual(
      failed('no', { retryable: true, retryAfterMs: 5 }),
    )
    expect(judged(handler({ error: '' }))).toEqual(failed(/./))
  })

  it('what a server asks to wait is handed on with the failure', () => {
    expect(judged(http({ status: 503, retryAfterMs: 2_000 }))).toEqual(failed('status 503', { retryAfterMs: 2_000 }))
  })
})

describe('an expectation', () => {
  it.each<[EndFacts, Expectation, object]>([
    [http({ status: 404 }), { statuses: [200, 404] }, success],
    [http({ status: 302 }), { statuses: ['2xx', '3xx'] }, success],
    [http({ status: 200 }), { statuses: [204] }, failed('expect.statuses: 200 is not 204')],
    [http({ status: 500 }), { statuses: [200, '4xx'] }, failed('expect.statuses: 500 is not 200 or 4xx')],
    [handler(), { statuses: [200] }, failed('expect.statuses: no status is not 200')],
    [command({ exitCode: 2 }), { exitCodes: [0, 2] }, success],
    [command({ exitCode: 0 }), { exitCodes: [3] }, failed('expect.exitCodes: exit code 0, not 3')],
    [command({ exitCode: null, signal: 'SIGTERM' }), { exitCodes: [0] }, failed(/exitCodes: ended by SIGTERM, not 0/)],
    [http(), { exitCodes: [0] }, failed(/exitCodes: ended without an exit code/)],
  ])('of statuses or exit codes stands in place of the default: %j, %j', (facts, rules, outcome) =>
    expect(judged(facts, rules)).toEqual(outcome),
  )

  it.each<[string | undefined, Expectation, object]>([
    ['all is well', { textIncludes: 'is well' }, success],
    [
      'all is well',
      { textIncludes: 'Well' },
      failed('expect.textIncludes: "Well" is missing: the text is something else'),
    ],
    [undefined, { textIncludes: 'a' }, failed('expect.textIncludes: "a" is missing: there is no text')],
    ['rows: 17', { textMatches: '^rows: \\d+$' }, success],
    ['rows: ?', { textMatches: '^rows: \\d+$' }, failed(/expect\.textMatches: nothing matches \/\^rows: \\d\+\$\//)],
    [undefined, { textMatches: '' }, failed(/there is no text/)],
  ])('of text is looked for in the text: %j, %j', (text, rules, outcome) => {
    expect(judged(http({ text }), rules)).toEqual(outcome)
    expect(judged(command({ text }), rules)).toEqual(outcome)
  })

  it('of text sees as much of an answer as is kept of one', () => {
    const text = `${'x'.repeat(100 * 1024)}end`
    expect(judged(http({ text }), { textIncludes: 'end' })).toEqual(failed(/textIncludes/))
    expect(judged(http({ text }), { textMatches: 'end' })).toEqual(failed(/textMatches/))
  })

  const json = { status: 'ok', items: [{ id: 7, tags: ['a', 'b'] }], none: null }
  it.each<[Record<string, unknown>, object]>([
    [{ status: 'ok' }, success],
    [{ 'items[0].id': 7, none: null }, success],
    [{ 'items[0]': { tags: ['a', 'b'], id: 7 } }, success],
    [{ status: 'fine' }, failed('expect.json: status is "ok", not "fine"')],
    [{ status: 'ok', 'items[0].id': '7' }, failed('expect.json: items[0].id is 7, not "7"')],
    [{ 'items[1].id': 7 }, failed('expect.json: items[1].id is missing: items is a list of 1')],
    [{ 'status.code': 1 }, failed('expect.json: status.code is missing: status is "ok"')],
    [{ state: 'ok' }, failed('expect.json: state is missing: the answer is an object with status, items, none')],
    [{ 'items[0].tags': [] }, failed('expect.json: items[0].tags is a list of 2, not []')],
    [{ 'not a path': 1 }, failed('expect.json: not a path is not a path')],
  ])('of JSON looks at each path and says what is there instead: %j', (rules, outcome) =>
    expect(judged(http({ json }), { json: rules })).toEqual(outcome),
  )

  it('of JSON also reads a text that does not say that it is JSON, and refuses one that is none', () => {
    expect(judged(command({ text: '{"rows":3}\n' }), { json: { rows: 3 } })).toEqual(success)
    expect(judged(command({ text: 'rows: 3' }), { json: { rows: 3 } })).toEqual(
      failed('expect.json: the answer is not JSON'),
    )
    expect(judged(handler(), { json: { rows: 3 } })).toEqual(failed('expect.json: the answer is not JSON'))
    const deep = `{"rows":${'['.repeat(9_000)}${']'.repeat(9_000)}}`
    expect(judged(command({ text: deep }), { json: { rows: 3 } })).toEqual(failed(/not JSON/))
    expect(judged(http({ json: null }), { json: { rows: 3 } })).toEqual(
      failed('expect.json: rows is missing: the answer is null'),
    )
  })

  it('of JSON judges what a handler answered as it will be kept, and is not broken by what cannot be', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const broken = {
      get rows() {
        throw new Error('no')
      },
    }
    expect(judged(handler({ json: { at: new Date(0) } }), { json: { at: '1970-01-01T00:00:00.000Z' } })).toEqual(
      success,
    )
    for (const answer of [circle, broken, 10n, () => 1]) {
      expect(judged(handler({ json: answer }), { json: { rows: 3 } })).toEqual(failed(/not JSON/))
    }
  })

  it('is judged rule by rule, and the first that is broken is told', () => {
    const rules: Expectation = { statuses: [200], textIncludes: 'a', textMatches: 'b', json: { c: 1 } }
    const reasons = [
      http({ status: 500 }),
      http({ text: '' }),
      http({ text: 'a' }),
      http({ text: 'ab' }),
      http({ text: 'ab', json: { c: 1 } }),
    ].map((facts) => judged(facts, rules))
    expect(reasons.map((outcome) => /expect\.\w+/.exec(JSON.stringify(outcome))?.[0])).toEqual([
      'expect.statuses',
      'expect.textIncludes',
      'expect.textMatches',
      'expect.json',
      undefined,
    ])
  })

  it('that was not met leaves a run to the policy, and one that must not repeat is not repeated', () => {
    const policy = { maxAttempts: 3, backoffBaseMs: 1_000, backoffFactor: 2, backoffCapMs: 60_000 }
    for (const outcome of [
      judged(http({ status: 404 }), { statuses: [200] }),
      judged(http({ text: 'later' }), { textIncludes: 'done' }),
    ]) {
      const ends = [true, false].map((repeatable) =>
        verdict({ now: 0, run: { attempts: 0, repeatable }, outcome, policy }),
      )
      expect(ends.map(({ status }) => status)).toEqual(['ready', 'parked'])
    }
  })

  it('tells its reason in one short line, whatever was answered', () => {
    const hostile = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\u001b[2J\n'.repeat(500)))
    fc.assert(
      fc.property(hostile, fc.jsonValue(), hostile, (text, value, path) => {
        for (const outcome of [
          judged(handler({ error: text })),
          judged(http({ text }), { textIncludes: `${text}!` }),
          judged(http({ text }), { textMatches: `^${text.length}!$` }),
          judged(http({ json: { a: value, [text]: text } }), { json: { a: 'else' } }),
          judged(http({ json: { [text]: value } }), { json: { [path]: 'else' } }),
          judged(command({ exitCode: null, signal: text || 'SIGHUP' })),
        ]) {
          if (outcome.kind !== 'failed') continue
          expect(outcome.reason.length).toBeGreaterThan(0)
          expect(outcome.reason.length).toBeLessThanOrEqual(300)
          expect(outcome.reason).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
        }
      }),
    )
  })
})

describe('at the door', () => {
  it.each<[unknown]>([
    [{}],
    [{ statuses: [200, '4xx'], textIncludes: 'a', textMatches: '^a', json: { 'a[0]': null } }],
    [{ exitCodes: [0, 255], statuses: undefined }],
  ])('%j is sound', (rules) => expect(expectationProblems(rules)).toEqual([]))

  it.each<[string, unknown, RegExp]>([
    ['expect', null, /is null/],
    ['expect', [], /is a list/],
    ['expect', '2xx', /is "2xx"/],
    ['expect.status', { status: 200 }, /is not known/],
    ['expect.statuses', { statuses: 200 }, /is 200/],
    ['expect.statuses', { statuses: [] }, /is empty/],
    ['expect.statuses[1]', { statuses: [200, '200'] }, /is "200"/],
    ['expect.statuses[0]', { statuses: ['6xx'] }, /is "6xx"/],
    ['expect.statuses[0]', { statuses: [99] }, /is 99/],
    ['expect.statuses[0]', { statuses: [200.5] }, /is 200\.5/],
    ['expect.exitCodes[0]', { exitCodes: [256] }, /is 256/],
    ['expect.exitCodes[0]', { exitCodes: [null] }, /is null/],
    ['expect.textIncludes', { textIncludes: '' }, /is empty/],
    ['expect.textIncludes', { textIncludes: 'a'.repeat(1_001) }, /…/],
    ['expect.textIncludes', { textIncludes: null }, /is null/],
    ['expect.textMatches', { textMatches: '(' }, /does not compile/],
    ['expect.textMatches', { textMatches: '(?=a)' }, /looks around/],
    ['expect.textMatches', { textMatches: /a/ }, /is an object/],
    ['expect.json', { json: ['a'] }, /is a list/],
    ['expect.json', { json: {} }, /is empty/],
    ['expect.json["$.a"]', { json: { '$.a': 1 } }, /is not a path/],
    ['expect.json["a"].b[0]', { json: { a: { b: [1n] } } }, /is a bigint/],
    ['expect.json["a"]', { json: { a: undefined } }, /is undefined/],
  ])('%s is refused with what is wrong there and what would be right', (field, rules, problem) => {
    expect(expectationProblems(rules)).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(/./) },
    ])
  })

  it('all that is wrong is told at once', () => {
    expect(expectationProblems({ statuses: [], exitCodes: [], more: 1 }).map(({ field }) => field)).toEqual([
      'expect.statuses',
      'expect.exitCodes',
      'expect.more',
    ])
  })

  it('a rule that no target of that kind can meet is refused', () => {
    expect(expectationProblems({ statuses: [200] }, { name: 'http', gives: ['status'] })).toEqual([])
    expect(expectationProblems({ exitCodes: [0] }, { name: 'command', gives: ['exitCode'] })).toEqual([])
    expect(
      expectationProblems({ exitCodes: [0], statuses: [200] }, { name: 'both', gives: ['exitCode', 'status'] }),
    ).toEqual([])
    for (const [rules, kind] of [
      [{ statuses: [200] }, { name: 'command', gives: ['exitCode'] }],
      [{ exitCodes: [0] }, { name: 'http', gives: ['status'] }],
      [{ statuses: [200] }, { name: 'handler' }],
    ] as const) {
      expect(expectationProblems(rules, kind)).toEqual([
        {
          field: expect.any(String),
          problem: expect.stringMatching(kind.name),
          expected: expect.stringMatching(/json/),
        },
      ])
    }
  })
})

describe('an answer without work', () => {
  const noop = { kind: 'success', noop: true }

  it.each<[EndFacts, Expectation, unknown]>([
    [command({ text: '' }), { noop: { textMatches: '^$' } }, noop],
    [command({ text: 'sent 3' }), { noop: { textMatches: '^$' } }, success],
    [http({ json: { items: [] } }), { noop: { json: { items: [] } } }, noop],
    [http({ json: { items: [1] } }), { noop: { json: { items: [] } } }, success],
    [http({ status: 204 }), { noop: { statuses: [204] } }, noop],
    [command({ exitCode: 3 }), { exitCodes: [0, 3], noop: { exitCodes: [3] } }, noop],
    [command({ exitCode: 0 }), { exitCodes: [0, 3], noop: { exitCodes: [3] } }, success],
    // A code that counts as success does so for the rule of an empty answer as well.
    [command({ exitCode: 3, text: 'nothing' }), { exitCodes: [3], noop: { textIncludes: 'nothing' } }, noop],
    [command({ exitCode: 3, text: 'nothing' }), { noop: { textIncludes: 'nothing' } }, failed('exit code 3')],
    [handler({ json: 0 }), { noop: { json: { $: 0 } } }, success],
  ])('%j by %j', (facts, rules, outcome) => expect(judged(facts, rules)).toEqual(outcome))

  it('completes the run, and the reason says so', () => {
    const said = { now: 0, run: { attempts: 0 }, policy: { maxAttempts: 1 } as never }
    expect(verdict({ ...said, outcome: { kind: 'success', noop: true } })).toMatchObject({
      status: 'completed',
      reason: 'no-op',
    })
  })

  it.each<[unknown, object]>([
    [{ noop: {} }, { field: 'expect.noop', problem: 'is empty' }],
    [{ noop: 3 }, { field: 'expect.noop', problem: 'is 3' }],
    [{ noop: { statuses: [204] } }, { field: 'expect.noop.statuses', problem: expect.stringContaining('command') }],
    [{ noop: { noop: {} } }, { field: 'expect.noop.noop', problem: 'is not known' }],
    [{ noop: { textMatches: '(' } }, { field: 'expect.noop.textMatches' }],
    [{ wrong: 1 }, { field: 'expect.wrong', expected: expect.stringContaining('noop') }],
  ])('%j is refused', (rules, problem) => {
    expect(expectationProblems(rules, { name: 'command', gives: ['exitCode'] })).toMatchObject([problem])
  })
})
