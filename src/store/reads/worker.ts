import { formatId } from '../../core/id.ts'
import type { Capabilities } from '../../core/plan.ts'
import type { StoreContext } from '../context.ts'
import { all, both, type Row, type Step } from '../statement.ts'
import type { WorkerView } from '../view.ts'

const findLive = both(
  'read live workers',
  'select * from belfry.worker where ns = $1 and stopped_at is null order by id limit $2',
)
const findStopped = both(
  'read stopped workers',
  'select * from belfry.worker where ns = $1 and stopped_at is not null order by id desc limit $2',
)

const liveMax = 10_000
const stoppedMax = 200

/** Those that have not stopped, oldest first, then those that stopped last. Who missed its beats has not stopped. */
export function* workers(context: StoreContext): Step<WorkerView[]> {
  const live = yield* all(findLive, context.ns, liveMax)
  const stopped = yield* all(findStopped, context.ns, stoppedMax)
  return [...live, ...stopped].map(viewOf)
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
