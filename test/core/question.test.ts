import { describe, expect, it } from 'vitest'
import { nextRun } from '../../src/core/schedule/governor.ts'
import { answerTo, governed } from '../../src/core/schedule/governor-question.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'

const at = Date.UTC(2026, 0, 5, 9)
const minute = 60_000
const spec: ScheduleSpec = { name: 'report', timing: { everyMs: 60 * minute }, maxMs: 10 * minute }
const oneshot = { at: at + 30 * minute, expiresAt: at + 60 * minute }
const state = { anchorAt: at, hints: { interval: { ms: 20 * minute, expiresAt: at + 60 * minute }, oneshot } }

describe('a question to the governor', () => {
  it('is answered as the governor answers it, from the memory and the instant it names', () => {
    const answer = answerTo(spec, { at, state })
    expect(answer).toEqual(nextRun({ now: at, schedule: governed(spec), state }))
    expect(answer).toMatchObject({ at: at + 10 * minute, source: 'clamped-max' })
  })

  it('leaves max aside while there is no end to measure it from', () => {
    expect(answerTo(spec, { at, state, unmeasured: ['max'] })).toMatchObject({
      at: at + 20 * minute,
      source: 'ai-interval',
    })
  })

  it('asks only the one-shot hint while a fixed delay cannot be measured', () => {
    const question = { at, state, unmeasured: ['max', 'delay'] } as const
    expect(answerTo(spec, question)).toMatchObject({ at: oneshot.at, source: 'ai-oneshot' })
    expect(answerTo(spec, { ...question, state: { anchorAt: at } }).at).toBeNull()
  })

  it('of a disabled schedule is answered with nothing, whatever else it says', () => {
    expect(answerTo(spec, { at, state }, false)).toMatchObject({ at: null, source: 'disabled' })
  })
})
