import type { OpeningHours } from '../opening/opening.ts'
import type { CalendarUse } from '../opening/opening-of-all.ts'
import { type GovernedSchedule, type GovernorState, type NextRun, nextRun } from './governor.ts'
import type { ScheduleSpec } from './schedule-spec.ts'

/** Rules that count from the end of the last occurrence and could not, because that occurrence was live. */
export type Unmeasured = readonly ('max' | 'delay')[]

/** The governor's input: when, and from which memory. With the spec of that moment it reproduces the answer. */
export interface Question {
  readonly at: number
  readonly state?: GovernorState | undefined
  readonly unmeasured?: Unmeasured | undefined
  readonly window?: OpeningHours | undefined
}

/** The governor's answer, at the time of the decision or computed again to explain it. */
export function answerTo(
  spec: ScheduleSpec,
  { at: now, state = {}, unmeasured = [], window }: Question,
  enabled = true,
  calendars: readonly CalendarUse[] | null = null,
): NextRun {
  const whole = { calendars: calendars ?? undefined, window, ...governed(spec, enabled) }
  const schedule = unmeasured.includes('max') ? { ...whole, maxMs: undefined } : whole
  if (!unmeasured.includes('delay')) return nextRun({ now, schedule, state })
  const { oneshot } = state.hints ?? {}
  return nextRun({ now, schedule: { ...schedule, timing: {} }, state: { ...state, hints: { oneshot } } })
}

/** The governor's view of a schedule, without its calendars. */
export function governed(spec: ScheduleSpec, enabled = true): GovernedSchedule {
  const { timing, minMs, maxMs, startAt, endAt, maxRuns, startNow, task } = spec
  return { timing, minMs, maxMs, startAt, endAt, expiresAt: task?.expiresAt, maxRuns, startNow, enabled }
}
