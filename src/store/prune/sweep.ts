import type { Policy } from '../../core/queue/policy.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { all, both, dialects, each, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** A queue with its retention policy. */
export interface KeptQueue {
  readonly id: number
  readonly policy: Policy
}

export interface Sweeping {
  readonly context: StoreContext
  readonly now: number
  readonly queues: readonly KeptQueue[]
  /** Rows that may still be removed in this step. */
  readonly rowsLeft: number
}

/** What a sweep removed, and where it continues; `null` when it is through. */
export interface Swept {
  /** The number of all removed rows, which limits a step; the counts below are of runs, schedules and so on. */
  readonly rows: number
  readonly runs: number
  readonly ledger: number
  readonly other: number
  readonly next: string | null
}

/** One kind of data to remove. `from` is its own `next` of the step before. */
export type Sweep = (sweeping: Sweeping, from: string | null) => Step<Swept>

export const nothingSwept: Swept = { rows: 0, runs: 0, ledger: 0, other: 0, next: null }

const findQueues = both('prune find queues', 'select id, policy from belfry.queue where ns = $1 order by id')

/** A queue whose policy cannot be read keeps everything: its retention is unknown. */
export function* keptQueues(context: StoreContext): Step<KeptQueue[]> {
  const rows = yield* all<{ id: number; policy: string }>(findQueues, context.ns)
  return rows.flatMap(({ id, policy: text }) => {
    const policy = readPolicy(text)
    return policy === null ? [] : [{ id, policy }]
  })
}

const countRows = dialects('prune count rows of runs', {
  sqlite: `select cast($1 as integer) as run_id, 1 + (select count(*) from belfry.attempt where run_id = $1)
    + (select count(*) from belfry.output where run_id = $1) as kept`,
  postgres: `select i.run_id, 1 + (select count(*) from belfry.attempt a where a.run_id = i.run_id)
    + (select count(*) from belfry.output o where o.run_id = i.run_id) as kept from unnest($1::bigint[]) as i (run_id)`,
})
export const removeOf = (table: string, column: string) =>
  dialects(`prune ${table} of runs`, {
    sqlite: `delete from belfry.${table} where ${column} = $1`,
    postgres: `delete from belfry.${table} where ${column} = any ($1::bigint[])`,
  })
/** The run's own row is removed last. */
const removals = [
  removeOf('output', 'run_id'),
  removeOf('result', 'run_id'),
  removeOf('attempt', 'run_id'),
  removeOf('run', 'id'),
]

/** Removes ended runs with all their rows, as many as the rows left allow but at least one. */
export function* removeRuns(
  { context, rowsLeft }: Pick<Sweeping, 'context' | 'rowsLeft'>,
  runIds: readonly number[],
): Step<{ runs: number; rows: number }> {
  const counted = yield* each<{ run_id: number; kept: number }>(
    countRows,
    runIds.map((id) => [id]),
  )
  const kept = new Map(counted.map((row) => [row.run_id, row.kept]))
  const going: number[] = []
  let rows = 0
  for (const id of runIds) {
    if (going.length > 0 && rows + (kept.get(id) ?? 1) > rowsLeft) break
    going.push(id)
    rows += kept.get(id) ?? 1
  }
  for (const removal of [...context.parts.flatMap(({ ofRuns = [] }) => ofRuns), ...removals]) {
    yield* each(
      removal,
      going.map((id) => [id]),
    )
  }
  return { runs: going.length, rows }
}
