import { describe, expect, it } from 'vitest'
import { expectationProblems } from '../../src/core/run/expect.ts'
import { anomaliesIn, usageBreach } from '../../src/core/run/expect-usage.ts'

describe('a success that used more than it may', () => {
  const measured = { tokensIn: 900, tokensOut: 101, tokensCached: 9_000, durationMs: 61_000 }

  it.each([
    [{ tokensMax: 1_000 }, /used 1001 tokens, and may use 1000/],
    [{ durationMax: '1m' }, /took 1m1s, and may take 1m/],
    [{ tokensMax: 1_001, durationMax: '61s' }, null],
  ])('is none under %j', (rule, says) => {
    const breach = usageBreach(rule, measured)
    if (says === null) expect(breach).toBeNull()
    else expect(breach).toMatch(says)
  })

  it('is unknown where no tokens were reported', () => {
    expect(usageBreach({ tokensMax: 1 }, { durationMs: 5 })).toBeNull()
  })
})

describe('a success that used far more than usual', () => {
  const usual = (count: number) => Array.from({ length: count }, (_, at) => ({ tokensIn: 90 + at, durationMs: 1_000 }))

  it('is told with the median of the earlier ones', () => {
    const found = anomaliesIn({ tokensIn: 500, durationMs: 3_000 }, usual(20), 4)
    expect(found).toEqual(['tokens: 500, and usually 100'])
    expect(anomaliesIn({ tokensIn: 399, durationMs: 9_000 }, usual(20), 4)).toEqual(['time: 9s, and usually 1s'])
  })

  it('is not known before there are five of them', () => {
    expect(anomaliesIn({ tokensIn: 9_999, durationMs: 1 }, usual(4), 4)).toEqual([])
    expect(anomaliesIn({ tokensIn: 9_999, durationMs: 1 }, usual(5), 4)).toHaveLength(1)
  })
})

it.each([
  [{ usage: {} }, 'expect.usage'],
  [{ usage: 5 }, 'expect.usage'],
  [{ usage: { tokens: 5 } }, 'expect.usage.tokens'],
  [{ usage: { tokensMax: 0 } }, 'expect.usage.tokensMax'],
  [{ usage: { durationMax: 60 } }, 'expect.usage.durationMax'],
  [{ usage: { durationMax: 'soon' } }, 'expect.usage.durationMax'],
  [{ anomaly: 1 }, 'expect.anomaly'],
  [{ anomaly: '4' }, 'expect.anomaly'],
])('%j is refused at %s', (rules, field) => {
  expect(expectationProblems(rules).map((problem) => problem.field)).toEqual([field])
})
