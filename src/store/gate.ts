import { byPlace, putInLine, setAside, standingOf, takeFromAside, takeFromLine } from './standing.ts'
import { all, both, dialects, one, type Step } from './statement.ts'

/** A concurrency key of one queue, with the number of its runs that may be in flight at once. */
export interface Gate {
  readonly ns: number
  readonly queueId: number
  readonly key: string
  /** `null` where the queue has no such ceiling: everybody may pass. */
  readonly limit: number | null
}

// Everybody who moves runs of a key between the line and its gate does so under this lock; without it a run could be set
// behind the gate at the very moment when the last run of the key ends and finds nobody to let through. SQLite has one
// writer at a time anyhow.
const lockGate = dialects('gate lock', {
  sqlite: null,
  postgres: `select pg_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`,
})
const tryLockGate = dialects('gate try lock', {
  sqlite: 'select 1 as got where $1 = $1 and $2 = $2',
  postgres: `select 1 as got where pg_try_advisory_xact_lock(hashtextextended($2, cast($1 as bigint)))`,
})
const countInFlight = both(
  'gate in flight',
  'select count(*) as in_flight from belfry.lease where queue_id = $1 and concurrency_key = $2',
)
/** One probe a lane: a count or a `distinct` would read every run behind the gate. */
const lanesOfKey = both(
  'gate lanes',
  `select n.id as need_id from belfry.need n where n.ns = $1 and (
    exists (select 1 from belfry.aside a
      where a.kind = 'key' and a.queue_id = $2 and a.concurrency_key = $3 and a.need_id = n.id)
    or exists (select 1 from belfry.ready r where r.queue_id = $2 and r.concurrency_key = $3 and r.need_id = n.id))`,
)
/** SQLite would rather walk the whole lane, whose primary key has the wanted order, than read the few runs of the key. */
const inLine = dialects('gate in line', {
  sqlite: `select * from belfry.ready indexed by ready_key
    where queue_id = $1 and concurrency_key = $2 and need_id = $3 order by priority, enqueued_at, run_id limit $4`,
  postgres: `select * from belfry.ready where queue_id = $1 and concurrency_key = $2 and need_id = $3
    order by priority, enqueued_at, run_id limit $4`,
})
const behind = both(
  'gate behind',
  `select * from belfry.aside where kind = 'key' and queue_id = $1 and concurrency_key = $2 and need_id = $3
    order by priority, enqueued_at, run_id limit $4`,
)

const movesMax = 500

/**
 * Brings the line into agreement with the room a key has: in each lane the best-ranked runs stand in line, as many as
 * could go now, and all others stand behind the gate. So the line never holds more than a few runs of any key, and a
 * lease never wades through those that cannot go.
 *
 * Lanes are apart because a worker that can do one kind of work must not wait for a run that only another can do.
 */
export function* regate(gate: Gate): Step<void> {
  yield* one(lockGate, gate.queueId, gate.key)
  yield* regateLocked(gate)
}

/** Does the same unless somebody else is at this gate; a lease never waits for anybody. */
export function* tryRegate(gate: Gate): Step<void> {
  if ((yield* one(tryLockGate, gate.queueId, gate.key)) === undefined) return
  yield* regateLocked(gate)
}

function* regateLocked(gate: Gate): Step<void> {
  const room = yield* roomOf(gate)
  for (const { need_id: needId } of yield* all<{ need_id: number }>(lanesOfKey, gate.ns, gate.queueId, gate.key)) {
    yield* regateLane(gate, needId, room)
  }
}

function* roomOf({ queueId, key, limit }: Gate): Step<number> {
  if (limit === null) return movesMax
  const row = yield* one<{ in_flight: number }>(countInFlight, queueId, key)
  return Math.max(0, limit - (row?.in_flight ?? 0))
}

function* regateLane({ queueId, key }: Gate, needId: number, room: number): Step<void> {
  const line = (yield* all(inLine, queueId, key, needId, movesMax)).map(standingOf)
  const gated = (yield* all(behind, queueId, key, needId, Math.min(room, movesMax))).map(standingOf)
  const best = [...line, ...gated].sort(byPlace).slice(0, room)
  const chosen = new Set(best.map((run) => run.runId))
  const leaving = line.filter((run) => !chosen.has(run.runId))
  const entering = gated.filter((run) => chosen.has(run.runId))

  const left = new Set(yield* takeFromLine(leaving))
  const moved = leaving.filter((run) => left.has(run.runId))
  yield* setAside(moved.map((standing) => ({ standing, kind: 'key', at: standing.enqueuedAt, reason: key })))
  const entered = yield* takeFromAside(entering.map((run) => run.runId))
  yield* putInLine(entered.map((aside) => aside.standing))
}
