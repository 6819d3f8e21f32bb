import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patternMatches, patternProblem } from '../../src/core/json/pattern.ts'

type Grammar = {
  alternatives: string
  sequence: string
  term: string
  group: string
}

const singles = fc.constantFrom(
  ...['a', 'b', ' ', '.', '\\w', '\\W', '\\s', '[ab]', '[^a]', '[\\]a-b]', 'é', '😀', '\\u{1F600}', '\\uD83D\\uDE00'],
  ...['\\x61', '\\n', '\\p{L}', '\\P{L}', '\\.', '\\cJ'],
)
const quantifiers = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{0}', '{1,}', '{0,2}', '{1,3}?')

/** Sources of regular expressions over a small alphabet, so that texts of it match about as often as not. */
const { alternatives: sources } = fc.letrec<Grammar>((tie) => ({
  alternatives: joined('|', tie('sequence')),
  sequence: joined('', tie('term')),
  term: fc
    .tuple(fc.oneof({ maxDepth: 3 }, singles, tie('group')), quantifiers)
    .map(([atom, quantifier]) => atom + quantifier),
  group: fc.tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('alternatives')).map(([open, inner]) => `${open}${inner})`),
}))

function joined(by: string, arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(arbitrary, { maxLength: 3 }).map((parts) => parts.join(by))
}

const texts = fc
  .array(fc.constantFrom('a', 'b', ' ', '\n', 'é', '😀', '.', ']', '\uD83D'), { maxLength: 8 })
  .map((parts) => parts.join(''))

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'u') !== null
  } catch {
    return false
  }
}

describe('a pattern', () => {
  it('matches where the engine of JavaScript matches, and nowhere else', () => {
    let matched = 0
    fc.assert(
      fc.property(sources, texts, (source, text) => {
        fc.pre(compiles(source) && !/takes \d+ steps/.test(patternProblem(source) ?? ''))
        const expected = new RegExp(source, 'u').test(text)
        matched += Number(expected)
        expect({ source, text, matches: patternMatches(source, text) }).toEqual({ source, text, matches: expected })
      }),
      { numRuns: 3_000 },
    )
    expect(matched).toBeGreaterThan(300)
  })

  it.each([
    ['^ok$', 'ok', true],
    ['^ok$', 'ok\n', false],
    ['^a|b$', 'cb', true],
    ['\\bup\\b', 'is up.', true],
    ['\\bup\\b', 'upper', false],
    ['\\Bp', 'up', true],
    ['\\Bu', 'up', false],
    ['$^', '', true],
    ['(?:^)*a', 'ba', true],
    ['', 'anything', true],
    ['(a*)*b', 'aab', true],
    ['[[]', '[', true],
    ['"status":\\s*"(ok|fine)"', '{"status": "fine"}', true],
  ])('/%s/ and %j: %s', (source, text, matches) => {
    expect(patternMatches(source, text)).toBe(matches)
    expect(new RegExp(source, 'u').test(text)).toBe(matches)
  })

  it.each(['(a+)+$', '(a|a)*b', '(.*a){12}$', 'a*a*a*a*a*b', '\\s+$'])(
    'takes time that grows with the text alone, though /%s/ would take an engine that tries one way after the other for ever',
    (source) => {
      const text = `${'a'.repeat(50_000)}${' '.repeat(50_000)}!`
      expect(patternMatches(source, text)).toBe(false)
    },
  )

  it.each([
    ['(', /does not compile/],
    ['[z-a]', /does not compile/],
    ['(?=a)', /looks around/],
    ['(?!a)', /looks around/],
    ['a(?<=a)', /looks around/],
    ['(?<!a)b', /looks around/],
    ['(a)\\1', /refers back/],
    ['(?<n>a)\\k<n>', /refers back/],
    ['a{301}', /steps/],
    ['(a{20}){20}', /steps/],
    ['(?:a{0,90}){999999999}', /steps/],
  ])('/%s/ is refused', (source, problem) => {
    expect(patternProblem(source)).toMatch(problem)
    expect(patternMatches(source, 'a'.repeat(400))).toBe(false)
  })

  it('that is too long, too wide or too deep is refused', () => {
    expect(patternProblem('a'.repeat(301))).toMatch(/steps/)
    expect(patternProblem('a'.repeat(1_001))).toMatch(/1001 characters/)
    expect(patternProblem(`${'('.repeat(60)}a${')'.repeat(60)}`)).toMatch(/levels/)
  })

  it('is refused for nothing else', () => {
    for (const source of ['a{300}', '(?:){1000000}', '(?<name>a)', `${'('.repeat(50)}a${')'.repeat(50)}`]) {
      expect(patternProblem(source)).toBeNull()
    }
  })
})
