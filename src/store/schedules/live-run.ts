import type { LiveScheduleRun } from '../../core/schedule/state.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { admit } from '../runs/admit.ts'
import { takeFromAside } from '../runs/ready-aside.ts'
import { all, dialects, each, type Joins, plainJoins, probes, runEach, type Step, thereIs } from '../statement.ts'
import { columnsOf, tables } from '../tables.ts'

/** A live run of a schedule, for the overlap rule. */
export interface LiveRunRow extends LiveScheduleRun {
  readonly scheduleId: number
}

const insertLive = dialects('live insert', tables.schedule_run.insert())
/**
 * A run belongs to one schedule. PostgreSQL must find the rows by schedule: with both lists the planner would form many
 * pairs.
 */
const deleteLive = dialects('live delete', {
  sqlite: 'delete from belfry.schedule_run where schedule_id = $1 and run_id = $2',
  postgres: `delete from belfry.schedule_run
    where schedule_id = any ($1::bigint[]) and run_id + 0 = any ($2::bigint[])`,
})
const findBusy = dialects('live find busy', {
  sqlite: `select i.value as id from json_each($1) i
    where ${thereIs('from belfry.schedule_run s where s.schedule_id = i.value')}`,
  postgres: `select i.id from (select json_array_elements_text($1::json)::bigint as id) i
    where ${thereIs('from belfry.schedule_run s where s.schedule_id = i.id')}`,
})
/**
 * The `offset` makes PostgreSQL look up each row: a join that was planned while there were few runs would read all runs from then on.
 */
const findLive = dialects('live find', {
  sqlite: `select s.schedule_id, s.run_id, d.occurrence_at, d.due_at, d.enqueued_at, l.run_id as leased
    from belfry.schedule_run s join belfry.run d on d.id = s.run_id left join belfry.lease l on l.run_id = s.run_id
    where s.schedule_id = $1 order by s.run_id desc limit $2`,
  postgres: `select s.schedule_id, s.run_id, d.occurrence_at, d.due_at, d.enqueued_at, l.run_id as leased
    from unnest($1::bigint[], $2::int[]) as i (schedule_id, most)
    cross join lateral (select ${columnsOf('schedule_run')} from belfry.schedule_run r where r.schedule_id = i.schedule_id
      order by r.run_id desc limit i.most) s
    cross join lateral (select occurrence_at, due_at, enqueued_at from belfry.run where id = s.run_id offset 0) d
    left join lateral (select run_id from belfry.lease where run_id = s.run_id offset 0) l on true`,
})
const atWork = (join: Joins, scheduleId: string) => `from belfry.schedule_run s
  ${join.left('aside a', 'a.run_id = s.run_id')}
  where s.schedule_id = ${scheduleId} and (a.kind is null or a.kind not in ('overlap', 'held'))`
/** A run that is leased or in line keeps the other runs of its schedule waiting; finding one such run is enough. */
const findAtWork = dialects('live find at work', {
  sqlite: `select s.schedule_id ${atWork(plainJoins, '$1')} limit 1`,
  postgres: `select i.id as schedule_id from unnest($1::bigint[]) as i (id) where ${thereIs(atWork(probes, 'i.id'))}`,
})
const firstBehind = (join: Joins, scheduleId: string) => `from belfry.schedule_run s
  ${join.inner('aside a', 'a.run_id = s.run_id')} where s.schedule_id = ${scheduleId} and a.kind = 'overlap'
  order by a.enqueued_at, a.run_id limit 1`
const findFirstBehind = dialects('live find first behind', {
  sqlite: `select f.run_id, q.policy from (select a.run_id, a.queue_id ${firstBehind(plainJoins, '$1')}) f
    join belfry.queue q on q.id = f.queue_id`,
  postgres: `select f.run_id, q.policy from unnest($1::bigint[]) as i (id)
    cross join lateral (select a.run_id, a.queue_id ${firstBehind(probes, 'i.id')}) f
    join belfry.queue q on q.id = f.queue_id`,
})

/** More live runs of one schedule than any overlap rule needs. */
const liveRunsMax = 1_000

export function* listLiveRuns(runs: readonly { ns: number; scheduleId: number; id: number }[]): Step<void> {
  yield* runEach(
    insertLive,
    runs.map(({ ns, scheduleId, id }) => [ns, scheduleId, id]),
  )
}

export function* forgetLiveRuns(runs: readonly { scheduleId: number; runId: number }[]): Step<void> {
  yield* runEach(
    deleteLive,
    runs.map(({ scheduleId, runId }) => [scheduleId, runId]),
  )
}

/** The newest live runs of each schedule, oldest first. */
export function* liveRunsOf(scheduleIds: readonly number[]): Step<Map<number, LiveRunRow[]>> {
  const found = new Map<number, LiveRunRow[]>(scheduleIds.map((id) => [id, []]))
  if (scheduleIds.length === 0) return found
  // Most due or just ended schedules have no live run, and one query finds the few that have.
  const busy = yield* all<{ id: number }>(findBusy, JSON.stringify(scheduleIds))
  const rows = yield* each(
    findLive,
    busy.map(({ id }) => [id, liveRunsMax]),
  )
  for (const row of rows) {
    const run = {
      runId: row.run_id as number,
      scheduleId: row.schedule_id as number,
      occurrenceAt: row.occurrence_at as number | null,
      dueAt: row.due_at as number | null,
      enqueuedAt: row.enqueued_at as number,
      isLeased: row.leased !== null,
    }
    found.get(run.scheduleId)?.push(run)
  }
  for (const runs of found.values()) runs.sort((a, b) => a.runId - b.runId)
  return found
}

/** The schedules with a run that is leased or in line, so that the runs behind it keep waiting. */
export function* schedulesAtWork(scheduleIds: readonly number[]): Step<Set<number>> {
  const rows = yield* each<{ schedule_id: number }>(
    findAtWork,
    scheduleIds.map((id) => [id]),
  )
  return new Set(rows.map((row) => row.schedule_id))
}

/**
 * Lets the next run of a schedule start once none of its runs is leased or in line any more. Returns the runs that may
 * start. Only the oldest waiting run may; the others now wait for it.
 */
export function* openOverlapGates(now: number, scheduleIds: readonly number[]): Step<number[]> {
  const atWork = yield* schedulesAtWork(scheduleIds)
  const rows = yield* each<{ run_id: number; policy: string }>(
    findFirstBehind,
    scheduleIds.filter((id) => !atWork.has(id)).map((id) => [id]),
  )
  if (rows.length === 0) return []
  const limits = new Map(rows.map((row) => [row.run_id, readPolicy(row.policy)?.maxConcurrentPerKey ?? null]))
  const freed = yield* takeFromAside([...limits.keys()])
  yield* admit(
    now,
    freed.map(({ standing, at, reason }) => ({
      standing,
      eligible: { at, reason: reason ?? 'not-before' },
      kept: null,
      keyLimit: limits.get(standing.runId) ?? null,
    })),
  )
  return freed.map(({ standing }) => standing.runId)
}
