import { all, both, dialects, each, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

const claimKeys = dialects('enqueue claim idempotency', {
  sqlite: `insert into belfry.idempotency (ns, key, run_id, input_hash, created_at) values ($1, $2, $3, $4, $5)
    on conflict (ns, key) do nothing`,
  postgres: `insert into belfry.idempotency (ns, key, run_id, input_hash, created_at)
    select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) as i (ns, key, run_id, hash, at)
    order by key, run_id on conflict (ns, key) do nothing`,
})
const findKeys = both(
  'enqueue find idempotency',
  ({ texts }) => `select key, run_id, input_hash from belfry.idempotency where ns = $1 and key ${texts('$2')}`,
)

/** A run with a key, and a digest that tells whether another run with that key has the same input. */
export interface KeyedRun {
  readonly id: number
  readonly key: string
  readonly hash: string
}

/** The run that answers for a key. */
export interface FirstRun {
  readonly runId: number
  readonly hash: string
}

/** Takes the free keys, and returns the first run with each, even when two come at one moment. */
export function* firstsOf(context: StoreContext, keyed: readonly KeyedRun[], now: number): Step<Map<string, FirstRun>> {
  if (keyed.length === 0) return new Map()
  yield* each(
    claimKeys,
    keyed.map(({ id, key, hash }) => [context.ns, key, id, hash, now]),
  )
  const keys = JSON.stringify(keyed.map(({ key }) => key))
  const rows = yield* all<{ key: string; run_id: number; input_hash: string }>(findKeys, context.ns, keys)
  return new Map(rows.map((row) => [row.key, { runId: row.run_id, hash: row.input_hash }]))
}
