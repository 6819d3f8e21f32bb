import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { Ends, MovedSchedule } from '../../../store/runs/end-hooks.ts'
import { all, both, clockNow, dialects, one, run, runEach, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** When a planner looks at a schedule next, and the result of its last look. */
export interface LookRow {
  readonly scheduleId: number
  readonly lookAt: number
  readonly lookedAt: number | null
  /** How many looks have failed in a row. */
  readonly fails: number
  readonly verdict: string | null
}

const columns = 'schedule_id as "scheduleId", look_at as "lookAt", looked_at as "lookedAt", fails, verdict'
const find = both('look find', `select ${columns} from belfry.planner_look where schedule_id = $1`)
const findDue = both(
  'look find due',
  `select ${columns} from belfry.planner_look where ns = $1 and look_at <= $2 order by look_at limit $3`,
)
const sooner = both(
  'look sooner',
  'update belfry.planner_look set look_at = $2 where schedule_id = $1 and look_at > $2',
)
const soonerEach = dialects('look sooner after failures', {
  sqlite: 'update belfry.planner_look set look_at = $2 where schedule_id = $1 and look_at > $2',
  postgres: `update belfry.planner_look l set look_at = i.look_at from unnest($1::bigint[], $2::bigint[]) as i (schedule_id, look_at)
    where l.schedule_id = i.schedule_id and l.look_at > i.look_at`,
})
const save = both(
  'look save',
  `insert into belfry.planner_look (schedule_id, ns, look_at, looked_at, fails, verdict) values ($1, $2, $3, $4, $5, $6)
    on conflict (schedule_id) do update set look_at = excluded.look_at, looked_at = excluded.looked_at,
      fails = excluded.fails, verdict = excluded.verdict`,
)
const allow = both(
  'look allow',
  `update belfry.planner_look set look_at = $3 where look_at > $3 and verdict = 'off' and schedule_id =
    (select id from belfry.schedule where ns = $1 and name = $2 and deleted_at is null)`,
)
const remove = both('look remove', 'delete from belfry.planner_look where schedule_id = $1')
const findNew = both(
  'look find new',
  'select id from belfry.schedule where ns = $1 and id > $2 and deleted_at is null order by id limit $3',
)
const enrol = dialects('look enrol', {
  sqlite: `insert into belfry.planner_look (schedule_id, ns, look_at, fails) values ($1, $2, $3, 0) on conflict (schedule_id) do nothing`,
  postgres: `insert into belfry.planner_look (schedule_id, ns, look_at, fails)
    select i.schedule_id, i.ns, i.look_at, 0 from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as i (schedule_id, ns, look_at)
    on conflict (schedule_id) do nothing`,
})
const setEnrolled = both('look set enrolled', 'update belfry.planner set enrolled_to = $2 where ns = $1')

export function* findLook(scheduleId: number): Step<LookRow | null> {
  return (yield* one<LookRow>(find, scheduleId)) ?? null
}

/** The due looks, the longest overdue first. This reads only the due rows, through an index, even with very many schedules. */
export function* dueLooks({ ns }: StoreContext, now: number, limit: number): Step<LookRow[]> {
  return yield* all<LookRow>(findDue, ns, now, limit)
}

export function* saveLook(ns: number, { scheduleId, lookAt, lookedAt, fails, verdict }: LookRow): Step<void> {
  yield* run(save, scheduleId, ns, Math.round(lookAt), lookedAt, fails, verdict)
}

export function* removeLook(scheduleId: number): Step<void> {
  yield* run(remove, scheduleId)
}

export function* lookSooner(scheduleId: number, at: number): Step<void> {
  yield* run(sooner, scheduleId, Math.round(at))
}

/** Plans a look soon for a schedule whose autonomy was off, in the transaction that writes the schedule. */
export function* lookWhenAllowed({ ns }: StoreContext, written: object): Step<void> {
  const { name, autonomy = 'off' } = written as Partial<ScheduleSpec>
  if (name !== undefined && autonomy !== 'off') yield* run(allow, ns, name, yield* clockNow())
}

/** Plans a look at once for a schedule whose failure count has grown: its run failed, or parked after its last attempt. */
export function* lookAfterFailures(_: StoreContext, { now, ends, schedules }: Ends<MovedSchedule>): Step<void> {
  const failed = new Set<number>()
  for (const { scheduleId, runId } of ends) {
    const moved = scheduleId === null ? undefined : schedules.get(scheduleId)
    if (moved !== undefined && (moved.failures.get(runId) ?? 0) > moved.before.failureCount) failed.add(moved.before.id)
  }
  yield* runEach(
    soonerEach,
    [...failed].map((id) => [id, now]),
  )
}

const enrolMax = 1_000

/** Enrols schedules that were created since the last call, up to a limit. Ids ascend, so only new schedules are read. */
export function* enrolSchedules({ ns }: StoreContext, now: number, enrolledTo: number): Step<number> {
  const rows = yield* all<{ id: number }>(findNew, ns, enrolledTo, enrolMax)
  const last = rows.at(-1)
  if (last === undefined) return 0
  yield* runEach(
    enrol,
    rows.map(({ id }) => [id, ns, now]),
  )
  yield* run(setEnrolled, ns, last.id)
  return rows.length
}
