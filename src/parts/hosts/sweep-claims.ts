import type { Sweeping } from '../../store/prune/sweep.ts'
import { all, both, dialects, each, type Step } from '../../store/statement.ts'

const findClaims = both(
  'prune find claims',
  'select ns, key from belfry.claim where created_at <= $1 order by created_at limit $2',
)
const removeClaims = dialects('prune remove claims', {
  sqlite: 'delete from belfry.claim where ns = $1 and key = $2',
  postgres: `delete from belfry.claim d using unnest($1::bigint[], $2::text[]) as i (ns, key)
    where d.ns = i.ns and d.key = i.key`,
})

/** A host repeats a request because it lost the answer, and does so soon, so keys need not be kept long. */
const claimsKeptMs = 24 * 3_600_000

export function* sweepClaims({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ ns: number; key: string }>(findClaims, now - claimsKeptMs, rowsLeft)
  yield* each(
    removeClaims,
    found.map(({ ns, key }) => [ns, key]),
  )
  return found.length
}
