import { describe, expect, it } from 'vitest'
import { childExpiry, childRefusal } from '../../../src/core/agent/child-quota.ts'
import { afterTurn, wakeUp } from '../../../src/core/agent/wake-up.ts'

const now = Date.UTC(2026, 0, 5, 9)
const minute = 60_000
const day = 24 * 60 * minute
const asked = { now, depth: 0, live: 0, timing: { everyMs: 5 * minute }, expiresAt: now + 7 * day }
const reasonOf = (more: object) => childRefusal({ ...asked, ...more })?.reason ?? null

describe('what an agent may plan in its run', () => {
  it.each([
    ['the fifth task', { live: 4 }, null],
    ['a sixth task', { live: 5 }, 'children-full'],
    ['a task of a task', { depth: 1 }, 'child-depth'],
    ['every 5 minutes', {}, null],
    ['more often', { timing: { everyMs: 5 * minute - 1 } }, 'child-every'],
    ['a cron of 5 minutes', { timing: { cron: '*/5 * * * *', zone: 'UTC' } }, null],
    ['a cron of a minute', { timing: { cron: '* * * * *', zone: 'UTC' } }, 'child-every'],
    ['a cron that hurries once a day', { timing: { cron: '0,1 3 * * *', zone: 'UTC' } }, 'child-every'],
    [
      'a cron that hurries only after it has expired',
      { timing: { cron: '0,1 3 20 * *', zone: 'UTC' } },
      'child-expiry',
    ],
    ['once', { timing: { at: now + day } }, null],
    ['once, after it has expired', { timing: { at: now + 8 * day } }, 'child-expiry'],
    ['a loop that paces itself', { timing: {} }, null],
  ])('%s', (_, more, reason) => expect(reasonOf(more)).toBe(reason))

  it('ends with its parent', () => {
    expect(childExpiry({ own: 9, parent: 5 })).toBe(5)
    expect(childExpiry({ own: 5, parent: 9 })).toBe(5)
    expect(childExpiry({ own: 5 })).toBe(5)
  })
})

it('a wake-up is a minute to an hour from now, and says when it is not as asked', () => {
  const woken = (delaySeconds: number) => wakeUp({ now: 0, delaySeconds })
  expect([5, 60, 600.5, 3_600, 9e9, -1].map(woken)).toEqual([
    { at: 60_000, clamped: true },
    { at: 60_000, clamped: false },
    { at: 600_500, clamped: false },
    { at: 3_600_000, clamped: false },
    { at: 3_600_000, clamped: true },
    { at: 60_000, clamped: true },
  ])
})

it('a turn that says nothing is asked once more, and then its loop ends', () => {
  expect(afterTurn({ hasNext: true, wasForgotten: true })).toBe('goes-on')
  expect(afterTurn({ hasNext: false, wasForgotten: false })).toBe('ask-again')
  expect(afterTurn({ hasNext: false, wasForgotten: true })).toBe('end')
})
