import type { Sweeping } from '../../store/prune/sweep.ts'
import { all, dialects, type Step } from '../../store/statement.ts'

/** A row that another step has locked stays. */
const oldNotices = `from belfry.notice
  where ns = $1 and is_open = 0 and coalesce(last_at, quiet_until) <= $2 limit $3`
const removeNotices = dialects('prune remove notices', {
  sqlite: `delete from belfry.notice where (ns, subject, subject_id, event) in (
    select ns, subject, subject_id, event ${oldNotices}) returning event`,
  postgres: `delete from belfry.notice
    where ctid = any (array(select ctid ${oldNotices} for update skip locked)) returning event`,
})

const keptMs = 30 * 86_400_000

/** Removes the rows of notices that were sent long ago and whose trouble is over. */
export function* sweepNotices({ context, now, rowsLeft }: Sweeping): Step<number> {
  return (yield* all(removeNotices, context.ns, now - keptMs, rowsLeft)).length
}
