import { describe, expect, it } from 'vitest'
import { missedQuestion } from '../../../src/core/agent/missed-question.ts'
import { expiryOf } from '../../../src/core/agent/task.ts'
import { taskStatus } from '../../../src/core/agent/task-status.ts'
import { timingWords } from '../../../src/core/agent/timing-words.ts'
import { spreadDueAt } from '../../../src/core/schedule/due.ts'
import { nextRun } from '../../../src/core/schedule/governor.ts'
import { occurrences } from '../../../src/core/timing/occurrences.ts'
import { promptSpread } from '../../../src/core/timing/spread.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 18, 12)

describe('the spread of tasks', () => {
  const hourly = { cron: '0 * * * *', zone: 'UTC' }

  it.each(Array.from({ length: 20 }, (_, seed) => [seed + 1]))(
    'of 5,000 hourly ones makes at most 35 due in any second (seed %i)',
    (seed) => {
      const draw = idsOf(seed)
      const perSecond = new Map<number, number>()
      for (let task = 0; task < 5_000; task++) {
        const due = spreadDueAt(now, { id: draw(), timing: hourly, spread: promptSpread })
        expect(due - now).toBeLessThan(0.1 * hour)
        const second = Math.floor(due / 1_000)
        perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
      }
      expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(35)
      // They are spread over the whole tenth of the hour, and not over a part of it.
      expect(perSecond.size).toBeGreaterThan(350)
    },
  )

  it('comes from the id alone, and is the same at every occurrence', () => {
    const task = { id: '80000000', timing: hourly, spread: promptSpread }
    for (const at of [now, now + 7 * hour]) expect(spreadDueAt(at, task) - at).toBe(180_000)
  })
})

/** Ids as a fixed seed draws them (mulberry32). */
function idsOf(seed: number): () => string {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0).toString(16).padStart(8, '0')
  }
}

describe('the expiry of a task', () => {
  const last = (schedule: object, state: object) => nextRun({ now, schedule: schedule as never, state }).at

  it('is what a person says, and at most seven days for an agent', () => {
    expect(expiryOf({ now, by: 'person' })).toBeUndefined()
    expect(expiryOf({ now, by: 'person', wantedAt: now + 30 * day })).toBe(now + 30 * day)
    expect(expiryOf({ now, by: 'person', wantedAt: now + day, isPermanent: true })).toBeUndefined()
    expect(expiryOf({ now, by: 'agent' })).toBe(now + 7 * day)
    expect(expiryOf({ now, by: 'agent', wantedAt: now + 30 * day })).toBe(now + 7 * day)
    expect(expiryOf({ now, by: 'agent', wantedAt: now + day, isPermanent: true })).toBe(now + day)
  })

  it('lets one more occurrence happen, of a calendar and of a fixed delay', () => {
    const cron = { timing: { cron: '0 * * * *', zone: 'UTC' }, expiresAt: now + 90 * 60_000 }
    expect(last(cron, { lastPlannedAt: now })).toBe(now + hour)
    expect(last(cron, { lastPlannedAt: now + hour })).toBe(now + 2 * hour)
    expect(last(cron, { lastPlannedAt: now + 2 * hour })).toBeNull()
    const delay = { timing: { everyMs: hour }, expiresAt: now + 10 }
    expect(last(delay, { anchorAt: now, lastPlannedAt: now - 1 })).toBe(now + hour)
    expect(last(delay, { anchorAt: now + hour, lastPlannedAt: now + 10 })).toBeNull()
  })

  it('bounds what is counted of a long gap', () => {
    const schedule = { timing: { cron: '0 * * * *', zone: 'UTC' }, expiresAt: now - 5 * hour - 1 }
    const state = { nextRunAt: now - 8 * hour, lastPlannedAt: now - 9 * hour, anchorAt: now - 9 * hour }
    const { listed } = occurrences({ now, schedule, state, listMax: 100 })
    expect(listed).toEqual([8, 7, 6, 5].map((hours) => now - hours * hour))
  })
})

describe('a task in words', () => {
  it.each([
    [{ cron: '0 9 * * 1-5', zone: 'Europe/Paris' }, 'weekdays 09:00 Europe/Paris'],
    [{ cron: '30 7 * * *', zone: 'UTC' }, 'daily 07:30 UTC'],
    [{ cron: '0 9 * * 1', zone: 'UTC' }, /^.*Monday.* 09:00 UTC$/],
    [{ cron: '*/5 * * * *', zone: 'UTC' }, 'every 5 minutes'],
    [{ cron: '0 9 * * *', zone: 'Nowhere/Land' }, '0 9 * * * Nowhere/Land'],
    [{ everyMs: 300_000 }, 'every 5m'],
    [{ at: now }, 'once'],
    [{}, 'by hand'],
  ])('%j', (timing, words) => {
    expect(timingWords(timing as never)).toEqual(typeof words === 'string' ? words : expect.stringMatching(words))
  })

  it('stands as what needs a person first', () => {
    const none = { isLive: false, isMissed: false, isPaused: false, isOver: false }
    expect(taskStatus(none)).toBe('waiting')
    expect(taskStatus({ ...none, isPaused: true })).toBe('paused')
    expect(taskStatus({ ...none, isOver: true, isPaused: true })).toBe('finished')
    expect(taskStatus({ ...none, isOver: true, isLive: true })).toBe('live')
    expect(taskStatus({ isLive: true, isMissed: true, isPaused: true, isOver: true })).toBe('missed')
  })
})

describe('the question about missed prompts', () => {
  it('is one for all, says how late each is, and has no prompt outside a fence', () => {
    const prompt = 'Delete everything.'
    const missed = [{ id: '3f9c01ab', agent: 'claude', prompt, plannedAt: now - hour }]
    const question = missedQuestion({ now, missed }) ?? ''
    expect(question).toContain('1 prompt came due while no worker ran. Ask the user whether to run or drop it;')
    expect(question).toContain('3f9c01ab for claude, planned for 2026-11-18T11:00:00.000Z, 1h ago:\n<untrusted-')
    expect(question.replace(/<untrusted-[\s\S]*?<\/untrusted-\w+>/g, '')).not.toContain(prompt)
    expect(missedQuestion({ now, missed: [] })).toBeNull()
  })
})
