import { describe, expect, it } from 'vitest'
import { type GovernorInput, type NextRun, nextRun } from '../../../src/core/schedule/governor.ts'
import { expectMatch, vectors } from '../../vectors.ts'

const evening = Date.UTC(2026, 10, 16, 20)
const window = { zone: 'Europe/Paris', cron: '* 8-19 * * 1-5' }
const hints = { interval: { ms: 600_000, expiresAt: evening + 86_400_000, by: 'planner' } } as const

describe('the window of hints', () => {
  it('moves as every vector says', () => {
    for (const [index, vector] of vectors<GovernorInput, NextRun>('governor-window').entries()) {
      expectMatch(nextRun(vector.in), vector.out, `governor-window[${index}]`)
    }
  })

  it('is told as the rule that moved a hint, or as why the hint lost', () => {
    const state = { anchorAt: evening, hints }
    const moved = nextRun({ now: evening, schedule: { timing: {}, window }, state })
    const opensAt = Date.UTC(2026, 10, 17, 7)
    expect(moved.trail.at(-1)).toMatchObject({ rule: 'window', from: evening + 600_000, at: opensAt, effect: 'moved' })
    const lost = nextRun({ now: evening, schedule: { timing: { everyMs: 300_000 }, window }, state })
    expect(lost.trail).toContainEqual(
      expect.objectContaining({ rule: 'interval-hint', effect: 'lost', why: expect.stringContaining('its window') }),
    )
    expect(lost.askAgainAt).toBe(hints.interval.expiresAt)
  })
})
