import type { Hints } from '../../core/governor.ts'
import type { HintKind } from '../port.ts'
import { dialects, runEach, type Step } from '../statement.ts'
import type { HintView } from '../view.ts'

/** A hint that no longer counts, and why. */
export interface EndedHint {
  readonly scheduleId: number
  readonly kind: HintKind
  readonly at: number
  readonly by: NonNullable<HintView['ended']>['by']
}

const endRows = dialects('hint end', {
  sqlite: `update belfry.hint set ended_at = $3, ended_by = $4
    where schedule_id = $1 and kind = $2 and ended_at is null`,
  postgres: `update belfry.hint h set ended_at = i.ended_at, ended_by = i.ended_by
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) as i (schedule_id, kind, ended_at, ended_by)
    where h.schedule_id = any ($1::bigint[]) and h.schedule_id = i.schedule_id and h.kind = i.kind and h.ended_at is null`,
})

export const hintKinds = ['interval', 'oneshot'] as const satisfies readonly HintKind[]

/** Writes down that hints have ended; the rows of `schedule` no longer carry them. */
export function* endHints(ended: readonly EndedHint[]): Step<void> {
  yield* runEach(
    endRows,
    ended.map(({ scheduleId, kind, at, by }) => [scheduleId, kind, at, by]),
  )
}

export function without(hints: Hints, kinds: readonly HintKind[]): Hints {
  return Object.fromEntries(Object.entries(hints).filter(([kind]) => !kinds.includes(kind as HintKind)))
}

/** The hints that have run out by an instant. */
export function expiredKinds(hints: Hints, now: number): HintKind[] {
  return hintKinds.filter((kind) => (hints[kind]?.expiresAt ?? Number.POSITIVE_INFINITY) <= now)
}
