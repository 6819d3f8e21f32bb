import { describe, expect, it } from 'vitest'
import {
  type AccountSpec,
  type AccountStanding,
  afterBlock,
  afterLimit,
  afterSuccess,
  allowedBy,
  headroomUntil,
  newStanding,
  withUtilisation,
} from '../../src/core/account.ts'
import type { RateLimited } from '../../src/core/run/expect.ts'

const now = Date.UTC(2026, 10, 18, 12)
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const spec: AccountSpec = { blockMaxMs: 6 * hour }

function met(limit: RateLimited, given: Partial<Parameters<typeof afterLimit>[0]> = {}) {
  const standing = given.standing ?? newStanding
  const met = { now, spec, standing, limit, begunAfter: standing.blocks, blockedUntil: null, ...given }
  return afterLimit(met)
}

describe('a limit blocks an account', () => {
  it('until the reset that it named, at most as long as the account may be blocked', () => {
    expect(met({ resetAt: now + 2 * hour, window: 'five_hour' })).toMatchObject({
      until: now + 2 * hour,
      note: 'five_hour limit',
      standing: { blocks: 1, width: 1, limits: 0 },
    })
    expect(met({ resetAt: now + 5 * day })?.until).toBe(now + 6 * hour)
  })

  it('for a minute without one, and twice as long at each further one in a row, up to half an hour', () => {
    let standing = newStanding
    const waits = Array.from({ length: 8 }, () => {
      const block = met({}, { standing })
      standing = block?.standing ?? standing
      return ((block?.until ?? 0) - now) / minute
    })
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
    standing = afterSuccess(spec, standing, standing.blocks)
    expect(met({}, { standing })?.until).toBe(now + minute)
  })

  it.each([
    ['in the past', { resetAt: now - 1 }, 'its reset has passed'],
    ['now', { resetAt: now }, 'its reset has passed'],
    ['over 8 days ahead', { resetAt: now + 8 * day + 1 }, 'its reset is more than 8d ahead'],
    ['in 2099', { resetAt: Date.UTC(2099, 0) }, 'its reset is more than 8d ahead'],
    ['infinite', { resetAt: Number.POSITIVE_INFINITY }, 'its reset is not an instant'],
    ['a time without a zone', { resetText: '2026-11-18T14:00' }, 'its reset "2026-11-18T14:00" is not an instant'],
  ])('as without a reset where that is %s, and notes it', (_, limit, why) => {
    expect(met(limit)).toMatchObject({ until: now + minute, note: `rate limit (${why})`, standing: { limits: 1 } })
  })

  it('once, however many attempts were at work when it was met; only a later reset adds to it', () => {
    const first = met({ resetAt: now + hour })
    const after = { standing: first?.standing ?? newStanding, begunAfter: 0, blockedUntil: now + hour }
    expect(met({}, after)).toBeNull()
    expect(met({ resetAt: now + minute }, after)).toBeNull()
    expect(met({ resetAt: now + 2 * hour }, after)).toMatchObject({ until: now + 2 * hour, standing: { blocks: 1 } })
  })

  it('again where an attempt from before the block meets it after the block has ended', () => {
    const { standing = newStanding } = met({ resetAt: now + hour }) ?? {}
    expect(met({}, { standing, begunAfter: 0 })).toMatchObject({ standing: { blocks: 2, width: 1 } })
  })
})

describe('after a block', () => {
  /** How many may use the account at once after each success. */
  function widths(bounds: AccountSpec, successes: number): number[] {
    let standing = afterBlock(newStanding)
    return Array.from({ length: successes }, () => {
      standing = afterSuccess(bounds, standing, standing.blocks)
      return allowedBy(bounds, standing)
    })
  }

  it('one run probes, and as many successes as may use it let twice as many use it', () => {
    expect(allowedBy(spec, afterBlock(newStanding))).toBe(1)
    expect(widths(spec, 7)).toEqual([2, 2, 4, 4, 4, 4, 8])
  })

  it('its ceiling holds again once so many may use it, and no more than its ceiling ever', () => {
    expect(widths({ ...spec, maxConcurrent: 3 }, 3)).toEqual([2, 2, 3])
    expect(allowedBy({ ...spec, maxConcurrent: 1 }, afterBlock(newStanding))).toBe(1)
    expect(widths(spec, 255).at(-1)).toBe(Number.POSITIVE_INFINITY)
  })

  it('the success of an attempt that began before it proves nothing', () => {
    const standing = afterBlock(newStanding)
    expect(afterSuccess(spec, standing, 0)).toBe(standing)
  })
})

describe('headroom', () => {
  const bounds: AccountSpec = { ...spec, headroom: { at: 0.8, priority: 50 } }
  const used = (share: number, resetAt = now + hour): AccountStanding =>
    withUtilisation(newStanding, [{ window: 'five_hour', share, resetAt }], now)

  it('is kept for runs of its priority number or a lower one, until the limit opens anew', () => {
    expect(headroomUntil(bounds, used(0.83), { now, priority: 50 })).toBeNull()
    expect(headroomUntil(bounds, used(0.83), { now, priority: 51 })).toBe(now + hour)
    expect(headroomUntil(bounds, used(0.79), { now, priority: 51 })).toBeNull()
    expect(headroomUntil(spec, used(0.83), { now, priority: 51 })).toBeNull()
  })

  it('is free again when its window has been reset, or a newer report says less', () => {
    expect(headroomUntil(bounds, used(0.83), { now: now + hour, priority: 100 })).toBeNull()
    const less = withUtilisation(used(0.83), [{ window: 'five_hour', share: 0.2, resetAt: now + hour }], now)
    expect(less.windows).toHaveLength(1)
    expect(headroomUntil(bounds, less, { now, priority: 100 })).toBeNull()
    expect(withUtilisation(used(0.83), [], now + hour).windows).toEqual([])
  })
})
