import type { CallerKind } from '../../core/caller.ts'
import { formatId } from '../../core/id.ts'
import type { EndedStatus } from '../../core/run/run-state.ts'
import { checkInstant, checkInteger } from '../check.ts'
import { compareCursors, type EventCursor, type EventPage, type EventView } from '../event-view.ts'
import type { RunSource } from '../port.ts'
import { all, both, dialects, each, one, type Row, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/**
 * Up to which instant every event is visible. A step reads the clock after its transaction has begun and may commit much later,
 * so its events appear in the past; nothing newer than the oldest open transaction is returned. On SQLite this read holds the
 * write lock, so no other transaction is open.
 */
const findHorizon = dialects('events horizon', {
  sqlite: 'select $1 as now, null as open_at',
  // The instant at which this statement began: a transaction that begins later writes nothing older.
  postgres: `select coalesce(cast($1 as bigint), floor(extract(epoch from statement_timestamp()) * 1000)::bigint) as now, (
    select floor(extract(epoch from min(xact_start)) * 1000)::bigint from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and xact_start is not null) as open_at`,
})
const findQueues = both('events queues', 'select id, name from belfry.queue where ns = $1')
const attemptColumns = 'run_id, fence, queue_id, started_at, ended_at, outcome, reason, ends'
const ofEach = attemptColumns.replaceAll(/\w+/g, (name) => `a.${name}`)
const behindPlace = '(ended_at, run_id, fence) > ($3, $4, $5) and ended_at < $6'
const behindEach = '(t.ended_at, t.run_id, t.fence) > (i.since, i.run_id, i.fence) and t.ended_at < i.until'
const placeColumns = 'since, run_id, fence, until, most'
const placeArrays = '$3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::int[]'
const findEnded = dialects('events ended', {
  sqlite: `select ${attemptColumns} from belfry.attempt where queue_id = $1 and ends = $2 and ends is not null
    and ${behindPlace} order by ended_at, run_id, fence limit $7`,
  postgres: `select ${ofEach} from unnest($1::bigint[], $2::text[], ${placeArrays}) as i (queue_id, ends, ${placeColumns})
    cross join lateral (select ${attemptColumns} from belfry.attempt t
      where t.queue_id = i.queue_id and t.ends = i.ends and t.ends is not null and ${behindEach}
      order by t.ended_at, t.run_id, t.fence limit i.most) a`,
})
/** The second parameter is unused here; with it both statements have the same parameters. */
const findGoingOn = dialects('events going on', {
  sqlite: `select ${attemptColumns} from belfry.attempt where queue_id = $1 and $2 is null and ends is null
    and ${behindPlace} order by ended_at, run_id, fence limit $7`,
  postgres: `select ${ofEach} from unnest($1::bigint[], $2::text[], ${placeArrays}) as i (queue_id, ends, ${placeColumns})
    cross join lateral (select ${attemptColumns} from belfry.attempt t
      where t.queue_id = i.queue_id and i.ends is null and t.ends is null and ${behindEach}
      order by t.ended_at, t.run_id, t.fence limit i.most) a`,
})
const findFired = both(
  'events fired',
  `select d.id, d.queue_id, d.enqueued_at, d.occurrence_at, d.source, s.name as schedule
    from belfry.run d join belfry.schedule s on s.id = d.schedule_id
    where d.ns = $1 and d.schedule_id is not null and (d.enqueued_at, d.id) > ($2, $3) and d.enqueued_at < $4
    order by d.enqueued_at, d.id limit $5`,
)
const findChanges = both(
  'events changes',
  `select id, at, actor, door, caller, verb, subject, detail from belfry.audit
    where ns = $1 and (at, id) > ($2, $3) and at < $4 order by at, id limit $5`,
)
const findRuns = dialects('events runs', {
  sqlite:
    'select d.id, d.source, s.name from belfry.run d left join belfry.schedule s on s.id = d.schedule_id where d.id = $1',
  postgres: `select d.id, d.source, s.name from unnest($1::bigint[]) as i (id)
    join belfry.run d on d.id = i.id left join belfry.schedule s on s.id = d.schedule_id`,
})

const endedStatuses = ['completed', 'failed', 'cancelled', 'skipped'] as const satisfies readonly EndedStatus[]
const ranks = { fired: 0, attempt: 1, change: 2, end: 3 } as const
const limitMax = 1_000

/** Events after a position, oldest first. Without a position: no events, and the current position. */
export function* listEvents(context: StoreContext, after: EventCursor | null, limit: number): Step<EventPage> {
  checkInteger(limit, 'limit', 1, limitMax)
  const { now, open_at: openAt } = (yield* one(findHorizon, storeClock)) as Row
  const until = Math.min(now as number, (openAt as number | null) ?? Number.POSITIVE_INFINITY)
  // Everything before the horizon was returned, and nothing at the horizon itself.
  const horizon = { at: until - 1, rank: ranks.end, number: 0, fence: 0 }
  if (after === null) return { events: [], place: horizon, more: false }
  checkPlace(after)
  if (compareCursors(horizon, after) <= 0) return { events: [], place: after, more: false }
  const queues = yield* all<{ id: number; name: string }>(findQueues, context.ns)
  const look = { context, queues, after, until, most: limit + 1 }
  const found = [...(yield* fired(look)), ...(yield* attempts(look)), ...(yield* changes(look))]
  const sorted = found.sort((a, b) => compareCursors(a.place, b.place))
  const told = sorted.slice(0, limit)
  const more = sorted.length > limit
  return { events: told, place: more ? (told.at(-1) as EventView).place : horizon, more }
}
/** On PostgreSQL one snapshot for all statements would be older than the horizon that the first one returns. */
listEvents.seesCommits = true as const

function checkPlace({ at, rank, number, fence }: EventCursor): void {
  checkInstant(at, 'after.at')
  checkInteger(rank, 'after.rank', 0, ranks.end)
  checkInteger(number, 'after.number', 0, Number.MAX_SAFE_INTEGER)
  checkInteger(fence, 'after.fence', 0, 2 ** 31 - 1)
}

interface Looking {
  readonly context: StoreContext
  readonly queues: readonly { readonly id: number; readonly name: string }[]
  readonly after: EventCursor
  readonly until: number
  readonly most: number
}

/** The start for one rank: an instant whose rank is still to come is included whole, one whose rank is over is excluded whole. */
function startOf({ at, rank, number, fence }: EventCursor, own: number): readonly [number, number, number] {
  if (rank < own) return [at, -1, -1]
  return rank > own ? [at + 1, -1, -1] : [at, number, fence]
}

function* attempts({ queues, after, until, most }: Looking): Step<EventView[]> {
  const place = [...startOf(after, ranks.attempt), until, most]
  const ended = queues.flatMap(({ id }) => endedStatuses.map((status) => [id, status, ...place]))
  const goingOn = queues.map(({ id }) => [id, null, ...place])
  const rows = [...(yield* each(findEnded, ended)), ...(yield* each(findGoingOn, goingOn))]
  const runs = [...new Set(rows.map((row) => row.run_id as number))].map((id) => [id])
  const found = new Map((yield* each(findRuns, runs)).map((row) => [row.id, row]))
  const names = new Map(queues.map(({ id, name }) => [id, name]))
  return rows.map((row) => attemptEvent(row, { names, found }))
}

interface Names {
  readonly names: ReadonlyMap<number, string>
  readonly found: ReadonlyMap<unknown, Row>
}

function attemptEvent(row: Row, { names, found }: Names): EventView {
  const [number, fence] = [row.run_id as number, row.fence as number]
  const runId = formatId('run', number)
  return {
    place: { at: row.ended_at as number, rank: ranks.attempt, number, fence },
    id: `${runId}.${fence}`,
    happened: {
      kind: row.ends === null ? 'run.attempt-ended' : `run.${row.ends as EndedStatus}`,
      runId,
      fence,
      queue: names.get(row.queue_id as number) ?? '',
      schedule: (found.get(number)?.name ?? null) as string | null,
      source: (found.get(number)?.source ?? null) as RunSource | null,
      outcome: row.outcome as string,
      reason: row.reason as string | null,
      startedAt: row.started_at as number | null,
    },
  }
}

function* fired({ context, queues, after, until, most }: Looking): Step<EventView[]> {
  const names = new Map(queues.map(({ id, name }) => [id, name]))
  const [at, number] = startOf(after, ranks.fired)
  return (yield* all(findFired, context.ns, at, number, until, most)).map((row) => {
    const id = row.id as number
    const runId = formatId('run', id)
    return {
      place: { at: row.enqueued_at as number, rank: ranks.fired, number: id, fence: 0 },
      id: `${runId}.fired`,
      happened: {
        kind: 'schedule.fired',
        runId,
        queue: names.get(row.queue_id as number) ?? '',
        schedule: row.schedule as string,
        occurrenceAt: row.occurrence_at as number | null,
        source: row.source as RunSource,
      },
    }
  })
}

function* changes({ context, after, until, most }: Looking): Step<EventView[]> {
  const [at, number] = startOf(after, ranks.change)
  const own = new Set(context.parts.flatMap(({ streams = [] }) => streams))
  return (yield* all(findChanges, context.ns, at, number, until, most)).map((row) => ({
    place: { at: row.at as number, rank: ranks.change, number: row.id as number, fence: 0 },
    id: `change-${row.id}`,
    happened: {
      kind: own.has(row.verb as string) ? (row.verb as `${string}.made`) : 'changed',
      actor: row.actor as string,
      door: row.door as string,
      caller: (row.caller ?? 'person') as CallerKind,
      verb: row.verb as string,
      subject: row.subject as string,
      detail: row.detail === null ? null : (JSON.parse(row.detail as string) as unknown),
    },
  }))
}
