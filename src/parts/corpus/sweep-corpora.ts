import { defaultPolicy } from '../../core/queue/policy.ts'
import type { Sweeping } from '../../store/prune/sweep.ts'
import { all, both, dialects, each, type Step } from '../../store/statement.ts'

const findDeleted = both(
  'prune find corpora',
  'select id from belfry.corpus where deleted_at <= $1 order by id limit $2',
)
const removeDeleted = dialects('prune remove corpora', {
  sqlite: 'delete from belfry.corpus where id = $1',
  postgres: 'delete from belfry.corpus where id = any ($1::bigint[])',
})

/** Deleted corpora are kept as long as ledger rows. Their items were removed when they were deleted. */
export function* sweepCorpora({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ id: number }>(findDeleted, now - defaultPolicy.retention.ledgerMs, rowsLeft)
  yield* each(
    removeDeleted,
    found.map(({ id }) => [id]),
  )
  return found.length
}
