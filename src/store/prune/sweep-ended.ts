import { endedKeptMs } from '../../core/queue/retention.ts'
import type { EndedStatus } from '../../core/run/run-state.ts'
import { dialects, each, type Step } from '../statement.ts'
import { nothingSwept, removeRuns, type Sweeping, type Swept } from './sweep.ts'

export const endedStatuses: readonly EndedStatus[] = ['completed', 'failed', 'cancelled', 'skipped']

const findOldest = dialects('prune find oldest ended', {
  sqlite: `select queue_id, run_id, ended_at from belfry.attempt where queue_id = $1 and ends = $2 and ended_at <= $3
    order by ended_at, run_id limit $4`,
  postgres: `select i.queue_id, a.run_id, a.ended_at from unnest($1::bigint[], $2::text[], $3::bigint[], $4::int[])
      as i (queue_id, ends, until, most)
    cross join lateral (select run_id, ended_at from belfry.attempt
      where queue_id = i.queue_id and ends = i.ends and ended_at <= i.until
      order by ended_at, run_id limit i.most) a`,
})

export interface EndedRun {
  readonly queue_id: number
  readonly run_id: number
  readonly ended_at: number
}

export interface EndedUntil {
  readonly id: number
  until(status: EndedStatus): number
}

/** The runs of each queue and status that ended first, up to an instant. */
function* endedUntil(queues: readonly EndedUntil[], most: number): Step<EndedRun[]> {
  return yield* each<EndedRun>(
    findOldest,
    queues.flatMap(({ id, until }) => endedStatuses.map((status) => [id, status, until(status), most])),
  )
}

export function* oldestEnded(queue: EndedUntil, most: number): Step<number[]> {
  const rows = yield* endedUntil([queue], most)
  return rows
    .sort((a, b) => a.ended_at - b.ended_at || a.run_id - b.run_id)
    .slice(0, most)
    .map(({ run_id }) => run_id)
}

const queuesAtOnce = 100

/** Removes the runs that ended longer ago than their queue keeps them, one queue per step. */
export function* sweepEnded(sweeping: Sweeping, from: string | null): Step<Swept> {
  const { now, queues, rowsLeft } = sweeping
  const rest = queues.filter(({ id }) => id >= Number(from ?? 0))
  const looked = rest.slice(0, queuesAtOnce).map((queue) => ({
    id: queue.id,
    until: (status: EndedStatus) => now - endedKeptMs(queue.policy, status),
  }))
  const due = new Set((yield* endedUntil(looked, 1)).map(({ queue_id }) => queue_id))
  const queue = looked.find(({ id }) => due.has(id))
  if (queue === undefined) return { ...nothingSwept, next: textOf(rest[queuesAtOnce]) }
  const swept = yield* removeRuns(sweeping, yield* oldestEnded(queue, rowsLeft))
  return { ...nothingSwept, ...swept, next: textOf(queue) }
}

function textOf(queue: { readonly id: number } | undefined): string | null {
  return queue === undefined ? null : String(queue.id)
}
