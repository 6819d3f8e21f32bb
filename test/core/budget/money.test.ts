import { describe, expect, it } from 'vitest'
import { formatMoney, millionthsOf, parseMoney } from '../../../src/core/budget/money.ts'

describe('money', () => {
  it.each([
    ['40USD', 40_000_000, 'USD'],
    ['0.25 EUR', 250_000, 'EUR'],
    ['0.000001USD', 1, 'USD'],
    ['1.5000000USD', 1_500_000, 'USD'],
  ])('%s', (text, amount, currency) => {
    expect(parseMoney(text)).toEqual({ amount, currency })
  })

  it.each([
    ['40', 'names no currency'],
    ['-1USD', 'is negative'],
    ['-1', 'is negative'],
    ['0.0000001USD', 'is finer than a millionth'],
    ['40usd', 'has the currency "usd"'],
    ['40 dollars', 'has the currency "dollars"'],
    ['', 'is ""'],
    ['USD', 'is "USD"'],
    ['1e3USD', 'has the currency "e3USD"'],
    ['9007199254740993USD', 'is too large'],
  ])('refuses %s', (text, problem) => {
    expect(parseMoney(text)).toMatchObject({ problem })
  })

  it('is shown in units', () => {
    expect([40_000_000, 250_000, 1, 1_500_000].map((amount) => formatMoney({ amount, currency: 'USD' }))).toEqual([
      '40 USD',
      '0.25 USD',
      '0.000001 USD',
      '1.50 USD',
    ])
  })

  it('of a provider counts a rest as a whole millionth, and what is no amount as none', () => {
    expect([0.1, 0.0000001, '0.02', 0, 3.3, -1, 'x', null, Number.NaN].map(millionthsOf)).toEqual([
      100_000,
      1,
      20_000,
      0,
      3_300_000,
      null,
      null,
      null,
      null,
    ])
  })
})
