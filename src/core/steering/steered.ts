import type { RuleEffect } from '../rules.ts'
import { type AuthorKind, rankOf } from '../schedule/hint-author.ts'
import { hintBounds, type Wanted } from '../schedule/hint-bounds.ts'
import { everyHint, inForce, withHint } from '../schedule/hints.ts'
import { planned } from '../schedule/next-plan.ts'
import type { ScheduleState } from '../schedule/state.ts'
import { withoutPausesOf, withPauseOf } from '../schedule/steering.ts'

/** The effect that a rule, a planner or an agent requests. */
export type SteeringEffect = RuleEffect | { readonly kind: 'resume' }

const steeredMsMax = 86_400_000

/** The part of an effect that the bounds check; a `resume` needs no check. */
export function wantedOf(effect: RuleEffect, now: number): Wanted {
  switch (effect.kind) {
    case 'interval':
      return { kind: 'interval', ms: effect.ms, expiresAt: now + effect.ttlMs }
    case 'oneshot':
      return { kind: 'oneshot', at: effect.at, expiresAt: Math.min(effect.at + effect.ttlMs, now + steeredMsMax) }
    default:
      return effect
  }
}

/**
 * The condition of a rule holds at every run while a problem lasts. Its hint is renewed when half of its time has passed, not with each
 * of these runs.
 */
export function isStanding(
  { hints }: Pick<ScheduleState, 'hints'>,
  effect: { readonly ms: number; readonly ttlMs: number },
  now: number,
): boolean {
  const own = everyHint(hints).find(({ kind, by }) => kind === 'interval' && by === 'rule')
  return own?.kind === 'interval' && own.ms === effect.ms && own.expiresAt - now > effect.ttlMs / 2
}

interface Steering {
  readonly now: number
  readonly by: AuthorKind
  /** The live run of the schedule. */
  readonly lastRunId?: number | null
  /** That run ends in this transaction. */
  readonly isAtEnd?: boolean
  /** The least time between two occurrences that the namespace allows. */
  readonly everyMinMs?: number
}

/** The schedule after an effect, within the bounds of its author. Nothing is written. */
export function steered<Row extends ScheduleState>(row: Row, effect: SteeringEffect, steering: Steering): Row {
  const { now, by, lastRunId = row.waitsFor, isAtEnd, everyMinMs } = steering
  const again = (changed: Row) => planned({ ...changed, nextRunAt: null, nextDueAt: null }, { now, lastRunId })
  if (effect.kind === 'resume') return again(withoutPausesOf(row, { kind: by }))
  if (effect.kind === 'interval' && by === 'rule' && isStanding(row, effect, now)) return row
  const wish = wantedOf(effect, now)
  const bounds = hintBounds({ now, by, wanted: wish, isAtEnd, everyMinMs, schedule: row.spec, state: row })
  if (bounds.answer === 'refused') return row
  const { wanted, steering: noted } = bounds
  const bounded = { ...row, steering: noted }
  switch (wanted.kind) {
    case 'pause':
      return again(withPauseOf(bounded, { by, author: '', until: wanted.until ?? now, reason: '' }))
    case 'clear': {
      const above = everyHint(row.hints).filter((hint) => rankOf(hint.by) < rankOf(by))
      return again({ ...bounded, hints: inForce(above, now) })
    }
    default:
      return again({ ...bounded, hints: withHint(row.hints, { ...wanted, by }, now) })
  }
}
