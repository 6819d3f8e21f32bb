import { canBeName } from '../check.ts'
import { all, both, clockNow, type Joins, one, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { Counted, QueueStats } from '../views.ts'

const findQueue = both(
  'stats find queue',
  'select id from belfry.queue where ns = $1 and name = $2 and deleted_at is null',
)
const countLeases = both('stats count leases', 'select count(*) as count from belfry.lease where queue_id = $1')

/** A line may hold a million runs, and an exact count is not needed. */
const countMax = 10_000

function counting(name: string, from: string | ((join: Joins) => string)) {
  const fromOf = typeof from === 'string' ? () => from : from
  return both(
    `stats count ${name}`,
    ({ join }) => `select count(*) as count from (select 1 as one ${fromOf(join)} limit ${countMax + 1}) c`,
  )
}

const countInLine = counting('in line', 'from belfry.ready where queue_id = $1')
const countWaiting = counting('waiting', `from belfry.aside where kind = 'waiting' and queue_id = $1`)
const countGated = counting('gated', `from belfry.aside where kind = 'key' and queue_id = $1`)
const countParked = counting('parked', `from belfry.aside where kind = 'parked' and queue_id = $1`)
/** Only runs of schedules are held or overlap, so they are found through the live runs of the schedules. */
const kept = (kind: string) => (join: Joins) =>
  `from belfry.schedule_run s
  ${join.inner('aside a', 'a.run_id = s.run_id')} where s.ns = $2 and a.queue_id = $1 and a.kind = '${kind}'`
const countHeld = counting('held', kept('held'))
const countOverlap = counting('overlap', kept('overlap'))
const countEnded = counting(
  'ended',
  'from belfry.attempt where queue_id = $1 and ends = $2 and ended_at > $3 and ends is not null',
)
const findParked = both(
  'stats parked by reason',
  `select reason, count(*) as count from (
      select coalesce(reason, 'unknown') as reason from belfry.aside where kind = 'parked' and queue_id = $1
      order by at desc, run_id desc limit ${countMax}) p
    group by reason order by count(*) desc, reason limit 20`,
)
/** The first run of a lane and a priority is its oldest, so the runs behind it need not be read. */
const nextOldest = both(
  'stats next oldest',
  `select need_id, priority, enqueued_at from belfry.ready where queue_id = $1 and (need_id, priority) > ($2, $3)
    order by need_id, priority, enqueued_at limit 1`,
)

const prioritiesMax = 50
const throughputMs = 60_000
const ends = ['completed', 'failed', 'cancelled', 'skipped'] as const

/** The number of runs in a queue, how long its oldest run has been in line, and what ended lately. */
export function* queueStats(context: StoreContext, name: string): Step<QueueStats | null> {
  const found = canBeName(name) ? yield* one<{ id: number }>(findQueue, context.ns, name) : undefined
  if (found === undefined) return null
  const { id } = found
  const now = yield* clockNow()
  const ended: Record<string, Counted> = {}
  for (const end of ends) ended[end] = countedIn(yield* all(countEnded, id, end, now - throughputMs))
  return {
    now,
    inFlight: (yield* one<{ count: number }>(countLeases, id))?.count ?? 0,
    inLine: countedIn(yield* all(countInLine, id)),
    waiting: countedIn(yield* all(countWaiting, id)),
    behindKey: countedIn(yield* all(countGated, id)),
    behindRun: countedIn(yield* all(countOverlap, id, context.ns)),
    held: countedIn(yield* all(countHeld, id, context.ns)),
    parked: countedIn(yield* all(countParked, id)),
    ...(yield* oldestInLine(id)),
    ended: ended as QueueStats['ended'],
    parkedByReason: (yield* all(findParked, id)).map((row) => ({
      reason: row.reason as string,
      count: row.count as number,
    })),
  }
}

function* oldestInLine(queueId: number): Step<Pick<QueueStats, 'oldestInLineAt' | 'oldestInLineIsAtLeast'>> {
  let oldestAt: number | null = null
  let place: readonly [number, number] = [0, 0]
  for (let looks = 0; ; looks++) {
    const next = yield* one<{ need_id: number; priority: number; enqueued_at: number }>(nextOldest, queueId, ...place)
    if (next === undefined) return { oldestInLineAt: oldestAt, oldestInLineIsAtLeast: false }
    if (looks === prioritiesMax) return { oldestInLineAt: oldestAt, oldestInLineIsAtLeast: true }
    oldestAt = Math.min(next.enqueued_at, oldestAt ?? next.enqueued_at)
    place = [next.need_id, next.priority]
  }
}

function countedIn(rows: readonly Row[]): Counted {
  const count = (rows[0]?.count ?? 0) as number
  return { count: Math.min(count, countMax), countIsAtLeast: count > countMax }
}
