import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatJsonPath } from '../../src/core/json/json-path.ts'
import { type Match, matchEvent, matchProblems } from '../../src/core/json/matcher.ts'

const push = {
  ref: 'refs/heads/main',
  forced: false,
  before: null,
  repository: { full_name: 'ada/engine', topics: ['a', 'b'] },
  commits: [{ id: 'c1', author: { name: 'Ada' } }],
}

const judged = (match: Match, payload: unknown = push) =>
  matchEvent({ rules: { match }, event: { type: null, payload } })
const matched = { matched: true }
const refused = (reason: string | RegExp) => ({
  matched: false,
  reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
})

describe('an event is taken', () => {
  it.each<[Match, unknown]>([
    [{ ref: 'refs/heads/main' }, matched],
    [{ ref: 'refs/heads/dev' }, refused('ref is "refs/heads/main", not "refs/heads/dev"')],
    [{ 'commits[0].author.name': 'Ada', forced: false, before: null }, matched],
    [{ 'commits[1].author.name': 'Ada' }, refused('commits[1].author.name is missing, not "Ada"')],
    [{ forced: 'false' }, refused('forced is false, not "false"')],
    [{ 'repository.topics': ['a', 'b'] }, matched],
    [{ 'repository.topics': ['b', 'a'] }, refused(/^repository.topics is a list of 2/)],
    [{ repository: { equals: { topics: ['a', 'b'], full_name: 'ada/engine' } } }, matched],
    [{ repository: { equals: { full_name: 'ada/engine' } } }, refused(/^repository is \{/)],
    [{ ref: { in: ['x', 'refs/heads/main'] } }, matched],
    [{ before: { in: [null] } }, matched],
    [{ ref: { in: ['x', 'y'] } }, refused('ref is "refs/heads/main", which is not one of the listed values')],
    [{ after: { in: [null] } }, refused(/^after is missing/)],
    [{ ref: { matches: '^refs/heads/(main|release-\\d+)$' } }, matched],
    [{ ref: { matches: '^main' } }, refused('ref is "refs/heads/main", which does not match /^main/')],
    [{ forced: { matches: 'false' } }, refused(/^forced is false, which does not match/)],
    [{ before: { exists: true }, after: { exists: false } }, matched],
    [{ after: { exists: true } }, refused('after is missing')],
    [{ ref: { exists: false } }, refused('ref is there')],
  ])('by %j: %j', (match, answer) => {
    expect(matchProblems(match)).toEqual([])
    expect(judged(match)).toEqual(answer)
  })

  it('by its type, where the routine names types', () => {
    const of = (type: string | null) => matchEvent({ rules: { type: ['push', 'tag'] }, event: { type, payload: null } })
    expect(of('tag')).toEqual(matched)
    expect(of('issues')).toEqual(refused('the type is "issues", not "push" or "tag"'))
    expect(of(null)).toEqual(refused('the type is missing; it must be "push" or "tag"'))
  })

  it('always, where nothing is asked of it', () => {
    expect(matchEvent({ rules: {}, event: { type: null, payload: undefined } })).toEqual(matched)
  })

  it.each([null, 7, 'text', [], [push], {}])('by no path, where the payload is %j', (payload) => {
    expect(judged({ ref: 'refs/heads/main' }, payload)).toMatchObject({ matched: false })
    expect(judged({ ref: { exists: false } }, payload)).toEqual(matched)
  })

  it('never for what every object inherits', () => {
    for (const path of ['constructor', '__proto__', 'toString', 'repository.topics.length']) {
      expect(judged({ [path]: { exists: true } })).toMatchObject({ matched: false })
    }
  })

  it('in no long time, whatever the pattern and the text', () => {
    const payload = { text: 'a'.repeat(200_000) }
    expect(judged({ text: { matches: '^(a+)+$' } }, payload)).toEqual(matched)
    expect(judged({ text: { matches: '(a*)*b' } }, payload)).toMatchObject({ matched: false })
  })

  it('with a reason that stays one short line, whatever the payload holds', () => {
    const forged = { ref: `x\n\u001b[31m${'y'.repeat(5_000)}\u202e` }
    const answer = judged({ ref: 'z' }, forged)
    expect(answer).toMatchObject({ matched: false })
    const { reason } = answer as { reason: string }
    expect(reason.length).toBeLessThanOrEqual(300)
    expect(reason).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

describe('a match is refused', () => {
  it.each<[unknown, string, RegExp]>([
    ['ref', 'match', /^is "ref"$/],
    [[1], 'match', /^is a list$/],
    [null, 'match', /^is null$/],
    [{}, 'match', /^is empty$/],
    [{ '$.ref': 1 }, 'match["$.ref"]', /^is not a path$/],
    [{ ref: {} }, 'match["ref"]', /is an empty object/],
    [{ ref: { $eq: 1 } }, 'match["ref"]', /^has "\$eq", which is not an operator/],
    [{ ref: { toString: 1 } }, 'match["ref"]', /not an operator/],
    [{ ref: { in: [1], exists: true } }, 'match["ref"]', /^has in and exists$/],
    [{ ref: { in: [] } }, 'match["ref"].in', /^is empty$/],
    [{ ref: { in: 'a' } }, 'match["ref"].in', /^is "a"$/],
    [{ ref: { exists: 'yes' } }, 'match["ref"].exists', /^is "yes"$/],
    [{ ref: { matches: '(' } }, 'match["ref"].matches', /^does not compile/],
    [{ ref: { matches: '(?=a)' } }, 'match["ref"].matches', /^looks around$/],
    [{ ref: { matches: 5 } }, 'match["ref"].matches', /^is 5$/],
    [{ ref: Number.NaN }, 'match["ref"]', /^is NaN$/],
    [{ ref: { equals: [undefined] } }, 'match["ref"].equals[0]', /^is undefined$/],
  ])('%j, with what is wrong and what would be right', (match, field, problem) => {
    const found = matchProblems(match)
    expect(found).toEqual([{ field, problem: expect.stringMatching(problem), expected: expect.stringMatching(/\w/) }])
  })

  it('with everything that is wrong at once', () => {
    expect(matchProblems({ a: { x: 1 }, b: 1, 'c[': 2 }).map(({ field }) => field)).toEqual([
      'match["a"]',
      'match["c["]',
    ])
  })

  it('where it has more paths than anybody would read', () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, index]))
    expect(matchProblems(many)).toMatchObject([{ field: 'match', problem: 'has 51 paths' }])
  })
})

describe('whatever the payload,', () => {
  const anyJson = fc.jsonValue({ maxDepth: 4 })
  const anyKey = fc.oneof(fc.constantFrom('a', 'b', 'ref'), fc.string({ minLength: 1, maxLength: 8 }))

  it('a value at a path is matched by itself, by a list that has it, and by nothing else', () => {
    fc.assert(
      fc.property(anyKey, anyJson, anyJson, (name, value, other) => {
        const match = (rule: unknown) => judged({ [formatJsonPath([name])]: rule }, { [name]: value }).matched
        expect(match({ equals: value })).toBe(true)
        expect(match({ in: [other, value] })).toBe(true)
        expect(match({ exists: true })).toBe(true)
        expect(match({ exists: false })).toBe(false)
        const isSame = JSON.stringify(sorted(value)) === JSON.stringify(sorted(other))
        expect(match({ equals: other })).toBe(isSame)
        expect(match({ in: [other] })).toBe(isSame)
      }),
    )
  })

  it('the answer is an answer, and a sound match never throws', () => {
    const anyMatch = fc.dictionary(
      anyKey,
      fc.oneof(anyJson, fc.record({ matches: fc.string() }), fc.record({ in: fc.array(anyJson) })),
    )
    fc.assert(
      fc.property(anyMatch, anyJson, (match, payload) => {
        const isSound = matchProblems(match).length === 0
        const answer = judged(match, payload)
        expect(typeof answer.matched).toBe('boolean')
        if (isSound && !answer.matched) expect(answer.reason).not.toBe('')
      }),
    )
  })

  it('more rules never take more events', () => {
    fc.assert(
      fc.property(fc.dictionary(anyKey, anyJson), anyKey, anyJson, anyJson, (rules, name, rule, payload) => {
        const match = Object.fromEntries(
          Object.entries(rules).map(([key, equals]) => [formatJsonPath([key]), { equals }]),
        )
        const more = { ...match, [formatJsonPath([name])]: match[formatJsonPath([name])] ?? { equals: rule } }
        if (judged(more, payload).matched) expect(judged(match, payload).matched).toBe(true)
      }),
    )
  })
})

/** Equal data have equal texts; of two zeros JSON knows one. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { named: entries.map(([key, inner]) => [key, sorted(inner)]) }
}
