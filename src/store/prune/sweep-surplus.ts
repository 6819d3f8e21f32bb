import { both, one, type Step } from '../statement.ts'
import { type KeptQueue, nothingSwept, removeRuns, type Sweeping, type Swept } from './sweep.ts'
import { endedStatuses, oldestEnded } from './sweep-ended.ts'

/** Ids are unique in the whole store, so a store cannot hold more runs than its ids span. */
const findSpan = both(
  'prune find span',
  'select (select min(id) from belfry.run) as first, (select max(id) from belfry.run) as last',
)
const findPlace = both(
  'prune find place',
  `select ended_at, run_id from belfry.attempt where queue_id = $1 and ends = $2 and (ended_at, run_id) > ($3, $4)
    order by ended_at, run_id limit 1 offset $5`,
)
const countRest = both(
  'prune count rest',
  `select count(*) as rest from (select 1 from belfry.attempt
    where queue_id = $1 and ends = $2 and (ended_at, run_id) > ($3, $4) limit $5) as few`,
)

/** A million ended runs are counted in steps of this size, so that other writes can run in between. */
const stepRows = 10_000

/** How far the count of a queue has come or, once counted, how many runs are too many. */
type Progress =
  | {
      readonly queueId: number
      readonly status: number
      readonly at: number
      readonly runId: number
      readonly counted: number
    }
  | { readonly queueId: number; readonly surplus: number }

/** Removes the oldest ended runs of queues that have more than they may keep. */
export function* sweepSurplus(sweeping: Sweeping, from: string | null): Step<Swept> {
  const progress = from === null ? yield* firstOf(sweeping, 0) : (JSON.parse(from) as Progress)
  if (progress === null) return nothingSwept
  const queue = sweeping.queues.find(({ id }) => id === progress.queueId)
  if (queue === undefined) return goOn(yield* firstOf(sweeping, progress.queueId + 1))
  if ('surplus' in progress) return yield* removeSurplus(sweeping, queue, progress.surplus)
  return goOn(yield* countOn(sweeping, queue, progress))
}

function* firstOf({ queues }: Sweeping, fromId: number): Step<Progress | null> {
  const { first, last } = (yield* one<{ first: number | null; last: number | null }>(findSpan)) ?? {}
  const runsMax = (last ?? 0) - (first ?? 0) + 1
  const queue = queues.find(({ id, policy }) => id >= fromId && policy.retention.endedRunsMax < runsMax)
  return queue === undefined ? null : { queueId: queue.id, status: 0, at: 0, runId: 0, counted: 0 }
}

function* countOn(
  sweeping: Sweeping,
  queue: KeptQueue,
  progress: Exclude<Progress, { surplus: number }>,
): Step<Progress | null> {
  const { queueId, status, at, runId, counted } = progress
  const ends = endedStatuses[status]
  if (ends === undefined) {
    const surplus = counted - queue.policy.retention.endedRunsMax
    return surplus > 0 ? { queueId, surplus } : yield* firstOf(sweeping, queueId + 1)
  }
  const place = yield* one<{ ended_at: number; run_id: number }>(findPlace, queueId, ends, at, runId, stepRows - 1)
  if (place !== undefined) {
    return { queueId, status, at: place.ended_at, runId: place.run_id, counted: counted + stepRows }
  }
  const rest = (yield* one<{ rest: number }>(countRest, queueId, ends, at, runId, stepRows))?.rest ?? 0
  return yield* countOn(sweeping, queue, { queueId, status: status + 1, at: 0, runId: 0, counted: counted + rest })
}

function* removeSurplus(sweeping: Sweeping, { id }: KeptQueue, surplus: number): Step<Swept> {
  const { rowsLeft } = sweeping
  const oldest = yield* oldestEnded({ id, until: () => Number.MAX_SAFE_INTEGER }, Math.min(rowsLeft, surplus))
  const swept = yield* removeRuns(sweeping, oldest)
  const isDone = swept.runs >= surplus || oldest.length === 0
  const next = isDone ? yield* firstOf(sweeping, id + 1) : { queueId: id, surplus: surplus - swept.runs }
  return { ...goOn(next), ...swept }
}

function goOn(next: Progress | null): Swept {
  return { ...nothingSwept, next: next === null ? null : JSON.stringify(next) }
}
