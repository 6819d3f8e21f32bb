import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catchUpShareMs, dueAt, promptSpread, type SpreadInput, spread } from '../../src/core/timing/spread.ts'
import { expectMatch, vectors } from '../vectors.ts'

const nineOClock = Date.UTC(2026, 6, 31, 9)
const halfEarly = { id: '80000000', kind: 'one-shot', plannedAt: nineOClock } as const

describe('spread', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<SpreadInput, number>('spread').entries()) {
      expectMatch(spread(vector.in), vector.out, `spread[${index}]`)
    }
  })

  it('law 7: moves a recurring occurrence only later, and never as far as the next one', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 10 ** 10 }), (id, intervalMs) => {
        const offsetMs = spread({ id, kind: 'recurring', plannedAt: nineOClock, intervalMs, config: promptSpread })
        expect(offsetMs).toBeGreaterThanOrEqual(0)
        expect(offsetMs).toBeLessThan(Math.min(intervalMs, 900_000))
      }),
    )
  })

  it('law 7: moves a one-shot only earlier, only from :00 and :30, and at most 90 s', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 2 * 10 ** 12 }), (id, plannedAt) => {
        const offsetMs = spread({ id, kind: 'one-shot', plannedAt, config: promptSpread })
        expect(offsetMs).toBeLessThanOrEqual(0)
        expect(offsetMs).toBeGreaterThan(-90_000)
        if (plannedAt % 1_800_000 !== 0) expect(offsetMs).toBe(0)
      }),
    )
    expect(spread({ ...halfEarly, config: promptSpread })).toBe(-45_000)
    expect(spread({ ...halfEarly, plannedAt: nineOClock + 1, config: promptSpread })).toBe(0)
  })

  it('never answers minus zero, which would not survive a round trip through JSON', () => {
    expect(Object.is(spread({ ...halfEarly, id: '00000000', config: promptSpread }), 0)).toBe(true)
  })
})

describe('dueAt', () => {
  it('is the nominal instant where nothing is spread', () => {
    expect(dueAt(halfEarly)).toBe(nineOClock)
  })

  it('law 7: an early one-shot is never due before its creation; then it is due at its nominal instant', () => {
    const due = (createdAt: number) => dueAt({ ...halfEarly, config: promptSpread, createdAt })
    expect(due(nineOClock - 45_000)).toBe(nineOClock - 45_000)
    expect(due(nineOClock - 44_999)).toBe(nineOClock)
  })
})

describe('catchUpShareMs', () => {
  it('gives each missed occurrence a share of its own below 30 s, always the same', () => {
    const shares = Array.from({ length: 50 }, (_, n) => catchUpShareMs({ id: '80000000', plannedAt: n * 60_000 }))
    expect(new Set(shares).size).toBeGreaterThan(45)
    for (const shareMs of shares) expect(shareMs >= 0 && shareMs < 30_000).toBe(true)
    expect(catchUpShareMs({ id: '80000000', plannedAt: 60_000 })).toBe(shares[1])
  })
})
