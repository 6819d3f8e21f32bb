import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PhaseState } from '../../src/core/corpus/phases.ts'
import {
  type RankedInput,
  type RankedItem,
  type RankInput,
  rankItems,
  selectPhase,
} from '../../src/core/corpus/rank.ts'
import { expectMatch, vectors } from '../vectors.ts'

const now = 1_800_000_000_000
const owes: Record<'architect' | 'builder' | 'critic', PhaseState> = {
  architect: { architect: 'pending', builder: 'stale', critic: 'stale' },
  builder: { architect: 'fresh', builder: 'pending', critic: 'stale' },
  critic: { architect: 'fresh', builder: 'fresh', critic: 'pending' },
}
const done: PhaseState = { architect: 'fresh', builder: 'fresh', critic: 'fresh' }
const item = (path: string, changed: Partial<RankedInput> = {}): RankedInput => ({
  path,
  depth: 0,
  generatedAt: now - 1_000,
  phaseState: owes.builder,
  ...changed,
})
const paths = (items: RankedInput[], depthWeight = 1) => rankItems({ now, items, depthWeight }).map(({ path }) => path)

describe('rankItems', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<RankInput, RankedItem[]>('rank').entries()) {
      expectMatch(rankItems(vector.in), vector.out, `rank[${index}]`)
    }
  })

  it('finishes before it begins: later phases first, however stale the others are', () => {
    const items = [
      item('a', { phaseState: owes.architect, generatedAt: 0 }),
      item('b', { phaseState: owes.builder, generatedAt: 0 }),
      item('c', { phaseState: owes.critic }),
    ]
    expect(paths(items)).toEqual(['c', 'b', 'a'])
  })

  it('puts what was never generated first in its band, the deepest first, then by path', () => {
    const never = { generatedAt: null }
    const items = [
      item('old', { generatedAt: 0 }),
      item('b', never),
      item('a', never),
      item('deep', { ...never, depth: 3 }),
    ]
    expect(paths(items)).toEqual(['deep', 'a', 'b', 'old'])
  })

  it('measures depth from the shallowest item given, ranked or not', () => {
    const items = [item('x', { depth: 2 }), item('root', { depth: 1, phaseState: done })]
    expect(rankItems({ now, items, depthWeight: 1 })).toMatchObject([{ path: 'x', effectiveStaleness: 2 }])
  })

  it('gives the same ranking whatever order the items come in, and changes none of them', () => {
    const items = fc.uniqueArray(
      fc.record({
        path: fc.string({ minLength: 1, maxLength: 3 }),
        depth: fc.integer({ min: -2, max: 4 }),
        generatedAt: fc.option(fc.integer({ min: now - 5_000, max: now })),
        phaseState: fc.constantFrom(...Object.values(owes), done),
      }),
      { selector: ({ path }) => path },
    )
    fc.assert(
      fc.property(items, (given) => {
        const ranking = rankItems({ now, items: Object.freeze(given), depthWeight: 0.5 })
        expect(rankItems({ now, items: given.toReversed(), depthWeight: 0.5 })).toEqual(ranking)
      }),
    )
  })
})

describe('selectPhase', () => {
  it('law 13: selects what the ranking puts first, and says of every other item why not', () => {
    const items = [
      item('best', { generatedAt: null }),
      item('second'),
      item('done', { phaseState: done }),
      item('off', { disabled: true }),
      item('busy', { locked: true }),
      item('broken', { phaseState: { ...owes.builder, builder: 'failed' } }),
      item('running', { phaseState: { ...owes.builder, builder: 'running' } }),
    ]
    const { selected, passedOver } = selectPhase({ now, items, depthWeight: 1 })
    expect(selected).toEqual(rankItems({ now, items, depthWeight: 1 })[0])
    expect(passedOver).toEqual([
      { path: 'second', reason: 'outranked' },
      { path: 'done', reason: 'fresh' },
      { path: 'off', reason: 'disabled' },
      { path: 'busy', reason: 'locked' },
      { path: 'broken', reason: 'failed' },
      { path: 'running', reason: 'running' },
    ])
  })

  it('selects nothing where nothing is owed', () => {
    expect(selectPhase({ now, items: [], depthWeight: 1 })).toEqual({ selected: null, passedOver: [] })
    expect(selectPhase({ now, items: [item('a', { phaseState: done })], depthWeight: 1 }).selected).toBeNull()
  })
})
