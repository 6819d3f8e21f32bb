import { describe, expect, it } from 'vitest'
import { ClockWatch } from '../../src/engine/clock-watch.ts'

const leaseMs = 30_000
const at = (now: number, monotonic: number, tookMs = 0) => ({ now, before: monotonic, after: monotonic + tookMs })
const steady = { jumpedMs: 0, behindMs: 0 }

function watchFrom(now = 1_000_000): ClockWatch {
  const watch = new ClockWatch({ leaseMs })
  expect(watch.look(at(now, 0))).toEqual(steady)
  return watch
}

describe('the watch over the clocks', () => {
  it('sees nothing in clocks that go together, and in a second of drift', () => {
    const watch = watchFrom()
    expect(watch.look(at(1_010_000, 10_000))).toEqual(steady)
    expect(watch.look(at(1_021_000, 20_000))).toEqual(steady)
    expect(watch.mayReclaim(20_000)).toBe(true)
  })

  it('takes a slow answer for what it is, and not for a jump', () => {
    const watch = watchFrom()
    // The store read its clock at once, and its answer came after 20 s.
    expect(watch.look({ now: 1_010_000, before: 10_000, after: 30_000 })).toEqual(steady)
    expect(watch.look({ now: 1_031_000, before: 31_000, after: 31_000 })).toEqual(steady)
  })

  it('takes two readings that overlapped, and overtook each other, for what they are', () => {
    const watch = watchFrom()
    expect(watch.look({ now: 1_010_005, before: 10_000, after: 10_010 })).toEqual(steady)
    expect(watch.look({ now: 1_010_002, before: 10_000, after: 10_012 })).toEqual(steady)
    expect(watch.look({ now: 1_010_002, before: 10_011, after: 10_012 }).behindMs).toBe(3)
  })

  it('sees the machine wake from sleep as a jump forward, and reclaims nothing for one lease', () => {
    const watch = watchFrom()
    expect(watch.look(at(1_000_000 + 3_600_000, 10))).toEqual({ jumpedMs: 3_599_990, behindMs: 0 })
    expect(watch.mayReclaim(10 + leaseMs - 1)).toBe(false)
    expect(watch.mayReclaim(10 + leaseMs)).toBe(true)
  })

  it('holds back while the clock shows instants that have been, and goes on when they have passed again', () => {
    const watch = watchFrom()
    expect(watch.look(at(990_000, 0))).toEqual({ jumpedMs: -10_000, behindMs: 10_000 })
    expect(watch.look(at(995_000, 5_000))).toEqual({ jumpedMs: 0, behindMs: 5_000 })
    expect(watch.look(at(1_000_000, 10_000))).toEqual(steady)
  })

  it('holds back for a minute at the most', () => {
    const watch = watchFrom()
    watch.look(at(1_000_000 - 3_600_000, 0))
    expect(watch.look(at(1_000_000 - 3_600_000 + 59_999, 59_999)).behindMs).toBe(3_540_001)
    expect(watch.look(at(1_000_000 - 3_600_000 + 60_000, 60_000))).toEqual(steady)
    expect(watch.look(at(1_000_000 - 3_600_000 + 60_001, 60_001))).toEqual(steady)
  })

  it('holds back anew when the clock goes back again', () => {
    const watch = watchFrom()
    watch.look(at(990_000, 0))
    expect(watch.look(at(1_000_000, 10_000))).toEqual(steady)
    expect(watch.look(at(999_000, 10_500)).behindMs).toBe(1_000)
  })

  it('holds back anew long after the clock went back for the first time', () => {
    const watch = watchFrom()
    watch.look(at(990_000, 0))
    expect(watch.look(at(1_000_000, 10_000))).toEqual(steady)
    expect(watch.look(at(1_090_000, 100_000))).toEqual(steady)
    expect(watch.look(at(1_085_000, 100_000)).behindMs).toBe(5_000)
  })

  it.each([1_001, -1_001])('takes what is more than a second apart for a jump: %i ms', (byMs) => {
    const watch = watchFrom()
    expect(watch.look(at(1_010_000 + byMs, 10_000)).jumpedMs).toBe(byMs)
    expect(watch.look(at(1_020_000 + byMs, 20_000)).jumpedMs).toBe(0)
  })
})
