import { canBeName, checkInteger, invalid } from '../check.ts'
import { scheduleColumns, scheduleRowOf } from '../schedules/schedule-row.ts'
import { all, dialects, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { ScheduleView } from '../views.ts'
import { scheduleViewOf } from './find-schedule.ts'

/** Which schedules are listed. All given conditions must hold. */
export interface ScheduleFilter {
  readonly group?: string | undefined
  readonly tag?: string | undefined
  /** With failures in a row. */
  readonly failing?: boolean | undefined
  /** With a hint. */
  readonly hinted?: boolean | undefined
  /** Paused by themselves or by their group. */
  readonly paused?: boolean | undefined
  /** Also those that are paused without end. */
  readonly all?: boolean | undefined
}

const heldByGroup = `(select 1 from belfry.hold h where h.ns = s.ns and h.scope = 'schedule' and h.subject = s.name
  and h.reason = 'group-paused' and h.until_at > $3 limit 1) is not null`
const conditions = (tagged: string) => `s.ns = $1 and s.name > $2 and s.deleted_at is null
  and (cast($4 as int) = 0 or s.failure_count > 0) and (cast($5 as int) = 0 or s.hints <> '{}')
  and (cast($6 as int) = 0 or s.disabled_at is not null or s.paused_until > $3 or ${heldByGroup})
  and (cast($7 as int) = 1 or s.disabled_at is null) and (cast($8 as text) is null or ${tagged})`
const tags = {
  sqlite: `exists (select 1 from json_each(s.spec, '$.options.tags') t where t.value = $8)`,
  postgres: `exists (select 1 from json_array_elements_text(s.spec::json -> 'options' -> 'tags') t where t = $8)`,
}
const found = (tagged: string, more: string) =>
  `select ${scheduleColumns('s')} from belfry.schedule s where ${conditions(tagged)} ${more} order by s.name limit $9`
const findAll = dialects('schedules where', { sqlite: found(tags.sqlite, ''), postgres: found(tags.postgres, '') })
const ofGroup = 'and s.group_name = $10'
const findOfGroup = dialects('schedules of group where', {
  sqlite: found(tags.sqlite, ofGroup),
  postgres: found(tags.postgres, ofGroup),
})

const pageMax = 1_000

/** The schedules that match a filter, after a name and in the order of names. */
export function* schedulesWhere(
  { ns }: StoreContext,
  { after = '', limit = 100, ...filter }: ScheduleFilter & { readonly after?: string; readonly limit?: number },
): Step<ScheduleView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  if (!canBeName(after)) throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a schedule')
  const { group, tag = null, failing, hinted, paused, all: isWhole } = filter
  const flags = [failing, hinted, paused, isWhole === true || paused === true].map((flag) => (flag === true ? 1 : 0))
  const given = [ns, after, storeClock, ...flags, tag, limit] as const
  const rows = group === undefined ? yield* all(findAll, ...given) : yield* all(findOfGroup, ...given, group)
  return rows.map((row) => scheduleViewOf(scheduleRowOf(row)))
}
