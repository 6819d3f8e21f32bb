import { AssertionError } from 'node:assert'
import { formatId } from '../../core/id.ts'
import type { EndedStatus, RunStatus } from '../../core/run/run-state.ts'
import { runIdOf } from '../leases/settle.ts'
import { type AsideKind, asideOf } from '../runs/ready-aside.ts'
import { both, dialects, each, one, probes, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { shown } from '../table-codec.ts'
import { columnsOf, tables } from '../tables.ts'
import type { LeaseView, RunSummary, RunView } from '../views.ts'

const summary = tables.run.only(
  ...(['id', 'queueId', 'needId', 'priority', 'enqueuedAt', 'scheduleId', 'occurrenceAt', 'dueAt', 'source'] as const),
  ...(['notBefore', 'deadline', 'lateAfter', 'concurrencyKey', 'idempotencyKey', 'dedupeKey', 'waitsFor'] as const),
  ...(['retryOf', 'repeatable', 'policyVersion', 'target', 'options'] as const),
)
const summaryColumns = `${summary.columns('d')}, q.name as queue, s.name as schedule`

const findRuns = dialects('read runs', {
  sqlite: `select ${summaryColumns} from belfry.run d join belfry.queue q on q.id = d.queue_id
    left join belfry.schedule s on s.id = d.schedule_id where d.id = $1 and d.ns = $2`,
  postgres: `select ${summaryColumns} from unnest($1::bigint[], $2::bigint[]) as i (id, ns)
    ${probes.inner('run d', 'd.id = i.id and d.ns = i.ns')} join belfry.queue q on q.id = d.queue_id
    ${probes.left('schedule s', 's.id = d.schedule_id')}`,
})
const findLeases = dialects('read leases', {
  sqlite: `select ${columnsOf('lease')} from belfry.lease where run_id = $1`,
  postgres: `select ${columnsOf('lease')} from belfry.lease where run_id = any ($1::bigint[])`,
})
const findAsides = dialects('read asides', {
  sqlite: `select ${columnsOf('aside')} from belfry.aside where run_id = $1`,
  postgres: `select ${columnsOf('aside')} from belfry.aside where run_id = any ($1::bigint[])`,
})
const atPlace = `(r.queue_id, r.need_id, r.priority, r.enqueued_at, r.run_id)
  = (i.queue_id, i.need_id, i.priority, i.enqueued_at, i.run_id)`
const findInLine = dialects('read in line', {
  sqlite: `select ${columnsOf('ready')} from belfry.ready
    where queue_id = $1 and need_id = $2 and priority = $3 and enqueued_at = $4 and run_id = $5`,
  postgres: `select ${columnsOf('ready', 'r')} from unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[])
      as i (queue_id, need_id, priority, enqueued_at, run_id)
    ${probes.inner('ready r', atPlace)}`,
})
const endColumns = `e.run_id, e.ends, e.ended_at, e.reason,
  (select max(a.fence) from belfry.attempt a where a.run_id = e.run_id) as fence,
  (select count(*) from belfry.attempt a where a.run_id = e.run_id
    and (a.outcome in ('failed', 'lost', 'unknown') or a.reason like 'bounced%')) as attempts`
/** PostgreSQL must find them by run: a plan made while there are few would scan all ends. */
const findEnds = dialects('read ends', {
  sqlite: `select ${endColumns} from belfry.attempt e where e.run_id = $1 and e.ends is not null`,
  postgres: `select ${endColumns} from belfry.attempt e
    where e.run_id = any ($1::bigint[]) and coalesce(e.ends, '') <> ''`,
})
const findLarge = both(
  'read large',
  `select d.payload, d.decision, r.body, r.truncated from belfry.run d
    left join belfry.result r on r.run_id = d.id where d.id = $1`,
)

/** A run with all its data; `null` where it does not exist or was removed. */
export function* findRun(context: StoreContext, runId: string): Step<RunView | null> {
  const id = runIdOf({ runId })
  const [summary] = yield* summariesOf(context, [id])
  if (summary === undefined) return null
  const large = (yield* one(findLarge, id)) as Row
  return {
    ...summary,
    payload: large.payload === null ? undefined : shown(large.payload),
    decision: shown(large.decision) as RunView['decision'],
    result: large.body === null ? null : { value: shown(large.body), truncated: large.truncated === 1 },
  }
}

/** Runs in the order of the given ids, without those of other namespaces. */
export function* summariesOf(context: StoreContext, ids: readonly number[]): Step<RunSummary[]> {
  const definitions = byRun(
    yield* each(
      findRuns,
      ids.map((id) => [id, context.ns]),
    ),
    'id',
  )
  const standings = yield* standingsOf([...definitions.values()])
  return ids.flatMap((id) => {
    const definition = definitions.get(id)
    if (definition === undefined) return []
    const standing = standings.get(id)
    if (standing === undefined) throw nowhere(id)
    return [{ ...definitionOf(definition), ...standing }]
  })
}

type RunState = Pick<
  RunSummary,
  'status' | 'waiting' | 'fence' | 'attempts' | 'releases' | 'deaths' | 'lease' | 'parked' | 'end'
>

/** Each run has exactly one row with its state; the tables are tried in the order of likelihood. */
function* standingsOf(definitions: readonly Row[]): Step<Map<number, RunState>> {
  const standings = new Map<number, RunState>()
  const missing = () => definitions.filter((row) => !standings.has(row.id as number))
  const ids = () => missing().map((row) => [row.id as number])
  for (const row of yield* each(findEnds, ids())) standings.set(row.run_id as number, ended(row))
  for (const row of yield* each(findLeases, ids())) standings.set(row.run_id as number, leased(row))
  for (const row of yield* each(findAsides, ids())) standings.set(row.run_id as number, aside(row))
  const places = missing().map((row) => [row.queue_id, row.need_id, row.priority, row.enqueued_at, row.id] as number[])
  for (const row of yield* each(findInLine, places)) {
    standings.set(row.run_id as number, { status: 'ready', ...countsOf(row), lease: null, parked: null, end: null })
  }
  return standings
}

function ended(row: Row): RunState {
  const status = row.ends as EndedStatus
  return {
    status,
    fence: row.fence as number,
    attempts: row.attempts as number,
    releases: null,
    deaths: null,
    lease: null,
    parked: null,
    end: { status, at: row.ended_at as number, reason: row.reason as string | null },
  }
}

function leased(row: Row): RunState {
  return { status: 'leased', ...countsOf(row), lease: leaseViewOf(row), parked: null, end: null }
}

const asideStatus: Record<AsideKind, RunStatus> = {
  waiting: 'ready',
  key: 'ready',
  overlap: 'ready',
  held: 'held',
  parked: 'parked',
}

function aside(row: Row): RunState {
  const { kind, at, reason } = asideOf(row)
  const standing = { status: asideStatus[kind], ...countsOf(row), lease: null, parked: null, end: null }
  switch (kind) {
    case 'waiting':
      return { ...standing, waiting: { for: 'instant', until: at, reason } }
    case 'key':
    case 'overlap':
      return { ...standing, waiting: { for: kind, reason } }
    case 'held':
      return standing
    case 'parked':
      return { ...standing, parked: { at, reason: reason ?? 'parked' } }
  }
}

function countsOf(row: Row): Pick<RunState, 'fence' | 'attempts' | 'releases' | 'deaths'> {
  const { fence, attempts, releases, deaths } = row as Record<string, number>
  return { fence, attempts, releases, deaths } as Pick<RunState, 'fence' | 'attempts' | 'releases' | 'deaths'>
}

const holding = tables.lease.only('claimId', 'leasedAt', 'expiresAt', 'cancelRequestedAt', 'cancelReason', 'state')

function leaseViewOf(row: Row): LeaseView {
  return { workerId: formatId('worker', row.worker_id as number), ...holding.read(row) }
}

function definitionOf(row: Row): Omit<RunSummary, keyof RunState> {
  const { queueId, needId, ...run } = summary.read(row)
  return {
    ...run,
    id: formatId('run', run.id),
    queue: row.queue as string,
    schedule: row.schedule as string | null,
    scheduleId: run.scheduleId === null ? null : formatId('schedule', run.scheduleId),
    waitsFor: runTextOf(run.waitsFor),
    retryOf: runTextOf(run.retryOf),
    target: shown(run.target) as RunSummary['target'],
    options: (shown(run.options) ?? {}) as RunSummary['options'],
  }
}

export function runTextOf(id: Row[string] | undefined): string | null {
  return typeof id === 'number' ? formatId('run', id) : null
}

function byRun(rows: readonly Row[], column: string): Map<number, Row> {
  return new Map(rows.map((row) => [row[column] as number, row]))
}

function nowhere(id: number): AssertionError {
  return new AssertionError({ message: `Run ${formatId('run', id)} is neither live, parked nor ended.` })
}
