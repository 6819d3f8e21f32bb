import { firstPolicy } from '../../core/queue/first-policy.ts'
import { type Policy, policyProblems } from '../../core/queue/policy.ts'
import { checkText, nameLengthMax } from '../check.ts'
import { both, clockNow, dialects, each, freshIds, type Row, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** `policy` is `null` where the stored one cannot be read; then no run is leased from the queue. */
export interface QueueRow {
  readonly id: number
  readonly name: string
  readonly policy: Policy | null
  readonly policyVersion: number
}

const findQueues = dialects('queue find', {
  sqlite:
    'select id, name, policy, policy_version from belfry.queue where ns = $1 and name = $2 and deleted_at is null',
  postgres: `select q.id, q.name, q.policy, q.policy_version from belfry.queue q
    join unnest($1::bigint[], $2::text[]) as i (ns, name) on q.ns = i.ns and q.name = i.name where q.deleted_at is null`,
})
/** A deleted queue is created again in its old row, which ended runs may still name; its versions continue. */
export const madeAnew = `on conflict (ns, name) do update set policy = excluded.policy, policy_version = q.policy_version + 1,
    created_at = excluded.created_at, managed_by = null, deleted_at = null where q.deleted_at is not null`
const insertQueues = dialects('queue insert', {
  sqlite: `insert into belfry.queue as q (id, ns, name, policy, policy_version, created_at) values ($1, $2, $3, $4, 1, $5)
    ${madeAnew}`,
  postgres: `insert into belfry.queue as q (id, ns, name, policy, policy_version, created_at)
    select id, ns, name, policy, 1, at
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) as i (id, ns, name, policy, at)
    order by name ${madeAnew}`,
})
const insertFirstVersions = dialects('queue first versions', {
  sqlite: `insert into belfry.queue_version (ns, queue_id, version, policy, at, actor)
    select ns, id, policy_version, policy, created_at, $3 from belfry.queue where ns = $1 and name = $2
    on conflict (queue_id, version) do nothing`,
  postgres: `insert into belfry.queue_version (ns, queue_id, version, policy, at, actor)
    select q.ns, q.id, q.policy_version, q.policy, q.created_at, i.actor
    from unnest($1::bigint[], $2::text[], $3::text[]) as i (ns, name, actor)
    join belfry.queue q on q.ns = i.ns and q.name = i.name
    on conflict (queue_id, version) do nothing`,
})
const bringBack = both(
  'queue bring back',
  'update belfry.queue set deleted_at = null where id = $1 and deleted_at is not null',
)

/** Used for work that names a queue by its row and not by its name, such as the retry of an ended run. */
export function* bringQueueBack(id: number): Step<void> {
  yield* run(bringBack, id)
}

export interface FoundQueues {
  readonly queues: ReadonlyMap<string, QueueRow>
  readonly created: ReadonlySet<string>
}

/** The namespace and the ceiling of new queues. */
type Ground = Pick<StoreContext, 'ns' | 'defaultMaxConcurrent' | 'parts'>

/** The named queues, created with conservative policies where they do not exist yet. */
export function* ensureQueues(context: Ground, names: readonly string[]): Step<FoundQueues> {
  const wanted = [...new Set(names)].map((name) => checkText(name, 'queue', nameLengthMax)).sort()
  const found = yield* find(context, wanted)
  const missing = wanted.filter((name) => !found.has(name))
  if (missing.length === 0) return { queues: found, created: new Set() }
  const now = yield* clockNow()
  const ids = yield* freshIds(missing.length)
  yield* each(
    insertQueues,
    missing.map((name, index) => [
      ids[index] ?? 0,
      context.ns,
      name,
      JSON.stringify(policyAtFirst(context, name)),
      now,
    ]),
  )
  yield* each(
    insertFirstVersions,
    missing.map((name) => [context.ns, name, 'belfry']),
  )
  return { queues: yield* find(context, wanted), created: new Set(missing) }
}

/** The policy of a new queue. */
export function policyAtFirst({ defaultMaxConcurrent, parts }: Omit<Ground, 'ns'>, name: string): Policy {
  return firstPolicy({ defaultMaxConcurrent, queues: Object.assign({}, ...parts.map(({ queues }) => queues)) }, name)
}

function* find(context: Ground, names: readonly string[]): Step<Map<string, QueueRow>> {
  const rows = yield* each(
    findQueues,
    names.map((name) => [context.ns, name]),
  )
  return new Map(rows.map((row) => [row.name as string, queueRowOf(row)]))
}

export function queueRowOf(row: Row): QueueRow {
  return {
    id: row.id as number,
    name: row.name as string,
    policy: readPolicy(row.policy as string),
    policyVersion: row.policy_version as number,
  }
}

const parsed = new Map<string, Policy | null>()
const parsedMax = 256

/** Policies change seldom and are read with every lease, so the last few texts are kept parsed. */
export function readPolicy(text: string): Policy | null {
  const known = parsed.get(text)
  if (known !== undefined) return known
  if (parsed.size >= parsedMax) parsed.clear()
  const policy = parsePolicy(text)
  parsed.set(text, policy)
  return policy
}

function parsePolicy(text: string): Policy | null {
  try {
    const policy: unknown = JSON.parse(text)
    // A program without the part that added a field still leases from the queue.
    return policyProblems(policy, Object.keys(policy as object)).length === 0 ? (policy as Policy) : null
  } catch {
    // Not JSON: the caller refuses to lease from this queue and reports why.
    return null
  }
}
