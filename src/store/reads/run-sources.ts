import { formatId, parseId } from '../../core/id.ts'
import { runCursorExpected } from '../../core/page-cursor.ts'
import { inQueueOrder } from '../../core/queue/plan-leases.ts'
import type { EndedStatus } from '../../core/run/run-state.ts'
import { invalid, priorityMax } from '../check.ts'
import { all, both, dialects, each, type Row, type Step } from '../statement.ts'
import { columnsOf } from '../tables.ts'

/** A run that a list may show, with the cursor of the page after it. */
export interface Candidate {
  readonly id: number
  readonly place: string
}

export interface Candidates {
  readonly found: readonly Candidate[]
  /** Where to continue when all found runs are used. */
  readonly next: string | null
}

export interface RunQuery {
  readonly ns: number
  readonly queueIds: readonly number[]
  /** Set when only one queue is wanted. */
  readonly queueId: number | null
  readonly before: string | undefined
  readonly most: number
}

const findEnded = dialects('list ended runs', {
  sqlite: `select run_id as id, ended_at as at from belfry.attempt where queue_id = $1 and ends = $2
    and (ended_at, run_id) < ($3, $4) order by ended_at desc, run_id desc limit $5`,
  postgres: `select a.id, a.at from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::int[])
      as i (queue_id, ends, ended_at, run_id, most)
    cross join lateral (select run_id as id, ended_at as at from belfry.attempt
      where queue_id = i.queue_id and ends = i.ends and (ended_at, run_id) < (i.ended_at, i.run_id)
      order by ended_at desc, run_id desc limit i.most) a`,
})
const findParked = dialects('list parked runs', {
  sqlite: `select run_id as id, at from belfry.aside where kind = 'parked' and queue_id = $1
    and (at, run_id) < ($2, $3) order by at desc, run_id desc limit $4`,
  postgres: `select a.id, a.at from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[])
      as i (queue_id, at, run_id, most)
    cross join lateral (select run_id as id, at from belfry.aside
      where kind = 'parked' and queue_id = i.queue_id and (at, run_id) < (i.at, i.run_id)
      order by at desc, run_id desc limit i.most) a`,
})
const findNeeds = both('list needs', 'select id from belfry.need where ns = $1')
/** The first runs of each lane after a position, in queue order. */
export const headOfLanes = dialects('list head of lanes', {
  sqlite: `select r.run_id, r.fence, r.attempts, d.schedule_id, d.need_id, d.priority, d.enqueued_at, d.deadline, d.late_after,
      d.waits_for, d.concurrency_key
    from (select run_id, fence, attempts from belfry.ready where queue_id = $1 and need_id = $2
      and (priority, enqueued_at, run_id) > ($3, $4, $5) order by priority, enqueued_at, run_id limit $6) r
    join belfry.run d on d.id = r.run_id`,
  postgres: `select r.run_id, r.fence, r.attempts, d.schedule_id, d.need_id, d.priority, d.enqueued_at, d.deadline, d.late_after,
      d.waits_for, d.concurrency_key
    from unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
      as lane (queue_id, need_id, priority, enqueued_at, run_id, most)
    cross join lateral (
      select run_id, fence, attempts from belfry.ready where queue_id = lane.queue_id and need_id = lane.need_id
        and (priority, enqueued_at, run_id) > (lane.priority, lane.enqueued_at, lane.run_id)
      order by priority, enqueued_at, run_id limit lane.most) r
    cross join lateral (select ${columnsOf('run')} from belfry.run where id = r.run_id offset 0) d`,
})
/** A position before all runs of a lane. */
export const laneStart = [-(2 ** 31), 0, 0] as const

export function* endedSource(status: EndedStatus, look: RunQuery): Step<Candidates> {
  const { at, id } = instantIn(look)
  return newestFirst(
    yield* each(
      findEnded,
      look.queueIds.map((queueId) => [queueId, status, at, id, look.most]),
    ),
    look,
  )
}

export function* parkedSource(look: RunQuery): Step<Candidates> {
  const { at, id } = instantIn(look)
  return newestFirst(
    yield* each(
      findParked,
      look.queueIds.map((queueId) => [queueId, at, id, look.most]),
    ),
    look,
  )
}

/** The runs in line, in queue order. */
export function* lineSource(look: RunQuery): Step<Candidates> {
  const [priority, enqueuedAt, id] = look.before === undefined ? laneStart : lanePlaceIn(look)
  const needs = yield* all<{ id: number }>(findNeeds, look.ns)
  const lanes = look.queueIds.flatMap((queueId) => needs.map((need) => [queueId, need.id]))
  const rows = yield* each(
    headOfLanes,
    lanes.map((lane) => [...lane, priority, enqueuedAt, id, look.most]),
  )
  const sorted = rows.map(lanePlaceOf).sort(inQueueOrder).slice(0, look.most)
  return candidatesOf(
    sorted.map((place) => ({ id: place.runId, place: `${place.priority}/${place.enqueuedAt}/${place.id}` })),
    look,
  )
}

function lanePlaceOf(row: Row) {
  const runId = row.run_id as number
  return {
    runId,
    id: formatId('run', runId),
    priority: row.priority as number,
    enqueuedAt: row.enqueued_at as number,
  }
}

function newestFirst(rows: readonly Row[], look: RunQuery): Candidates {
  const found = rows.map((row) => ({ at: row.at as number, id: row.id as number }))
  found.sort((a, b) => b.at - a.at || b.id - a.id)
  return candidatesOf(
    found.slice(0, look.most).map(({ at, id }) => ({ id, place: `${at}/${formatId('run', id)}` })),
    look,
  )
}

function candidatesOf(found: readonly Candidate[], { most }: RunQuery): Candidates {
  return { found, next: found.length < most ? null : (found.at(-1)?.place ?? null) }
}

export function runIn(text: string, look: RunQuery): number {
  return parseId('run', text) ?? misplaced(look)
}

function instantIn(look: RunQuery): { at: number; id: number } {
  if (look.before === undefined) return { at: Number.MAX_SAFE_INTEGER, id: 0 }
  const [at, id] = look.before.split('/')
  return { at: integerIn(at, look), id: runIn(id ?? '', look) }
}

function lanePlaceIn(look: RunQuery): readonly [number, number, number] {
  const [priority, enqueuedAt, id] = look.before?.split('/') ?? []
  const rank = integerIn(priority, look)
  return [Math.abs(rank) <= priorityMax ? rank : misplaced(look), integerIn(enqueuedAt, look), runIn(id ?? '', look)]
}

export function integerIn(text: string | undefined, look: RunQuery): number {
  const value = text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : misplaced(look)
}

export function misplaced({ before }: Pick<RunQuery, 'before'>): never {
  throw invalid('before', `is ${JSON.stringify(before)}`, runCursorExpected)
}
