import type { EndedHint } from '../../core/schedule/hints.ts'
import { dialects, runEach, type Step } from '../statement.ts'

/** As `rankOf` in the core. */
const rank = `case author_kind when 'person' then 0 when 'rule' then 1 else 2 end`

const endRows = dialects('hint end', {
  sqlite: `update belfry.hint set ended_at = $3, ended_by = $4
    where schedule_id = $1 and kind = $2 and ended_at is null and ${rank} = $5`,
  postgres: `update belfry.hint h set ended_at = i.ended_at, ended_by = i.ended_by
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::int[]) as i (schedule_id, kind, ended_at, ended_by, rank)
    where h.schedule_id = any ($1::bigint[]) and h.schedule_id = i.schedule_id and h.kind = i.kind and h.ended_at is null
    and ${rank} = i.rank`,
})

/** Records that hints have ended; the rows of `schedule` no longer carry them. */
export function* endHints(ended: readonly EndedHint[]): Step<void> {
  yield* runEach(
    endRows,
    ended.map(({ scheduleId, kind, at, by, rank: own }) => [scheduleId, kind, at, by, own]),
  )
}
