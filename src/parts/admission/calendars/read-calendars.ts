import { canBeName, checkInteger, invalid } from '../../../store/check.ts'
import { all, both, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { RowOf } from '../../../store/table-codec.ts'
import { columnsOf, tables } from '../../../store/tables.ts'
import type { CalendarRow } from './write-calendar.ts'

const findOne = both(
  'read calendar',
  `select ${columnsOf('calendar')} from belfry.calendar where ns = $1 and name = $2 and deleted_at is null`,
)
const findPage = both(
  'read calendars',
  `select ${columnsOf('calendar')} from belfry.calendar where ns = $1 and name > $2 and deleted_at is null order by name limit $3`,
)
const findVersions = both(
  'read calendar versions',
  `select ${columnsOf('calendar_version')} from belfry.calendar_version where ns = $1 and name = $2 order by version desc limit 1000`,
)

export function* findCalendar({ ns }: StoreContext, name: string): Step<CalendarRow | null> {
  const row = canBeName(name) ? yield* one(findOne, ns, name) : undefined
  return row === undefined ? null : tables.calendar.read(row)
}

export function* listCalendars(
  { ns }: StoreContext,
  { after = '', limit = 100 }: { after?: string; limit?: number } = {},
): Step<CalendarRow[]> {
  checkInteger(limit, 'limit', 1, 1_000)
  if (!canBeName(after)) throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a calendar')
  return (yield* all(findPage, ns, after, limit)).map((row) => tables.calendar.read(row))
}

/** The versions of a calendar, also of a deleted one, newest first. */
export function* calendarVersions({ ns }: StoreContext, name: string): Step<RowOf<typeof tables.calendar_version>[]> {
  if (!canBeName(name)) return []
  return (yield* all(findVersions, ns, name)).map((row) => tables.calendar_version.read(row))
}
