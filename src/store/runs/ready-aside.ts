import { all, both, dialects, each, type Row, runEach, type Step } from '../statement.ts'
import type { RowOf } from '../table-codec.ts'
import { columnsOf, tables } from '../tables.ts'

/** Where a live run stands in its queue, with the counts it carries from place to place. */
export type ReadyRow = RowOf<typeof tables.ready>

/**
 * Why a run is aside: `waiting` for an instant, behind a full `key`, behind a run of its schedule (`overlap`), `held` by its
 * schedule's pause, or `parked`.
 */
export type AsideKind = 'waiting' | 'key' | 'overlap' | 'held' | 'parked'

/** The parked reason of a missed one-shot: a person decides about the run, and retention never removes it. */
export const missedReason = 'missed'

export interface Aside {
  readonly standing: ReadyRow
  readonly kind: AsideKind
  /** The earliest instant at which the run may start; for a parked run, when it was parked. */
  readonly at: number
  readonly reason: string | null
}

export const insertReady = dialects('standing insert ready', tables.ready.insert())

const inLaneBetween = `queue_id = $1 and need_id = $2 and (priority, enqueued_at, run_id) >= ($3, $4, $5)
  and (priority, enqueued_at, run_id) <= ($6, $7, $8)`
const deleteFromLane = both(
  'standing delete from lane',
  ({ numbers }) => `delete from belfry.ready where ${inLaneBetween} and run_id ${numbers('$9')} returning run_id`,
)

/** Waiting runs have their own statement, because a sleeping worker may have to wake sooner for them. */
export const insertWaiting = dialects('standing insert waiting', tables.aside.insert())
const insertAside = dialects('standing insert aside', tables.aside.insert())

const deleteAside = dialects('standing delete aside', {
  sqlite: `delete from belfry.aside where run_id = $1 returning ${columnsOf('aside')}`,
  postgres: `delete from belfry.aside where run_id = any ($1::bigint[]) returning ${columnsOf('aside')}`,
})

export function* putInLine(standings: readonly ReadyRow[]): Step<void> {
  yield* runEach(
    insertReady,
    standings.map((standing) => tables.ready.tuple(standing)),
  )
}

/** Takes runs out of line. Returns those that no other step has taken meanwhile. */
export function* takeFromLine(standings: readonly ReadyRow[]): Step<number[]> {
  const taken: number[] = []
  for (const lane of stretches(standings)) {
    const rows = yield* all<{ run_id: number }>(deleteFromLane, ...lane.between, JSON.stringify(lane.runIds))
    for (const row of rows) taken.push(row.run_id)
  }
  return taken
}

/** The part of a lane that holds all the given runs of that lane. */
export interface Stretch {
  /** Queue and need, then the first and the last position. */
  readonly between: readonly number[]
  readonly runIds: readonly number[]
}

type LinePlace = Pick<ReadyRow, 'queueId' | 'needId' | 'priority' | 'enqueuedAt' | 'runId'>

/**
 * Runs by lane. A statement with a stretch and a list reads only that stretch of the index, whatever the length of
 * the lane.
 */
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

/** Queue order, as in `core/queue/plan-leases.ts`: ids sort as their texts do. */
export function byPlace(a: LinePlace, b: LinePlace): number {
  return a.priority - b.priority || a.enqueuedAt - b.enqueuedAt || a.runId - b.runId
}

export function* setAside(asides: readonly Aside[]): Step<void> {
  const isWaiting = ({ kind }: Aside) => kind === 'waiting'
  yield* runEach(insertWaiting, asides.filter(isWaiting).map(asideTuple))
  yield* runEach(insertAside, asides.filter((aside) => !isWaiting(aside)).map(asideTuple))
}

function asideTuple({ standing, ...aside }: Aside) {
  return tables.aside.tuple({ ...standing, ...aside })
}

export function* takeFromAside(runIds: readonly number[]): Step<Aside[]> {
  const rows = yield* each(
    deleteAside,
    runIds.map((id) => [id]),
  )
  return rows.map(asideOf)
}

export function readyRowOf(row: Row): ReadyRow {
  return tables.ready.read(row)
}

const whyAside = tables.aside.only('kind', 'at', 'reason')

export function asideOf(row: Row): Aside {
  return { standing: readyRowOf(row), ...whyAside.read(row) }
}
