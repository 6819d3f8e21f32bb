import { formatDuration } from '../../core/duration.ts'
import type { Author } from '../../core/schedule/hint-author.ts'
import type { Clamped, Refusal } from '../../core/schedule/hint-bounds.ts'
import { hintKinds } from '../../core/schedule/hints.ts'
import { isStanding, type SteeringEffect } from '../../core/steering/steered.ts'
import { isoText } from '../../operations/input/instant.ts'
import { endPausesOf, writePause } from '../../store/schedules/pause-schedule.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { clearHintsOf, writeHint } from '../../store/schedules/steer-schedule.ts'
import type { Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

/** An effect in words. */
export function effectInWords(effect: SteeringEffect): string {
  switch (effect.kind) {
    case 'interval':
      return `every ${formatDuration(effect.ms)} for ${formatDuration(effect.ttlMs)}`
    case 'oneshot':
      return `once at ${isoText(effect.at)}`
    case 'pause':
      return `pause until ${isoText(effect.until)}`
    default:
      return effect.kind === 'resume' ? 'end its own pause' : 'clear the hints of planners'
  }
}

export interface SteeringWish {
  readonly now: number
  readonly author: Author
  readonly effect: SteeringEffect
  readonly reason: string
  /** Whether a run of the schedule ends in this step. */
  readonly isAtEnd?: boolean | undefined
}

export type Steered =
  | { readonly answer: 'done'; readonly clamped: Clamped | null; readonly outranked: boolean }
  | { readonly answer: 'refused'; readonly refusal: Refusal }

const steeredMsMax = 86_400_000

/**
 * Writes the effect of a rule or a planner on a locked schedule, within the bounds of its author. If the bounds forbid the effect, it
 * answers `refused` and does not throw.
 */
export function* steer(context: StoreContext, row: ScheduleRow, wish: SteeringWish): Step<Steered> {
  const { now, author, effect, reason, isAtEnd } = wish
  const own = { ...context, ns: row.ns }
  const done = (clamped: Clamped | null, outranked = false): Steered => ({ answer: 'done', clamped, outranked })
  switch (effect.kind) {
    case 'interval': {
      if (author.kind === 'rule' && isStanding(row, effect, now)) return done(null)
      const hint = { kind: 'interval', ms: effect.ms, ttlMs: effect.ttlMs, reason } as const
      const written = yield* writeHint(own, row, { wish: hint, author, now, isAtEnd })
      return written.answer === 'refused' ? written : done(written.clamped, written.outrankedBy !== null)
    }
    case 'oneshot': {
      const expiresAt = Math.min(effect.at + effect.ttlMs, now + steeredMsMax)
      const written = yield* writeHint(own, row, {
        wish: { kind: 'oneshot', at: effect.at, expiresAt, reason },
        author,
        now,
        isAtEnd,
      })
      return written.answer === 'refused' ? written : done(written.clamped, written.outrankedBy !== null)
    }
    case 'pause': {
      const written = yield* writePause(row, { until: effect.until, reason, author, now, isAtEnd })
      return written.answer === 'refused' ? written : done(written.clamped)
    }
    case 'resume': {
      const ended = yield* endPausesOf(own, row, { author, now })
      return ended.answer === 'refused' ? ended : done(null)
    }
    case 'clear': {
      const cleared = yield* clearHintsOf(own, row, { kinds: hintKinds, author, now })
      return cleared.answer === 'refused' ? cleared : done(null)
    }
  }
}
