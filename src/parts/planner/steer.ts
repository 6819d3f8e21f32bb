import type { RuleEffect } from '../../core/rules.ts'
import { pauseSchedule } from '../../store/schedules/pause-schedule.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { clearHints, setHint } from '../../store/schedules/set-hint.ts'
import type { Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

/** Who steers: a rule that a person wrote, or a planner. */
export interface Steerer {
  readonly kind: 'rule' | 'planner'
  readonly name: string
}

export interface Steering {
  readonly now: number
  readonly row: ScheduleRow
  readonly by: Steerer
  readonly effect: RuleEffect
  readonly reason: string
}

/** Writes the hint or pause of a rule or planner, in the transaction of the caller. */
export function* steer(context: StoreContext, { now, row, by, effect, reason }: Steering): Step<void> {
  const own = { ...context, ns: row.ns }
  const author = `${by.kind} ${by.name}`
  switch (effect.kind) {
    case 'interval':
      if (row.spec.timing.at !== undefined || isStanding(row, effect, now)) return
      yield* setHint(own, row.name, { kind: 'interval', ms: effect.ms, expiresAt: now + effect.ttlMs, reason, author })
      return
    case 'oneshot': {
      const expiresAt = effect.at + effect.ttlMs
      yield* setHint(own, row.name, { kind: 'oneshot', at: effect.at, expiresAt, reason, author })
      return
    }
    case 'pause':
      yield* pauseSchedule(own, row.name, { until: effect.until, reason: `${author}: ${reason}` })
      return
    case 'clear':
      yield* clearHints(own, row.name, ['interval', 'oneshot'])
  }
}

/** A rule fits at every run while a trouble lasts. Its hint is renewed when half of its time has passed, not with each of these runs. */
function isStanding({ hints: { interval } }: ScheduleRow, effect: { ms: number; ttlMs: number }, now: number): boolean {
  return interval !== undefined && interval.ms === effect.ms && interval.expiresAt - now > effect.ttlMs / 2
}
