import { parseId } from '../../../core/id.ts'
import { type Measured, usualRuns } from '../../../core/run/expect-usage.ts'
import { all, both, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** The last runs of a schedule are read by their index; few of them are not completed. */
// The end is compared through coalesce, so that PostgreSQL goes to the attempts of these runs and not through all that ended.
const find = both(
  'measures find usual runs',
  `select a.started_at, a.ended_at, u.tokens_in, u.tokens_out, u.money, u.currency
    from (select id from belfry.run where schedule_id = $1 and ns = $2 order by id desc limit 100) d
    join belfry.attempt a on a.run_id = d.id and coalesce(a.ends, '') = 'completed'
    left join belfry.attempt_usage u on u.run_id = a.run_id and u.fence = a.fence
    where a.started_at is not null order by a.run_id desc limit ${usualRuns.most}`,
)

interface UsualRow {
  readonly started_at: number
  readonly ended_at: number
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly money: number | null
  readonly currency: string | null
}

/** What the last completed runs of a schedule used. */
export function* usualOf({ ns }: StoreContext, scheduleId: string): Step<Measured[]> {
  return (yield* all<UsualRow>(find, parseId('schedule', scheduleId), ns)).map((row) => ({
    tokensIn: row.tokens_in ?? undefined,
    tokensOut: row.tokens_out ?? undefined,
    money: row.money === null ? undefined : { amount: row.money, currency: row.currency ?? '' },
    durationMs: row.ended_at - row.started_at,
  }))
}
