import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backedOffEveryMs } from '../../src/core/timing/schedule-backoff.ts'
import { type Grid, gridOf, type Timing } from '../../src/core/timing/timing.ts'

const anchorAt = Date.UTC(2026, 2, 1)

function grid(timing: Timing, startAt?: number): Grid {
  const found = gridOf({ timing, startAt, gridAnchorAt: anchorAt })
  if (found === null) throw new Error('This timing should have a grid.')
  return found
}

describe('gridOf', () => {
  it('finds no grid in a fixed delay, a single instant or no timing', () => {
    for (const timing of [{ everyMs: 5 }, { everyMs: 5, from: 'end' }, { at: anchorAt }, {}] as const) {
      expect(gridOf({ timing, gridAnchorAt: anchorAt })).toBeNull()
    }
  })

  it('includes the instant it is asked about, in both directions, for a cron and a fixed rate alike', () => {
    for (const timing of [
      { cron: '0 * * * *', zone: 'UTC' },
      { everyMs: 3_600_000, from: 'start' },
    ] as const) {
      const at = anchorAt + 7 * 3_600_000
      expect(grid(timing).atOrAfter(at)).toBe(at)
      expect(grid(timing).atOrBefore(at)).toBe(at)
      expect(grid(timing).atOrAfter(at + 1)).toBe(at + 3_600_000)
      expect(grid(timing).atOrBefore(at - 1)).toBe(at - 3_600_000)
    }
  })

  it('begins one interval after its anchor, or at the anchor where that is startAt, and has nothing before', () => {
    const timing = { everyMs: 1_000, from: 'start' } as const
    expect(grid(timing).atOrAfter(0)).toBe(anchorAt + 1_000)
    expect(grid(timing, anchorAt).atOrAfter(0)).toBe(anchorAt)
    expect(grid(timing).atOrBefore(anchorAt + 999)).toBeNull()
    expect(grid(timing, anchorAt).atOrBefore(anchorAt)).toBe(anchorAt)
  })

  it('names neighbours: nothing lies between the point before an instant and the point after it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 10 ** 11 }), (everyMs, offsetMs) => {
        const rate = grid({ everyMs, from: 'start' }, anchorAt)
        const at = anchorAt + offsetMs
        expect(Number(rate.atOrAfter(at + 1)) - Number(rate.atOrBefore(at))).toBe(everyMs)
      }),
    )
  })
})

describe('backedOffEveryMs', () => {
  it('doubles for each failure and stops at the fifth', () => {
    expect([0, 1, 4, 5, 50].map((failureCount) => backedOffEveryMs({ everyMs: 10, failureCount }))).toEqual([
      10, 20, 160, 320, 320,
    ])
    expect(backedOffEveryMs({ everyMs: 10 })).toBe(10)
  })
})
