import { expect, it } from 'vitest'
import { usageProblem, usageSum } from '../../src/core/run/usage.ts'

it('reports of one attempt add up, and what was never reported stays unknown', () => {
  const first = { tokensIn: 10, money: { amount: 5, currency: 'USD' } }
  expect(usageSum(first, { tokensIn: 1, tokensOut: 2 })).toEqual({ ...first, tokensIn: 11, tokensOut: 2 })
  expect(usageSum(first, { money: { amount: 7, currency: 'USD' } })).toEqual({
    tokensIn: 10,
    money: { amount: 12, currency: 'USD' },
  })
})

it.each([
  [{ tokensIn: -1 }, 'tokensIn'],
  [{ tokensOut: 1.5 }, 'tokensOut'],
  [{ money: { amount: 0.5, currency: 'USD' } }, 'money.amount'],
  [{ money: { amount: 1, currency: 'usd' } }, 'money.currency'],
  [{ money: { amount: 1, currency: 'EUR' } }, 'was in USD'],
])('a report %j is refused', (report, named) => {
  expect(usageProblem(report, { money: { amount: 1, currency: 'USD' } })).toContain(named)
})
