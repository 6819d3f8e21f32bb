import { describe, expect, it } from 'vitest'
import { hintOutcome, type LedgerRun } from '../../src/core/timing/hint-outcome.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const createdAt = Date.UTC(2026, 10, 16, 12)
const hint = { createdAt, endedAt: createdAt + 2 * hour }

/** A run of every half hour of the hint's hours on each of the days before, whose second fails, and one beside them. */
function daysBefore(days: number): LedgerRun[] {
  return Array.from({ length: days }, (_, index) => createdAt - (index + 1) * day).flatMap((from) => [
    ...[0, 30, 60, 90].map((at) => ({ at: from + at * minute, hasFailed: at === 30, isBaseline: true })),
    { at: from + 60 * minute + 1, hasFailed: true, isBaseline: false },
    { at: from + 2 * hour, hasFailed: true, isBaseline: true },
  ])
}

const own = [5, 10, 115, 120].map((at) => ({ at: createdAt + at * minute, hasFailed: at === 10, isBaseline: false }))

describe('what came of a hint', () => {
  it('is its runs beside those of the baseline in the same hours of the days before', () => {
    const runs = [...own, ...daysBefore(7)]
    expect(hintOutcome({ hint, runs, sinceAt: createdAt - 30 * day })).toEqual({
      starts: 3,
      failures: 1,
      firstFailureMs: 10 * minute,
      baseline: { runs: 28, starts: 4, failures: 1, firstFailureMs: 30 * minute },
      isAtLeast: false,
    })
  })

  it('compares with fewer than five runs not at all, and with days that are not kept neither', () => {
    expect(hintOutcome({ hint, runs: [...own, ...daysBefore(1)], sinceAt: createdAt - 30 * day }).baseline).toBe(null)
    const two = hintOutcome({ hint, runs: [...own, ...daysBefore(7)], sinceAt: createdAt - 2 * day })
    expect(two.baseline).toMatchObject({ runs: 8, starts: 4 })
  })

  it('of a hint of several days is compared with as much of the baseline', () => {
    const long = { createdAt, endedAt: createdAt + 3 * day }
    const runs = Array.from({ length: 168 }, (_, index) => createdAt - (index + 1) * hour)
    const hourly = runs.map((at) => ({ at, hasFailed: false, isBaseline: true }))
    const { baseline } = hintOutcome({ hint: long, runs: hourly, sinceAt: createdAt - 30 * day })
    expect(baseline).toMatchObject({ starts: 72, failures: 0, firstFailureMs: null })
  })

  it('says that it is a lower bound where the ledger does not reach back', () => {
    expect(hintOutcome({ hint, runs: own, sinceAt: createdAt + hour }).isAtLeast).toBe(true)
  })
})
