import { expect } from 'vitest'
import { opening } from '../../../src/core/opening/opening.ts'
import { setPlanner } from '../../../src/parts/planner/desk/planner-steps.ts'
import { actOnSchedule } from '../../../src/parts/planner/looks/act-on-schedule.ts'
import { beginLook } from '../../../src/parts/planner/looks/analysis-row.ts'
import { LookSession } from '../../../src/parts/planner/looks/look-session.ts'
import { actor, hour, minute, type Stage, second } from '../../store/schedule-stage.ts'

const window = '* 8-19 * * 1-5'
export const calendar = { zone: 'UTC', cron: window }
const bounds = { minMs: 30 * second, maxMs: 20 * minute }
export const spec = {
  name: 'depth',
  timing: { everyMs: 5 * minute },
  ...bounds,
  window,
  target: { http: { url: 'http://127.0.0.1:3000/queue', headers: { authorization: { secret: 'KEY' } } } },
  autonomy: 'act',
} as const

export async function begin(stage: Stage): Promise<void> {
  const model = { provider: 'scripted', model: 'hostile', script: '/none' } as const
  await stage.store.do(setPlanner, model, { actor, zone: 'UTC' })
  await stage.put(spec)
}

export async function session(stage: Stage): Promise<LookSession> {
  const begun = await stage.store.do(beginLook, { schedule: 'depth', run: null, author: 'hostile', isAsked: true })
  if (begun.answer !== 'begun') throw new Error('no look')
  const { facts, analysisId } = begun
  const seen = { schedule: 'depth', version: facts.version, epoch: facts.epoch, analysisId }
  const author = { kind: 'planner', name: 'hostile' } as const
  return new LookSession(facts, (effect, reason) => stage.store.do(actOnSchedule, { ...seen, author, effect, reason }))
}

/** What must hold after every action of a planner. */
export async function expectBounds(stage: Stage): Promise<void> {
  const { nextRunAt, paused, anchorAt, hints, nextDecision } = await stage.view('depth')
  const now = stage.clock.now
  if (paused !== null) expect(paused.until).toBeLessThanOrEqual(Math.min(now + 24 * hour, anchorAt + bounds.maxMs))
  // While a run is live its end is unknown, but max and intervals count from the end. The end decides again.
  else if (nextRunAt !== null && nextDecision?.unmeasured === undefined) {
    expect(nextRunAt).toBeGreaterThanOrEqual(anchorAt + bounds.minMs)
    expect(nextRunAt).toBeLessThanOrEqual(Math.max(now, anchorAt + bounds.maxMs))
    const isOpen = nextDecision?.winner === 'baseline' || opening({ at: nextRunAt, calendar }).open
    expect({ nextRunAt, isOpen }).toEqual({ nextRunAt, isOpen: true })
  }
  if (hints.interval !== undefined) {
    expect(hints.interval.ms).toBeGreaterThanOrEqual(bounds.minMs)
    expect(hints.interval.ms).toBeLessThanOrEqual(bounds.maxMs)
    expect(hints.interval.expiresAt).toBeLessThanOrEqual(now + 24 * hour)
  }
}
