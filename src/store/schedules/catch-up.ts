import { formatId } from '../../core/id.ts'
import { catchUpOf } from '../../core/schedule/state.ts'
import type { Fire, Turn as TurnOf } from '../../core/schedule/turn.ts'
import { merelyLateMs } from '../../core/timing/missed.ts'
import { type CatchUpConfig, catchUpShareMs, caughtUpAt } from '../../core/timing/spread.ts'
import { all, both, dialects, each, probes, type Step } from '../statement.ts'
import type { ScheduleRow } from './schedule-row.ts'

type Turn = TurnOf<ScheduleRow>

/**
 * Schedules that no step has fired yet: other workers hold them, or the next step takes them. One read serves all
 * queues.
 */
const countOverdue = both(
  'catch up count overdue',
  ({ numbers }) => `select s.queue_id, count(*) as count from belfry.schedule s
    where s.wake_at <= $2 and s.wake_at is not null and s.queue_id ${numbers('$1')} group by s.queue_id`,
)
/** A run of an occurrence has a `not_before` only where it has a share of a catch-up. */
const isShare = 'd.occurrence_at is not null and d.not_before = a.at'
/** Retries wait for an instant too. This bounds the runs read per queue, so that many retries do not slow a step. */
const looksMax = 500
const findWaiting = dialects('catch up find waiting', {
  sqlite: `select $1 as queue_id from (select run_id, at from belfry.aside
      where kind = 'waiting' and queue_id = $1 and at > $2 and at <= $3 order by at, run_id limit ${looksMax}) a
    cross join belfry.run d on d.id = a.run_id where ${isShare} limit 1`,
  postgres: `select i.queue_id from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as i (queue_id, since, until)
    cross join lateral (select a.run_id from (select run_id, at from belfry.aside
        where kind = 'waiting' and queue_id = i.queue_id and at > i.since and at <= i.until
        order by at, run_id limit ${looksMax}) a
      ${probes.inner('run d', 'd.id = a.run_id')} where ${isShare} limit 1) w`,
})

/**
 * Spreads the missed occurrences of each queue over 30 s, if there are more than three over all its schedules, or as the settings of its
 * namespace say: otherwise all of them would start at once. Concurrent steps of other workers count each other's occurrences of the same
 * queue: those still due, and those that wait for their spread instant.
 */
export function* spreadCatchUp(now: number, turns: readonly Turn[]): Step<Turn[]> {
  const missed = new Map<number, Turn[]>()
  for (const turn of turns) {
    if (!turn.fires.some(({ isMissed }) => isMissed)) continue
    const own = missed.get(turn.row.queueId)
    if (own === undefined) missed.set(turn.row.queueId, [turn])
    else own.push(turn)
  }
  const isSpread = yield* stampedes(now, missed)
  return turns.map((turn) => (isSpread.has(turn.row.queueId) ? withShares(turn, now) : turn))
}

/** The queues with too many missed occurrences. Queues whose numbers this step already knows are not read. */
function* stampedes(now: number, missed: ReadonlyMap<number, readonly Turn[]>): Step<Set<number>> {
  const counts = new Map([...missed].map(([queueId, own]) => [queueId, missedCount(own)]))
  const configs = new Map([...missed].map(([queueId, [first]]) => [queueId, catchUpOf((first as Turn).row)]))
  const configOf = (queueId: number) => configs.get(queueId) as CatchUpConfig
  const isSpread = new Set<number>()
  const sift = (): number[] => {
    for (const [queueId, count] of counts) if (count >= configOf(queueId).catchUpMin) isSpread.add(queueId)
    return [...counts.keys()].filter((queueId) => !isSpread.has(queueId))
  }
  const few = sift()
  if (few.length === 0) return isSpread
  const before = now - merelyLateMs
  const overdue = yield* all<{ queue_id: number; count: number }>(countOverdue, JSON.stringify(few), before)
  for (const { queue_id: id, count } of overdue) {
    const own = (missed.get(id) ?? []).filter(({ row }) => (row.knownWakeAt ?? now) <= before).length
    counts.set(id, (counts.get(id) ?? 0) + count - own)
  }
  const tuples = sift().map((queueId) => [queueId, now, now + configOf(queueId).catchUpMs])
  for (const { queue_id: id } of yield* each<{ queue_id: number }>(findWaiting, tuples)) isSpread.add(id)
  return isSpread
}

function missedCount(turns: readonly Turn[]): number {
  return turns.reduce((sum, { fires }) => sum + fires.filter(({ isMissed }) => isMissed).length, 0)
}

function withShares(turn: Turn, now: number): Turn {
  const config = catchUpOf(turn.row)
  const id = formatId('schedule', turn.row.id)
  return { ...turn, fires: turn.fires.map((fire) => (fire.isMissed ? withShare(fire, id, now, config) : fire)) }
}

function withShare(fire: Fire, id: string, now: number, config: CatchUpConfig): Fire {
  const shareMs = catchUpShareMs({ id, plannedAt: fire.plannedAt, config })
  const at = caughtUpAt({ now, shareMs, lateAfter: fire.lateAfter ?? Number.POSITIVE_INFINITY, config })
  return { ...fire, notBefore: at > now ? at : null }
}
