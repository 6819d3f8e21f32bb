import { formatId, parseId } from '../../core/id.ts'
import { inQueueOrder } from '../../core/plan.ts'
import type { EndedStatus } from '../../core/run-state.ts'
import { invalid, priorityMax } from '../check.ts'
import { all, both, dialects, each, one, type Row, type Statement, type Step } from '../statement.ts'

/** A run that a list may show, with the place from which the page after it goes on. */
export interface Candidate {
  readonly id: number
  readonly place: string
}

export interface Candidates {
  readonly found: readonly Candidate[]
  /** Where to look on when all found ones are used up. */
  readonly next: string | null
}

export interface Look {
  readonly ns: number
  readonly queueIds: readonly number[]
  /** Set when only one queue is asked for. */
  readonly queueId: number | null
  readonly before: string | undefined
  readonly most: number
}

/** No look passes more rows than this, however few of them it is asked for. */
const windowRowsMax = 5_000

function windowed(
  name: string,
  table: string,
  id: string,
  { column, condition }: { column: string; condition: string },
) {
  const rows = `(select ${id}, ns, queue_id, ${column} from belfry.${table} where ${id} < $1 order by ${id} desc limit ${windowRowsMax}) w`
  return {
    matches: both(
      `list ${name}`,
      `select w.${id} as id from ${rows} where w.ns = $2
        and (cast($3 as bigint) is null or w.queue_id = cast($3 as bigint)) and ${condition}
        order by w.${id} desc limit $4`,
    ),
    edge: both(
      `list ${name} edge`,
      `select ${id} as id from belfry.${table} where ${id} < $1 order by ${id} desc limit 1 offset ${windowRowsMax - 1}`,
    ),
  }
}

const everyRun = windowed('runs', 'run', 'id', { column: 'need_id', condition: 'w.need_id > 0' })
const waitingRuns = windowed('waiting runs', 'aside', 'run_id', {
  column: 'kind',
  condition: `w.kind in ('waiting', 'key', 'overlap')`,
})
const heldRuns = windowed('held runs', 'aside', 'run_id', { column: 'kind', condition: `w.kind = 'held'` })
const leasedRuns = windowed('leased runs', 'lease', 'run_id', { column: 'fence', condition: 'w.fence > 0' })

const findMadeBy = both(
  'list runs of schedule',
  'select id from belfry.run where schedule_id = $1 and id < $2 order by id desc limit $3',
)
const findOfSchedule = both(
  'list live runs of schedule',
  'select run_id as id from belfry.schedule_run where schedule_id = $1 and run_id < $2 order by run_id desc limit $3',
)
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
/** The first runs of each lane after a place, in queue order. */
export const headOfLanes = dialects('list head of lanes', {
  sqlite: `select r.run_id, r.fence, d.need_id, d.priority, d.enqueued_at, d.deadline, d.late_after, d.waits_for,
      d.concurrency_key
    from (select run_id, fence from belfry.ready where queue_id = $1 and need_id = $2
      and (priority, enqueued_at, run_id) > ($3, $4, $5) order by priority, enqueued_at, run_id limit $6) r
    join belfry.run d on d.id = r.run_id`,
  postgres: `select r.run_id, r.fence, d.need_id, d.priority, d.enqueued_at, d.deadline, d.late_after, d.waits_for,
      d.concurrency_key
    from unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
      as lane (queue_id, need_id, priority, enqueued_at, run_id, most)
    cross join lateral (
      select run_id, fence from belfry.ready where queue_id = lane.queue_id and need_id = lane.need_id
        and (priority, enqueued_at, run_id) > (lane.priority, lane.enqueued_at, lane.run_id)
      order by priority, enqueued_at, run_id limit lane.most) r
    cross join lateral (select * from belfry.run where id = r.run_id offset 0) d`,
})
/** Before every place in a lane. */
export const laneStart = [-(2 ** 31), 0, 0] as const

export const everyRunSource = (look: Look) => throughWindow(everyRun, look)
export const heldSource = (look: Look) => throughWindow(heldRuns, look)
export const leasedSource = (look: Look) => throughWindow(leasedRuns, look)

