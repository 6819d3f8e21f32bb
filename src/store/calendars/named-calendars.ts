import { nearest } from '../../core/cron/nearest-match.ts'
import type { NamedCalendar } from '../../core/opening/closings.ts'
import type { CalendarRef } from '../../core/schedule/decision.ts'
import { canBeName, invalid } from '../check.ts'
import { all, both, dialects, inList, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'

const listed = inList.texts('$2')
const found = `select ${columnsOf('calendar')} from belfry.calendar where ns = $1 and deleted_at is null and name`
const findNamed = dialects('calendars find', {
  sqlite: `${found} ${listed.sqlite}`,
  postgres: `${found} ${listed.postgres}`,
})
/**
 * A change of one of these calendars waits for the transaction that reads its hours, and sees the rows that
 * it wrote.
 */
const lockNamed = dialects('calendars lock', {
  sqlite: `${found} ${listed.sqlite}`,
  postgres: `${found} ${listed.postgres} order by name for share`,
})
const findNames = both(
  'calendars find names',
  'select name from belfry.calendar where ns = $1 and deleted_at is null order by name limit 1000',
)
const findVersions = both(
  'calendars find versions',
  ({ texts }) =>
    `select ${columnsOf('calendar_version')} from belfry.calendar_version where ns = $1 and name ${texts('$2')}`,
)

/** The name in a text such as `office` or `!office`. */
export function nameIn(use: string): string {
  return use.replace(/^!/, '')
}

/** The named calendars that exist, in the order of the names, with the hours of now. */
export function* calendarsFound(
  { ns }: StoreContext,
  uses: readonly string[],
  { lock = false }: { readonly lock?: boolean } = {},
): Step<NamedCalendar[]> {
  // PostgreSQL refuses some texts that cannot be a name.
  const names = JSON.stringify([...new Set(uses.map(nameIn))].filter(canBeName))
  const rows = (yield* all(lock ? lockNamed : findNamed, ns, names)).map((row) => tables.calendar.read(row))
  return uses.flatMap((use) => {
    const row = rows.find(({ name }) => name === nameIn(use))
    if (row === undefined) return []
    return [{ name: row.name, version: row.version, isInverted: use.startsWith('!'), calendar: row.hours }]
  })
}

/** The named calendars; refuses unknown ones. `where` is the field that names them. */
export function* namedCalendars(
  context: StoreContext,
  uses: readonly string[],
  { where = 'calendar', lock = false }: { readonly where?: string; readonly lock?: boolean } = {},
): Step<NamedCalendar[]> {
  const calendars = yield* calendarsFound(context, uses, { lock })
  const known = new Set(calendars.map(({ name }) => name))
  const unknown = uses.map(nameIn).find((name) => !known.has(name))
  if (unknown === undefined) return calendars
  const names = (yield* all<{ name: string }>(findNames, context.ns)).map(({ name }) => name)
  const meant = nearest(unknown, names, Math.ceil(unknown.length / 3))
  const rest = names.length === 0 ? 'none exists yet: belfry calendar put' : `one of ${names.slice(0, 10).join(', ')}`
  const expected = meant === undefined ? rest : `${meant}, if that was meant; ${rest}`
  throw invalid(where, `names the calendar ${JSON.stringify(unknown)}, which does not exist`, expected)
}

/** The calendars behind an earlier decision; `null` where the hours of one of them are no longer stored. */
export function* calendarsBehind({ ns }: StoreContext, refs: readonly CalendarRef[]): Step<NamedCalendar[] | null> {
  const rows = yield* all(findVersions, ns, JSON.stringify(refs.map(({ name }) => name)))
  const versions = rows.map((row) => tables.calendar_version.read(row))
  const found = refs.flatMap((ref) => {
    const row = versions.find(({ name, version }) => name === ref.name && version === ref.version)
    return row === undefined ? [] : [{ ...ref, calendar: row.hours }]
  })
  return found.length === refs.length ? found : null
}
