import { columnsOf } from '../columns.ts'
import { all, dialects, each, inList, type Row, runEach, type Step } from '../statement.ts'

/** Where a live run stands in its queue, and the counts it carries from place to place. */
export interface Standing {
  readonly runId: number
  readonly ns: number
  readonly queueId: number
  readonly needId: number
  readonly priority: number
  readonly enqueuedAt: number
  readonly key: string | null
  readonly fence: number
  readonly attempts: number
  readonly releases: number
  readonly deaths: number
}

/**
 * Why a run is aside: `waiting` for an instant, behind a full `key`, behind a run of its schedule (`overlap`), `held` by
 * its schedule's pause, or `parked`.
 */
export type AsideKind = 'waiting' | 'key' | 'overlap' | 'held' | 'parked'

export interface Aside {
  readonly standing: Standing
  readonly kind: AsideKind
  /** When it may go at the earliest; for a parked run, when it was parked. */
  readonly at: number
  readonly reason: string | null
}

export const insertReady = dialects('standing insert ready', {
  sqlite: `insert into belfry.ready
    (queue_id, need_id, priority, enqueued_at, run_id, ns, fence, attempts, releases, deaths, concurrency_key)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  postgres: `insert into belfry.ready
    (queue_id, need_id, priority, enqueued_at, run_id, ns, fence, attempts, releases, deaths, concurrency_key)
    select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[],
      $8::int[], $9::int[], $10::int[], $11::text[])`,
})

const inLaneBetween = `queue_id = $1 and need_id = $2 and (priority, enqueued_at, run_id) >= ($3, $4, $5)
  and (priority, enqueued_at, run_id) <= ($6, $7, $8)`
const deleteFromLane = dialects('standing delete from lane', {
  sqlite: `delete from belfry.ready where ${inLaneBetween} and run_id ${inList.numbers('$9').sqlite} returning run_id`,
  postgres: `delete from belfry.ready where ${inLaneBetween} and run_id ${inList.numbers('$9').postgres} returning run_id`,
})

const asideTexts = {
  sqlite: `insert into belfry.aside (run_id, ns, queue_id, need_id, priority, enqueued_at, concurrency_key,
      fence, attempts, releases, deaths, kind, at, reason)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
  postgres: `insert into belfry.aside (run_id, ns, queue_id, need_id, priority, enqueued_at, concurrency_key,
      fence, attempts, releases, deaths, kind, at, reason)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::text[],
      $8::int[], $9::int[], $10::int[], $11::int[], $12::text[], $13::bigint[], $14::text[])`,
}
/** Those who wait for an instant are apart from all others, because somebody may have to wake sooner for them. */
export const insertWaiting = dialects('standing insert waiting', asideTexts)
const insertAside = dialects('standing insert aside', asideTexts)

const deleteAside = dialects('standing delete aside', {
  sqlite: `delete from belfry.aside where run_id = $1 returning ${columnsOf('aside')}`,
  postgres: `delete from belfry.aside where run_id = any ($1::bigint[]) returning ${columnsOf('aside')}`,
})

export function* putInLine(standings: readonly Standing[]): Step<void> {
  yield* runEach(
    insertReady,
    standings.map((run) => [
      run.queueId,
      run.needId,
      run.priority,
      run.enqueuedAt,
      run.runId,
      run.ns,
      run.fence,
      run.attempts,
      run.releases,
      run.deaths,
      run.key,
    ]),
  )
}

/** Takes runs out of line. Those that another step has taken meanwhile are not among the answer. */
export function* takeFromLine(standings: readonly Standing[]): Step<number[]> {
  const taken: number[] = []
  for (const lane of stretches(standings)) {
    const rows = yield* all<{ run_id: number }>(deleteFromLane, ...lane.between, JSON.stringify(lane.runIds))
    for (const row of rows) taken.push(row.run_id)
  }
  return taken
}

/** The part of a lane that holds all the given runs of that lane. */
export interface Stretch {
  /** Queue and need, then the first and the last place. */
  readonly between: readonly number[]
  readonly runIds: readonly number[]
}

type LinePlace = Pick<Standing, 'queueId' | 'needId' | 'priority' | 'enqueuedAt' | 'runId'>

/** Runs by lane. Whoever names a stretch and a list touches only that stretch of the index, whatever its length. */
export function stretches(places: readonly LinePlace[]): Stretch[] {
  const lanes: LinePlace[][] = []
  for (const place of places.toSorted((a, b) => byLane(a, b) || byPlace(a, b))) {
    const lane = lanes.at(-1)
    if (lane?.[0] === undefined || byLane(lane[0], place) !== 0) lanes.push([place])
    else lane.push(place)
  }
  return lanes.map((lane) => {
    const [first, last] = [lane[0] as LinePlace, lane.at(-1) as LinePlace]
    const ends = [first, last].flatMap(({ priority, enqueuedAt, runId }) => [priority, enqueuedAt, runId])
    return { between: [first.queueId, first.needId, ...ends], runIds: lane.map(({ runId }) => runId) }
  })
}

function byLane(a: LinePlace, b: LinePlace): number {
  return a.queueId - b.queueId || a.needId - b.needId
}

/** Queue order, as `core/plan.ts` has it: ids grow as their texts do. */
export function byPlace(a: LinePlace, b: LinePlace): number {
  return a.priority - b.priority || a.enqueuedAt - b.enqueuedAt || a.runId - b.runId
}

export function* setAside(asides: readonly Aside[]): Step<void> {
  const isWaiting = ({ kind }: Aside) => kind === 'waiting'
  yield* runEach(insertWaiting, asides.filter(isWaiting).map(asideTuple))
  yield* runEach(insertAside, asides.filter((aside) => !isWaiting(aside)).map(asideTuple))
}

function asideTuple({ standing: run, kind, at, reason }: Aside) {
  return [
    run.runId,
    run.ns,
    run.queueId,
    run.needId,
    run.priority,
    run.enqueuedAt,
    run.key,
    run.fence,
    run.attempts,
    run.releases,
    run.deaths,
    kind,
    at,
    reason,
  ]
}

export function* takeFromAside(runIds: readonly number[]): Step<Aside[]> {
  const rows = yield* each(
    deleteAside,
    runIds.map((id) => [id]),
  )
  return rows.map(asideOf)
}

export function standingOf(row: Row): Standing {
  return {
    runId: row.run_id as number,
    ns: row.ns as number,
    queueId: row.queue_id as number,
    needId: row.need_id as number,
    priority: row.priority as number,
    enqueuedAt: row.enqueued_at as number,
    key: row.concurrency_key as string | null,
    fence: row.fence as number,
    attempts: row.attempts as number,
    releases: row.releases as number,
    deaths: row.deaths as number,
  }
}

export function asideOf(row: Row): Aside {
  return {
    standing: standingOf(row),
    kind: row.kind as AsideKind,
    at: row.at as number,
    reason: row.reason as string | null,
  }
}
