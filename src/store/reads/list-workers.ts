import { formatId, parseId } from '../../core/id.ts'
import { checkInteger, invalid } from '../check.ts'
import { all, both, clockNow, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'
import type { WorkerView } from '../views.ts'

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
const idMax = Number.MAX_SAFE_INTEGER

interface WorkerPage {
  readonly after?: string
  readonly limit: number
  readonly stopped?: boolean
}

/**
 * First the workers that have not stopped, oldest first, then those that stopped, newest first. A worker that missed its beats
 * has not stopped.
 */
export function* listWorkers({ ns }: StoreContext): Step<WorkerView[]> {
  const live = yield* all(findLive, ns, 0, liveMax)
  const stopped = yield* all(findStopped, ns, idMax, stoppedMax)
  return [...live, ...stopped].map(viewOf)
}

export interface WorkersNow {
  readonly now: number
  readonly workers: WorkerView[]
}

/**
 * A page of workers, and the time of the clock that measures their heartbeats. A page after a worker has only workers of the same kind,
 * present or gone, so that a worker that stops between two pages hides no other.
 */
export function* workersNow({ ns }: StoreContext, { after, limit, stopped = false }: WorkerPage): Step<WorkersNow> {
  checkInteger(limit, 'limit', 1, pageMax)
  const place = after === undefined ? null : placeOf(after)
  const now = yield* clockNow()
  if (stopped) return { now, workers: (yield* all(findStopped, ns, place ?? idMax, limit)).map(viewOf) }
  const live = yield* all(findLive, ns, place ?? 0, limit)
  const room = place === null ? limit - live.length : 0
  const others = room === 0 ? [] : yield* all(findStopped, ns, idMax, room)
  return { now, workers: [...live, ...others].map(viewOf) }
}

function placeOf(after: string): number {
  const id = parseId('worker', after)
  if (id === null) throw invalid('after', `is ${JSON.stringify(after)}`, 'the id of a worker')
  return id
}

const shown = tables.worker.only(
  ...([
    'name',
    'host',
    'can',
    'slots',
    'startedAt',
    'beatAt',
    'beatMs',
    'stoppedAt',
    'diedAt',
    'halted',
    'isHost',
    'lost',
  ] as const),
  ...(['pid', 'pidStartedAt', 'bootId', 'pidNamespace'] as const),
)

function viewOf(row: Row): WorkerView {
  const { pid, pidStartedAt, bootId, pidNamespace, ...view } = shown.read(row)
  const process = { pid, startedAt: pidStartedAt, bootId, pidNamespace } as NonNullable<WorkerView['process']>
  return { id: formatId('worker', row.id as number), ...view, process: pid === null ? null : process }
}
