import { describe, expect, it } from 'vitest'
import {
  type BudgetTerms,
  expected,
  free,
  left,
  nothing,
  reserve,
  settle,
  shortOf,
  spentOn,
  stateAt,
  waitsForReset,
  wanted,
} from '../../../src/core/budget/budget.ts'

const day = Date.UTC(2026, 10, 18)
const terms: BudgetTerms = { per: 'day', zone: 'UTC', limits: { runs: 3, tokens: 100 } }
const fresh = stateAt(terms, null, day)

describe('a budget', () => {
  it('reserves what it says, else what the last runs used, else the run alone, which is blind then', () => {
    expect(wanted({ ...terms, perRun: { tokens: 40 } }, fresh, { tokens: 60 })).toMatchObject({ runs: 1, tokens: 40 })
    expect(wanted(terms, fresh, { tokens: 60 })).toMatchObject({ runs: 1, tokens: 60 })
    expect(wanted(terms, fresh, {})).toEqual({ ...nothing, runs: 1, blind: 1 })
  })

  it('lets a run start that was dearer once than the whole budget', () => {
    const amounts = wanted(terms, fresh, { tokens: 5_000 })
    expect(amounts.tokens).toBe(100)
    expect(shortOf(terms, fresh, amounts)).toEqual([])
  })

  it('counts what is reserved as gone', () => {
    const amounts = { ...nothing, runs: 1, tokens: 60 }
    const state = reserve(fresh, amounts)
    expect(left(terms, state)).toEqual({ runs: 2, tokens: 40 })
    expect(shortOf(terms, state, amounts)).toEqual(['tokens'])
    expect(waitsForReset(terms, state, amounts)).toBe(false)
    expect(left(terms, free(state, amounts))).toEqual({ runs: 3, tokens: 100 })
  })

  it('is spent where not even the smallest reservation is left, whatever a run would use', () => {
    const state = { ...fresh, used: { ...nothing, tokens: 100 } }
    expect(spentOn(terms, state)).toBe('tokens')
    expect(shortOf(terms, state, { ...nothing, runs: 1 })).toEqual(['tokens'])
    expect(spentOn(terms, { ...fresh, used: { ...nothing, tokens: 99 } })).toBeNull()
    expect(spentOn({ ...terms, perRun: { tokens: 40 } }, { ...fresh, used: { ...nothing, tokens: 61 } })).toBe('tokens')
  })

  it('counts what is unknown as what was reserved, and says how often', () => {
    const paid: BudgetTerms = { ...terms, limits: { money: 1_000 } }
    const reserved = { ...nothing, runs: 1, money: 300 }
    const spent = { runs: 1, tokens: null, money: null, runtimeMs: 5 }
    const state = settle(paid, reserve(fresh, reserved), { reserved, spent })
    expect(state).toMatchObject({ used: { money: 300, runs: 1 }, reserved: nothing, unknown: { money: 1, tokens: 0 } })
  })

  it('begins anew with its period, and not when a clock is set back', () => {
    const state = reserve(fresh, { ...nothing, runs: 1 })
    expect(stateAt(terms, state, day + 86_399_999)).toBe(state)
    expect(stateAt(terms, state, day - 1)).toBe(state)
    expect(stateAt(terms, state, day + 86_400_000)).toMatchObject({ from: day + 86_400_000, reserved: nothing })
  })

  it('knows what 95 of 100 do not exceed', () => {
    expect(expected([])).toBeUndefined()
    expect(expected([null, null])).toBe(0)
    expect(expected([7, null])).toBe(7)
    expect(expected(Array.from({ length: 20 }, (_, index) => 20 - index))).toBe(19)
  })
})
