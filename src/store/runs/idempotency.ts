import { formatId } from '../../core/id.ts'
import { hashOf } from '../check.ts'
import type { Enqueued, NewRun } from '../port.ts'
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

/** The run that has a key. */
export interface FirstRun {
  readonly runId: number
  readonly hash: string
}

/** Takes the free keys, and returns the first run with each, even when two arrive at the same moment. */
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

/** A run that is about to be made, with the id that it gets. */
export interface Candidate {
  readonly id: number
  readonly input: NewRun
}

/** A repeated request comes from another span of the caller's trace, and still means the same run. */
function withoutTrace(options: NewRun['options'] = {}): NewRun['options'] {
  const { traceparent: _, ...rest } = options
  return rest
}

/** The work alone, without its instant and its rank. */
function withoutPlace({ priority: _, notBefore: __, ...rest }: NewRun): NewRun {
  return rest
}

/** The first run with a key keeps the key, even when two callers send the key at the same moment. */
export function* refuseKnownKeys(
  context: StoreContext,
  candidates: readonly Candidate[],
  { now, hasPast }: { readonly now: number; readonly hasPast: boolean },
  answers: Map<number, Enqueued>,
): Step<void> {
  const keyed = candidates.flatMap(({ id, input }) => {
    const { idempotencyKey: key, ...rest } = hasPast ? withoutPlace(input) : input
    return key === undefined ? [] : [{ id, key, hash: hashOf({ ...rest, options: withoutTrace(rest.options) }) }]
  })
  const firsts = yield* firstsOf(context, keyed, now)
  for (const { id, key, hash } of keyed) {
    const first = firsts.get(key)
    if (first === undefined || first.runId === id) continue
    const firstId = formatId('run', first.runId)
    if (first.hash === hash) answers.set(id, { created: false, id: firstId, because: 'idempotency-key' })
    else answers.set(id, { created: false, id: firstId, because: 'conflict', key })
  }
}
