import type { RuleEffect } from '../../core/rules.ts'
import type { Author } from '../../core/schedule/hint-author.ts'
import type { Clamped, Refusal } from '../../core/schedule/hint-bounds.ts'
import { everyHint, hintKinds } from '../../core/schedule/hints.ts'
import { endPausesOf, writePause } from '../../store/schedules/pause-schedule.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { clearHintsOf, writeHint } from '../../store/schedules/steer-schedule.ts'
import type { Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

/** What a rule or a planner wants of a schedule. */
export type SteeringEffect = RuleEffect | { readonly kind: 'resume' }

export interface SteeringWish {
  readonly now: number
  readonly author: Author
  readonly effect: SteeringEffect
  readonly reason: string
}

export type Steered =
  | { readonly answer: 'done'; readonly clamped: Clamped | null; readonly outranked: boolean }
  | { readonly answer: 'refused'; readonly refusal: Refusal }

const steeredMsMax = 86_400_000

/** Writes what a rule or a planner wants on a locked schedule, within the bounds of its author. It never throws for what they forbid. */
export function* steer(context: StoreContext, row: ScheduleRow, wish: SteeringWish): Step<Steered> {
  const { now, author, effect, reason } = wish
  const own = { ...context, ns: row.ns }
  const done = (clamped: Clamped | null, outranked = false): Steered => ({ answer: 'done', clamped, outranked })
  switch (effect.kind) {
    case 'interval': {
      if (author.kind === 'rule' && isStanding(row, effect, now)) return done(null)
      const hint = { kind: 'interval', ms: effect.ms, ttlMs: effect.ttlMs, reason } as const
      const written = yield* writeHint(own, row, { wish: hint, author, now })
      return written.answer === 'refused' ? written : done(written.clamped, written.outrankedBy !== null)
    }
    case 'oneshot': {
      const expiresAt = Math.min(effect.at + effect.ttlMs, now + steeredMsMax)
      const written = yield* writeHint(own, row, {
        wish: { kind: 'oneshot', at: effect.at, expiresAt, reason },
        author,
        now,
      })
      return written.answer === 'refused' ? written : done(written.clamped, written.outrankedBy !== null)
    }
    case 'pause': {
      const written = yield* writePause(row, { until: effect.until, reason, author, now })
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

/** A rule fits at every run while a trouble lasts. Its hint is renewed when half of its time has passed, not with each of these runs. */
function isStanding({ hints }: ScheduleRow, effect: { ms: number; ttlMs: number }, now: number): boolean {
  const own = everyHint(hints).find(({ kind, by }) => kind === 'interval' && by === 'rule')
  return own?.kind === 'interval' && own.ms === effect.ms && own.expiresAt - now > effect.ttlMs / 2
}