function* throughWindow(
  { matches, edge }: { matches: Statement; edge: Statement },
  look: Look,
  mark = '',
): Step<Candidates> {
  const from = look.before === undefined ? Number.MAX_SAFE_INTEGER : runIn(look.before.slice(mark.length), look)
  const rows = yield* all<{ id: number }>(matches, from, look.ns, look.queueId, look.most)
  const found = rows.map(({ id }) => ({ id, place: mark + formatId('run', id) }))
  if (found.length === look.most) return { found, next: found.at(-1)?.place ?? null }
  const last = yield* one<{ id: number }>(edge, from)
  return { found, next: last === undefined ? null : mark + formatId('run', last.id) }
}

export const scheduleSource = (scheduleId: number, look: Look) => ofSchedule(findOfSchedule, scheduleId, look)
/** All runs a schedule ever made and the store still keeps. */
export const madeBySource = (scheduleId: number, look: Look) => ofSchedule(findMadeBy, scheduleId, look)

function* ofSchedule(statement: Statement, scheduleId: number, look: Look): Step<Candidates> {
  const from = look.before === undefined ? Number.MAX_SAFE_INTEGER : runIn(look.before, look)
  const rows = yield* all<{ id: number }>(statement, scheduleId, from, look.most)
  return candidatesOf(
    rows.map(({ id }) => ({ id, place: formatId('run', id) })),
    look,
  )
}

export function* endedSource(status: EndedStatus, look: Look): Step<Candidates> {
  const { at, id } = instantIn(look)
  return newestFirst(
    yield* each(
      findEnded,
      look.queueIds.map((queueId) => [queueId, status, at, id, look.most]),
    ),
    look,
  )
}

export function* parkedSource(look: Look): Step<Candidates> {
  const { at, id } = instantIn(look)
  return newestFirst(
    yield* each(
      findParked,
      look.queueIds.map((queueId) => [queueId, at, id, look.most]),
    ),
    look,
  )
}

const waitingMark = 'waiting/'

/** First those in line, in the order they go, then those that wait for something. */
export function* readySource(look: Look): Step<Candidates> {
  if (look.before?.startsWith(waitingMark)) return yield* throughWindow(waitingRuns, look, waitingMark)
  const line = yield* lineSource(look)
  if (line.next !== null) return line
  const rest = { ...look, before: undefined, most: look.most - line.found.length }
  const waiting = yield* throughWindow(waitingRuns, rest, waitingMark)
  return { found: [...line.found, ...waiting.found], next: waiting.next }
}

function* lineSource(look: Look): Step<Candidates> {
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

function newestFirst(rows: readonly Row[], look: Look): Candidates {
  const found = rows.map((row) => ({ at: row.at as number, id: row.id as number }))
  found.sort((a, b) => b.at - a.at || b.id - a.id)
  return candidatesOf(
    found.slice(0, look.most).map(({ at, id }) => ({ id, place: `${at}/${formatId('run', id)}` })),
    look,
  )
}

function candidatesOf(found: readonly Candidate[], { most }: Look): Candidates {
  return { found, next: found.length < most ? null : (found.at(-1)?.place ?? null) }
}

function runIn(text: string, look: Look): number {
  return parseId('run', text) ?? misplaced(look)
}

function instantIn(look: Look): { at: number; id: number } {
  if (look.before === undefined) return { at: Number.MAX_SAFE_INTEGER, id: 0 }
  const [at, id] = look.before.split('/')
  return { at: integerIn(at, look), id: runIn(id ?? '', look) }
}

function lanePlaceIn(look: Look): readonly [number, number, number] {
  const [priority, enqueuedAt, id] = look.before?.split('/') ?? []
  const rank = integerIn(priority, look)
  return [Math.abs(rank) <= priorityMax ? rank : misplaced(look), integerIn(enqueuedAt, look), runIn(id ?? '', look)]
}

function integerIn(text: string | undefined, look: Look): number {
  const value = text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : misplaced(look)
}

export function misplaced({ before }: Pick<Look, 'before'>): never {
  throw invalid('before', `is ${JSON.stringify(before)}`, 'the `next` of a page with the same filter')
}
