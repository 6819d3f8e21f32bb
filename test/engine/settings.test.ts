import { describe, expect, it } from 'vitest'
import { settingsOf, trustMs } from '../../src/engine/settings.ts'

describe('the settings of a worker', () => {
  it('are those of the design where nothing is said', () => {
    expect(settingsOf()).toEqual({
      leaseMs: 30_000,
      renewMs: 10_000,
      beatMs: 60_000,
      pollMs: 30_000,
      localDeathsMs: 5_000,
      reconcileMs: 300_000,
      killAfterMs: 4_500,
      leaveAfterMs: 10_000,
    })
    expect(trustMs({ leaseMs: 30_000 })).toBe(24_000)
  })

  it('renew a third of a lease where only its length is said', () => {
    expect(settingsOf({ leaseMs: 2_000 }).renewMs).toBe(666)
  })

  it('leave a program less time to stop than its lease has left, however short the lease', () => {
    for (const leaseMs of [1_000, 2_000, 30_000, 3_600_000]) {
      const { killAfterMs } = settingsOf({ leaseMs })
      expect(trustMs({ leaseMs }) + killAfterMs).toBeLessThan(leaseMs)
      expect(killAfterMs).toBeLessThanOrEqual(5_000)
    }
  })

  it.each([
    [{ leaseMs: 999 }, /leaseMs is 999; it must be at least 1000/],
    [{ leaseMs: 30_000, renewMs: 12_001 }, /renewMs is 12001; it must be at most 12000/],
    [{ beatMs: 0 }, /beatMs is 0/],
    [{ leaseMs: 1e15 }, /leaseMs is 1000000000000000; it must be a whole number of ms from 1 to 86400000/],
    [{ pollMs: 1.5 }, /pollMs is 1\.5/],
    [{ leaveAfterMs: Number.NaN }, /leaveAfterMs is NaN/],
  ])('refuse %o, which could not hold', (given, says) => {
    expect(() => settingsOf(given)).toThrow(says)
  })
})
