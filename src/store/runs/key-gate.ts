import { holdOn } from '../holds/hold-row.ts'
import { all, both, clockOr, dialects, one, run, type Step, storeClock, thereIs } from '../statement.ts'
import { columnsOf } from '../tables.ts'
import { byPlace, putInLine, readyRowOf, setAside, takeFromLine } from './ready-aside.ts'

/** A concurrency key of one queue, with the number of its runs that may be in flight at once. */
export interface Gate {
  readonly ns: number
  readonly queueId: number
  readonly key: string
  /** `null` where the queue has no such ceiling: all runs may pass. */
  readonly limit: number | null
}

// Every step that moves runs of a key between the line and its gate holds this lock. Without it a run could be set behind the
// gate at the moment when the last run of the key ends and finds no run to let through. SQLite has one writer at a time anyhow.
const lockGate = dialects('gate lock', {
  sqlite: null,
  postgres: `select pg_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`,
})
const tryLock = dialects('gate try lock', {
  sqlite: 'select 1 as got where $1 = $1 and $2 = $2',
  postgres: `select 1 as got where pg_try_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`,
})
const countInFlight = both(
  'gate in flight',
  'select count(*) as in_flight from belfry.lease where queue_id = $1 and concurrency_key = $2',
)
/** One probe per lane: a count or a `distinct` would read every run behind the gate. */
const lanesAt = (now: string) => `select n.id as need_id, ${holdOn('key', '$3', { now })} as held_by
  from belfry.need n where n.ns = $1 and (
    ${thereIs(`from belfry.aside a
      where a.kind = 'key' and a.queue_id = $2 and a.concurrency_key = $3 and a.need_id = n.id`)}
    or ${thereIs('from belfry.ready r where r.queue_id = $2 and r.concurrency_key = $3 and r.need_id = n.id')})`
const lanesOfKey = dialects('gate lanes', { sqlite: lanesAt('$4'), postgres: lanesAt(`(select ${clockOr('$4')})`) })
/**
 * SQLite would rather scan the whole lane, whose primary key has the wanted order, than read the few runs of the key by
 * their index.
 */
const inLine = dialects('gate in line', {
  sqlite: `select ${columnsOf('ready')} from belfry.ready indexed by ready_key
    where queue_id = $1 and concurrency_key = $2 and need_id = $3 order by priority, enqueued_at, run_id limit $4`,
  postgres: `select ${columnsOf('ready')} from belfry.ready where queue_id = $1 and concurrency_key = $2 and need_id = $3
    order by priority, enqueued_at, run_id limit $4`,
})
const behind = both(
  'gate behind',
  `select ${columnsOf('aside')} from belfry.aside where kind = 'key' and queue_id = $1 and concurrency_key = $2 and need_id = $3
    order by priority, enqueued_at, run_id limit $4`,
)

/** The rows are found by run id, which is the last column of the index of all runs behind gates. */
const takeGated = both(
  'gate take gated',
  ({ numbers }) => `delete from belfry.aside where run_id ${numbers('$1')} and coalesce(kind, '') = 'key'
    returning ${columnsOf('aside')}`,
)

/** The runs of one lane that one call moves. */
export const movesMax = 500

/**
 * Waits for the locks of gates, always in the same order. Only steps that take a run of the key from its place wait: they must be
 * sure that the next run is let through.
 */
export function* lockGates(gates: Iterable<Gate>): Step<void> {
  for (const { queueId, key } of [...gates].sort(byName)) yield* run(lockGate, queueId, key)
}

/** Takes the locks that are free and never waits: leases, enqueues and reads must not wait at a gate. */
export function* tryLockGate(gate: Pick<Gate, 'queueId' | 'key'>): Step<boolean> {
  return (yield* one(tryLock, gate.queueId, gate.key)) !== undefined
}

/** Runs `regateLocked` unless another transaction holds the gate. Returns how many runs were moved. */
export function* tryRegate(gate: Gate): Step<number> {
  return (yield* tryLockGate(gate)) ? yield* regateLocked(gate) : 0
}

/**
 * Makes the line agree with the free slots of a key: in each lane as many of the best-ranked runs are in line as could start
 * now, and all others are behind the gate. So the line never holds more than a few runs of any key, and a lease never reads
 * through runs that cannot start. A held key has no free slot. The caller has locked the gate.
 *
 * Lanes are separate because a worker that can execute one kind of work must not wait for a run that only another worker can
 * execute.
 */
export function* regateLocked(gate: Gate): Step<number> {
  const lanes = yield* all<LaneOfKey>(lanesOfKey, gate.ns, gate.queueId, gate.key, storeClock)
  const [first] = lanes
  if (first === undefined) return 0
  const room = first.held_by === null ? yield* roomOf(gate) : 0
  let moves = 0
  for (const { need_id: needId } of lanes) moves += yield* regateLane(gate, needId, room)
  return moves
}

interface LaneOfKey {
  readonly need_id: number
  /** The hold on the key: while there is one, the gate is closed. */
  readonly held_by: number | null
}

function* roomOf({ queueId, key, limit }: Gate): Step<number> {
  if (limit === null) return Number.POSITIVE_INFINITY
  const row = yield* one<{ in_flight: number }>(countInFlight, queueId, key)
  return Math.max(0, limit - (row?.in_flight ?? 0))
}

function* regateLane({ queueId, key }: Gate, needId: number, room: number): Step<number> {
  const line = (yield* all(inLine, queueId, key, needId, movesMax)).map(readyRowOf)
  const gated = (yield* all(behind, queueId, key, needId, Math.min(room, movesMax))).map(readyRowOf)
  const best = [...line, ...gated].sort(byPlace).slice(0, room)
  const chosen = new Set(best.map((run) => run.runId))
  const leaving = line.filter((run) => !chosen.has(run.runId))
  const entering = gated.filter((run) => chosen.has(run.runId))

  const left = new Set(yield* takeFromLine(leaving))
  const moved = leaving.filter((run) => left.has(run.runId))
  yield* setAside(moved.map((standing) => ({ standing, kind: 'key', at: standing.enqueuedAt, reason: key })))
  if (entering.length === 0) return moved.length
  const entered = yield* all(takeGated, JSON.stringify(entering.map((run) => run.runId)))
  yield* putInLine(entered.map(readyRowOf))
  return moved.length + entered.length
}

function byName(a: Gate, b: Gate): number {
  return a.queueId - b.queueId || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
}
