import type { GroupPause, GroupSpec } from '../../core/schedule/group.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { scheduleViewOf } from '../reads/find-schedule.ts'
import { scheduleColumns, scheduleRowOf } from '../schedules/schedule-row.ts'
import { all as allRows, both, dialects, one, type Row, type Statement, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { all, big, json, nullable, type RowOf, Table, text } from '../table-codec.ts'
import type { ScheduleView } from '../views.ts'

export const groupTable = new Table('schedule_group', {
  ...all(big, 'id', 'ns', 'createdAt', 'updatedAt'),
  ...all(text, 'name', 'createdBy'),
  spec: json<GroupSpec>(),
  paused: nullable(json<GroupPause>()),
  managedBy: nullable(text),
})
export type GroupRow = RowOf<typeof groupTable>

const columns = groupTable.columns()
const found = `select ${columns} from belfry.schedule_group where ns = $1 and name = $2`
const findNamed = both('group find', found)
/** A write of a group and steps that put schedules into the group wait for each other. */
const lockNamed = dialects('group lock', { sqlite: found, postgres: `${found} for update` })
const lockToJoin = dialects('group lock to join', { sqlite: found, postgres: `${found} for share` })
const findPage = both(
  'group find page',
  `select ${columns} from belfry.schedule_group where ns = $1 and name > $2 order by name limit $3`,
)
const members = 'from belfry.schedule where ns = $1 and group_name = $2 and deleted_at is null'
const findMembers = both('group find members', `select ${scheduleColumns()} ${members} order by name limit $3`)
const findMemberNames = both('group find member names', `select name ${members} order by name`)
const countMembers = both(
  'group count members',
  ({ texts }) => `select group_name as name, count(*) as members from belfry.schedule
    where ns = $1 and group_name ${texts('$2')} and deleted_at is null group by group_name`,
)

/** How many members are read at once. */
export const membersMax = 1_000
const pageMax = 1_000

export function* findGroup(context: StoreContext, name: string): Step<GroupRow | null> {
  return yield* groupBy(findNamed, context, name)
}

export function* lockGroup(context: StoreContext, name: string): Step<GroupRow | null> {
  return yield* groupBy(lockNamed, context, name)
}

/**
 * The group that a schedule is put into. The group is locked: it is neither paused, resumed nor deleted before the
 * transaction has ended.
 */
export function* lockGroupToJoin(context: StoreContext, name: string): Step<GroupRow | null> {
  return yield* groupBy(lockToJoin, context, name)
}

function* groupBy(statement: Statement, { ns }: StoreContext, name: string): Step<GroupRow | null> {
  const row = canBeName(name) ? yield* one<Row>(statement, ns, name) : undefined
  return row === undefined ? null : groupTable.read(row)
}

export function* listGroups(
  { ns }: StoreContext,
  { after = '', limit = 100 }: { after?: string; limit?: number } = {},
): Step<GroupRow[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  if (after !== '' && !canBeName(after)) throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a group')
  return (yield* allRows(findPage, ns, after, limit)).map((row) => groupTable.read(row))
}

/** How many members each of these groups has. */
export function* memberCounts({ ns }: StoreContext, names: readonly string[]): Step<ReadonlyMap<string, number>> {
  const rows = yield* allRows<{ name: string; members: number }>(countMembers, ns, JSON.stringify(names))
  return new Map(rows.map(({ name, members: count }) => [name, Number(count)]))
}

/** The schedules of a group, by name. */
export function* membersOf({ ns }: StoreContext, group: string, limit: number = membersMax): Step<ScheduleView[]> {
  checkInteger(limit, 'limit', 1, membersMax)
  return (yield* allRows(findMembers, ns, group, limit)).map((row) => scheduleViewOf(scheduleRowOf(row)))
}

export function* memberNames({ ns }: StoreContext, group: string): Step<string[]> {
  return (yield* allRows<{ name: string }>(findMemberNames, ns, group)).map(({ name }) => name)
}

/** The fields of a schedule that concern its group. */
export interface Grouped {
  readonly name: string
  readonly group?: string | undefined
}

/** The group of a schedule. */
export function* groupOf(context: StoreContext, { group }: Grouped): Step<GroupRow | null> {
  return group === undefined ? null : yield* findGroup(context, group)
}

/** The other schedules of its group, by name. */
export function* siblingsOf(context: StoreContext, { name, group }: Grouped): Step<ScheduleView[]> {
  if (group === undefined) return []
  return (yield* membersOf(context, group)).filter(({ spec }) => spec.name !== name)
}

/** The window for hints of a schedule that has none of its own. */
export function* groupWindow(context: StoreContext, schedule: Grouped): Step<string | null> {
  return (yield* groupOf(context, schedule))?.spec.window ?? null
}
