import { formatId, parseId } from '../../core/id.ts'
import type { Capabilities } from '../../core/plan.ts'
import { checkInteger, invalid } from '../check.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import { all, both, type Row, type Step } from '../statement.ts'
import type { LostRuns, WorkerView } from '../view.ts'

const findLive = both(
  'read live workers',
  `select ${columnsOf('worker')} from belfry.worker where ns = $1 and id > $2 and stopped_at is null order by id limit $3`,
)
const findStopped = both(
  'read stopped workers',
  `select ${columnsOf('worker')} from belfry.worker where ns = $1 and id < $2 and stopped_at is not null order by id desc limit $3`,
)

const liveMax = 10_000
const stoppedMax = 200
const pageMax = 1_000
/** No id is greater. */
const idMax = Number.MAX_SAFE_INTEGER

interface WorkerPage {
  readonly after?: string
  readonly limit: number
  readonly stopped?: boolean
}

/**
 * Those that have not stopped, oldest first, then those that stopped last. Who missed its beats has not stopped. A page behind a
 * worker has only its like: whether a worker stops between two pages, nobody else is passed by.
 */
export function* listWorkers(context: StoreContext, page?: WorkerPage): Step<WorkerView[]> {
  if (page !== undefined) return yield* workerPage(context, page)
  const live = yield* all(findLive, context.ns, 0, liveMax)
  const stopped = yield* all(findStopped, context.ns, idMax, stoppedMax)
  return [...live, ...stopped].map(viewOf)
}

function* workerPage({ ns }: StoreContext, { after, limit, stopped = false }: WorkerPage): Step<WorkerView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  const place = after === undefined ? null : placeOf(after)
  if (stopped) return (yield* all(findStopped, ns, place ?? idMax, limit)).map(viewOf)
  const live = yield* all(findLive, ns, place ?? 0, limit)
  const room = place === null ? limit - live.length : 0
  const others = room === 0 ? [] : yield* all(findStopped, ns, idMax, room)
  return [...live, ...others].map(viewOf)
}

function placeOf(after: string): number {
  const id = parseId('worker', after)
  if (id === null) throw invalid('after', `is ${JSON.stringify(after)}`, 'the id of a worker')
  return id
}

function viewOf(row: Row): WorkerView {
  return {
    id: formatId('worker', row.id as number),
    name: row.name as string,
    host: row.host as string,
    can: JSON.parse(row.can as string) as Capabilities,
    slots: row.slots as number | null,
    startedAt: row.started_at as number,
    beatAt: row.beat_at as number,
    beatMs: row.beat_ms as number,
    stoppedAt: row.stopped_at as number | null,
    diedAt: row.died_at as number | null,
    lost: row.lost === null ? null : (JSON.parse(row.lost as string) as LostRuns),
    process: processOf(row),
  }
}

function processOf(row: Row): WorkerView['process'] {
  if (row.pid === null) return null
  return {
    pid: row.pid as number,
    startedAt: row.pid_started_at as string,
    bootId: row.boot_id as string,
    pidNamespace: row.pid_namespace as string,
  }
}
