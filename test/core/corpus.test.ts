import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commitPhase } from '../../src/core/corpus/commit-phase.ts'
import { derivePhases, owedFrom, phaseForms } from '../../src/core/corpus/derive-phases.ts'
import { invalidate } from '../../src/core/corpus/invalidate.ts'
import { diffHunks, lineDiff } from '../../src/core/corpus/line-diff.ts'
import { type AnyPhaseState, owedPhase, soundState, transition } from '../../src/core/corpus/phases.ts'
import { rankItems, whyBefore } from '../../src/core/corpus/rank.ts'
import { glob, globProblem } from '../../src/core/glob.ts'

const names = ['architect', 'builder', 'critic'] as const
const letters: Record<string, string> = { fresh: 'F', stale: 'S', pending: 'P', running: 'R', failed: 'X' }
const written = (state: AnyPhaseState) => names.map((name) => letters[state[name] ?? ''] ?? '?').join('')
const stateOf = (text: string) => {
  const words = Object.fromEntries(Object.entries(letters).map(([word, letter]) => [letter, word]))
  return Object.fromEntries(names.map((name, at) => [name, words[text[at] ?? '']])) as AnyPhaseState
}

describe('the phases of a document', () => {
  it.each([
    [{}, 'PSS', false],
    [{ _builder: 'b' }, 'FPS', false],
    [{ _builder: 'b', _content: 'c' }, 'FFP', false],
    [{ _content: 'c' }, 'FFP', false],
    [{ _feedback: 'f' }, 'PSS', false],
    [{ _content: 'c', _feedback: 'f' }, 'FFF', false],
    [{ _error: { step: 'architect' } }, 'XSS', false],
    [{ _error: { step: 'architect' }, _builder: 'b' }, 'XFF', false],
    [{ _error: { step: 'builder' } }, 'FXS', false],
    [{ _error: { step: 'critic' } }, 'FFX', false],
    [{ _phaseState: { architect: 'fresh', builder: 'stale', critic: 'stale' } }, 'FPS', false],
    [{ _phaseState: { architect: 'fresh', builder: 'running', critic: 'stale' } }, 'FPS', true],
    [{ _phaseState: { architect: 'running', builder: 'running', critic: 'nonsense' } }, 'PSS', true],
  ])('of %j are %s', (document, expected, wasInterrupted) => {
    const derived = derivePhases(document)
    expect([written(derived.phaseState), derived.wasInterrupted]).toEqual([expected, wasInterrupted])
  })

  it('have at most one active phase in every state that can be reached', () => {
    const seen = new Set<string>(['PSS', 'FFF'])
    const queue = [...seen]
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const events = [
        { type: 'retry' } as const,
        { type: 'invalidate-architect' } as const,
        { type: 'invalidate-builder' } as const,
        ...names.flatMap((phase) =>
          (['start', 'stop', 'succeed', 'fail', 'invalidate'] as const).map((type) => ({ type, phase })),
        ),
      ]
      for (const event of events) {
        const after = written(transition({ phaseState: stateOf(next) as never, event }))
        expect([...after].filter((letter) => letter === 'P' || letter === 'R').length).toBeLessThanOrEqual(1)
        if (!seen.has(after)) queue.push(after)
        seen.add(after)
      }
    }
    expect(seen.size).toBeGreaterThan(10)
  })

  it('may be any list, and a named one is owed whatever came before', () => {
    const phases = ['draft', 'review']
    const state = soundState({}, phases)
    const done = transition<string>({ phaseState: state, event: { type: 'succeed', phase: 'draft' }, phases })
    expect([owedPhase<string>(state, phases), owedPhase<string>(done, phases)]).toEqual(['draft', 'review'])
    const forms = phases.map((name) => ({ name, writes: [`_${name}`], timeoutMs: 60_000 }))
    const event = { type: 'succeed', phase: 'draft' } as const
    expect(transition<string>({ phaseState: state, event, phases: forms })).toEqual(done)
    expect(owedPhase<string>(done, forms)).toBe('review')
    const items = [{ path: 'a', depth: 0, generatedAt: null, phaseState: done }]
    expect(rankItems({ now: 0, items, depthWeight: 0.5, phases: forms })).toMatchObject([{ phase: 'review', band: 1 }])
    expect(written(owedFrom(stateOf('FFF'), 'builder'))).toBe('FPS')
    expect(written(owedFrom(stateOf('PSS'), 'critic'))).toBe('FFP')
  })
})

describe('what invalidates a phase', () => {
  const fresh = {
    architect: { steer: 'a', files: 'f' },
    builder: { contents: { x: '1' }, children: { c: '1' } },
    critic: {},
  }
  const base = {
    now: 1_000,
    phaseState: stateOf('FFF'),
    current: fresh,
    consumed: fresh,
    cycles: 1,
    architectEvery: 10,
    builtAt: 500,
    propagateAfterMs: 1_000,
    owedChild: null,
  }
  it.each([
    ['nothing', {}, 'FFF', null],
    ['steer', { current: { ...fresh, architect: { steer: 'b', files: 'f' } } }, 'PSS', null],
    ['contents', { current: { ...fresh, builder: { contents: { x: '2' } } } }, 'FPS', null],
    ['cycles', { cycles: 10 }, 'PSS', null],
    ['a child, too soon', { current: { ...fresh, builder: { children: { c: '2' } } } }, 'FFF', 1_500],
    ['a child, in time', { now: 1_500, current: { ...fresh, builder: { children: { c: '2' } } } }, 'FPS', null],
    [
      'a child while one is owed',
      { now: 9_000, owedChild: 'c', current: { ...fresh, builder: { children: { c: '2' } } } },
      'FFF',
      null,
    ],
    [
      'what is owed anyhow',
      { phaseState: stateOf('FPS'), current: { ...fresh, builder: { contents: { x: '2' } } } },
      'FPS',
      null,
    ],
    ['unknown inputs', { consumed: {}, cycles: 99 }, 'FFF', null],
  ])('%s', (_, change, expected, nextAt) => {
    const found = invalidate({ ...base, ...change } as Parameters<typeof invalidate>[0])
    expect([written(found.phaseState), found.nextAt]).toEqual([expected, nextAt])
  })
})

