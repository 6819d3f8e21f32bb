import { planned } from '../../core/schedule/next-plan.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import { isWorkable } from '../../core/schedule/workable.ts'
import { canonicalJson, checkInteger } from '../check.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { liveRunsOf } from '../schedules/live-run.ts'
import { lockSchedules, type ScheduleRow, saveSchedules } from '../schedules/schedule-row.ts'
import { all, both, clockNow, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { calendarsFound } from './named-calendars.ts'
import { calendarsOfNamespace, usesOf } from './use-calendars.ts'

const findAsking = both(
  'calendar asking find',
  'select change, after_id, is_all from belfry.calendar_asking where ns = $1',
)
const findNext = both(
  'calendar asking find schedules',
  `select id from belfry.schedule where ns = $1 and id > $2 and deleted_at is null and (calendars is not null or $3 = 1)
    order by id limit $4`,
)
const findPolicies = both(
  'calendar asking find policies',
  ({ numbers }) => `select id, policy from belfry.queue where id ${numbers('$1')}`,
)
const saveCalendars = both('calendar asking save', 'update belfry.schedule set calendars = $2 where id = $1')
/** Does not overwrite the place if another change has set it back to the beginning meanwhile. */
const goOn = both(
  'calendar asking go on',
  'update belfry.calendar_asking set after_id = $3 where ns = $1 and change = $2 and after_id = $4',
)
const finish = both('calendar asking finish', 'delete from belfry.calendar_asking where ns = $1 and change = $2')

export interface AskedAgain {
  /** How many schedules had other hours than before. */
  readonly changed: number
  readonly more: boolean
}

/**
 * Gives a page of schedules the current hours of their calendars, and asks the governor about the schedules whose hours have
 * changed. The place is stored, so that the next step continues there, after a crash too.
 */
export function* askAgain(context: StoreContext, { limit }: { readonly limit: number }): Step<AskedAgain> {
  checkInteger(limit, 'limit', 1, 1_000)
  const asking = yield* one<{ change: number; after_id: number; is_all: number }>(findAsking, context.ns)
  if (asking === undefined) return { changed: 0, more: false }
  const { change, after_id: after, is_all: isAll } = asking
  const ids = (yield* all<{ id: number }>(findNext, context.ns, after, isAll, limit)).map(({ id }) => id)
  const rows = [...(yield* lockSchedules(ids, { wait: true })).values()]
  const changed = yield* askEach(context, rows)
  const last = ids.at(-1)
  if (last === undefined || ids.length < limit) yield* run(finish, context.ns, change)
  else yield* run(goOn, context.ns, change, last, after)
  return { changed, more: ids.length === limit || (yield* one(findAsking, context.ns)) !== undefined }
}

function* askEach(context: StoreContext, rows: readonly ScheduleRow[]): Step<number> {
  if (rows.length === 0) return 0
  const now = yield* clockNow()
  const ofNamespace = yield* calendarsOfNamespace(context)
  const queueIds = JSON.stringify([...new Set(rows.map(({ queueId }) => queueId))])
  const policies = new Map(
    (yield* all<{ id: number; policy: string }>(findPolicies, queueIds)).map(({ id, policy }) => [
      id,
      readPolicy(policy),
    ]),
  )
  const live = yield* liveRunsOf(rows.map(({ id }) => id))
  let changed = 0
  for (const row of rows) {
    const uses = usesOf(row.spec, { policy: policies.get(row.queueId) ?? null }, ofNamespace)
    const calendars = uses.length === 0 ? null : yield* calendarsFound(context, uses)
    if (canonicalJson(calendars) === canonicalJson(row.calendars)) continue
    changed++
    yield* run(saveCalendars, row.id, calendars === null ? null : JSON.stringify(calendars))
    const asked = { ...row, calendars }
    // A schedule that this machine cannot compute is planned when another machine fires it.
    if (!isWorkable(row.spec) || isPaused(row, now)) continue
    yield* saveSchedules([planned(asked, { now, lastRunId: lastRunId(asked, live.get(row.id) ?? []) })])
  }
  return changed
}