it('a commit writes its own fields in their places, counts cycles, averages tokens, and leaves what a person changed', () => {
  const document = { owner: 'me', _feedback: 'mine', _synthesisCount: 2, _criticTokensAvg: 100, last: 1 }
  const {
    document: after,
    rejected,
    isCycle,
  } = commitPhase({
    now: 0,
    document,
    base: { ...document, _feedback: 'old' },
    phaseState: stateOf('FFR'),
    phase: 'critic',
    forms: phaseForms,
    end: { kind: 'success', fields: { _feedback: 'new' }, inputs: {}, tokens: 200 },
    commit: { run: 'r-1', fence: 1 },
  })
  expect([rejected, isCycle]).toEqual([['_feedback'], true])
  expect(Object.keys(after).slice(0, 5)).toEqual(['owner', '_feedback', '_synthesisCount', '_criticTokensAvg', 'last'])
  expect(after).toMatchObject({
    _feedback: 'mine',
    _synthesisCount: 3,
    _criticTokensAvg: 130,
    _criticTokens: 200,
    _revision: 1,
  })
  expect(after).not.toHaveProperty('_generatedAt')
})

it('a ranking is sound whatever its inputs are', () => {
  const pending = stateOf('PSS')
  const items = [
    { path: 'nan', depth: Number.NaN, generatedAt: 0, phaseState: pending },
    { path: 'future', depth: 0, generatedAt: 9e15, phaseState: pending },
    { path: 'never', depth: 1, generatedAt: null, emphasis: -3, phaseState: pending },
  ]
  const ranked = rankItems({ now: 1_000_000, items, depthWeight: undefined as never })
  expect(ranked.map(({ path, effectiveStaleness }) => [path, effectiveStaleness])).toEqual([
    ['never', null],
    ['nan', 1_000],
    ['future', 0],
  ])
})

it.each([
  ['projects/*/README.md', ['projects/a/README.md'], ['projects/a/b/README.md', 'README.md']],
  ['**/README.md', ['README.md', 'a/README.md', 'a/b/README.md'], ['a/README.mdx']],
  ['docs/**', ['docs/a', 'docs/a/b'], ['docs', 'doc/a']],
  ['*.{md,txt}', ['a.md', 'b.txt'], ['a.rs', 'x/a.md']],
  ['a?[0-9].[!m]d', ['ab1.xd'], ['ab1.md', 'a/1.xd']],
  ['a.b(c)+', ['a.b(c)+'], ['axb(c)+']],
])('the pattern %s matches what it says', (pattern, yes, no) => {
  const matches = glob(pattern)
  expect(yes.filter((path) => !matches(path))).toEqual([])
  expect(no.filter(matches)).toEqual([])
})

it('a pattern that leaves the root, or is none, is refused', () => {
  for (const bad of ['', '/etc', '../x', 'a/{b', 'a\0', '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}']) {
    expect(globProblem(bad), bad).not.toBeNull()
  }
  expect(globProblem('a/**/*.md')).toBeNull()
})

it('the difference of two texts has all lines of both, and keeps what a few changed lines leave alone', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = lineDiff(before, after)
      const without = (sign: string) => found.filter(([is]) => is !== sign).map(([, line]) => line)
      expect([without('+'), without('-')]).toEqual([before, after])
    }),
  )
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}`)
  const changed = text.with(10, 'another')
  expect(diffHunks(lineDiff(text, changed), 1)).toEqual([
    null,
    [' ', 'line 9'],
    ['-', 'line 10'],
    ['+', 'another'],
    [' ', 'line 11'],
    null,
  ])
})

it.each([
  [{ band: 2 }, { band: 3 }, 'band 2 comes before band 3'],
  [{ effectiveStaleness: null }, {}, 'it was never generated'],
  [{ effectiveStaleness: 9_353.4 }, {}, '9,353 is more than 50'],
  [{}, {}, 'they are equal, and the path decides'],
  [{ effectiveStaleness: null }, { effectiveStaleness: null }, 'neither was generated, and depth or path decides'],
])('of %j and %j the first comes first for the reason that decided: %s', (one, other, reason) => {
  const ranked = { path: 'a', phase: 'builder', band: 2, effectiveStaleness: 50 }
  expect(whyBefore({ ...ranked, ...one }, { ...ranked, ...other })).toBe(reason)
})

it('without bands the band is no reason', () => {
  const older = { path: 'old', phase: 'architect', band: 3, effectiveStaleness: 9_000 }
  const newer = { path: 'busy', phase: 'builder', band: 2, effectiveStaleness: 1 }
  expect(whyBefore(older, newer, 'staleness')).toBe('9,000 is more than 1')
})
