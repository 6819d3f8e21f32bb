import { beforeClosings } from '../../core/hold.ts'
import type { NamedCalendar } from '../../core/opening/closings.ts'
import { nextOpening } from '../../core/opening/opening-of-all.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { calendarsIn } from '../../core/target.ts'
import { invalid } from '../check.ts'
import type { QueueRow } from '../queues/queue-row.ts'
import { all, both, clockNow, dialects, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'
import { namedCalendars } from './named-calendars.ts'
import { type CalendarUse, closingsAheadMs, writeClosings } from './write-closings.ts'

const found = `select ${columnsOf('calendar_use')} from belfry.calendar_use where ns = $1`
const ofSubject = `${found} and scope = $2 and subject = $3`
const findUse = both('calendar use find', ofSubject)
const lockUse = dialects('calendar use lock', { sqlite: ofSubject, postgres: `${ofSubject} for update` })
const lockUses = dialects('calendar use lock all', {
  sqlite: `${found} order by scope, subject`,
  postgres: `${found} order by scope, subject for update`,
})
/** Uses whose closings end too early, and uses whose closings begin after now, because the clock was set back. */
const findStale = both(
  'calendar use find stale',
  `${found} and (written_until < $2 or exists (select 1 from belfry.hold h where h.ns = $1 and h.scope = calendar_use.scope
    and h.subject = calendar_use.subject and h.reason = 'calendar' and h.from_at = ${beforeClosings} and h.until_at > $3))
  order by written_until limit $4`,
)
const putUse = both(
  'calendar use put',
  `insert into belfry.calendar_use (ns, scope, subject, calendar, written_until) values ($1, $2, $3, $4, 0)
    on conflict (ns, scope, subject) do update set calendar = excluded.calendar`,
)
const deleteUse = both(
  'calendar use delete',
  'delete from belfry.calendar_use where ns = $1 and scope = $2 and subject = $3',
)
const deleteClosings = both(
  'calendar use delete closings',
  `delete from belfry.hold where ns = $1 and scope = $2 and subject = $3 and reason = 'calendar'`,
)
const noteChange = both(
  'calendar note change',
  `insert into belfry.calendar_asking as a (ns, change, after_id, is_all) values ($1, 1, 0, $2)
    on conflict (ns) do update set change = a.change + 1, after_id = 0,
      is_all = case when excluded.is_all > a.is_all then excluded.is_all else a.is_all end`,
)

/** Calendars that are not open together would keep work from starting for ever. */
function refuseNever(calendars: readonly NamedCalendar[], uses: readonly string[], now: number): void {
  if (nextOpening({ at: now, calendars }) !== null) return
  const problem = `names ${uses.join(', ')}, which ${uses.length === 1 ? 'does not open' : 'are not open together'} within 400 days`
  throw invalid('calendar', problem, 'calendars that are')
}

/**
 * Sets the calendars that a lane, a queue or a namespace follows, and writes their closings in the same transaction.
 * Unknown calendars are refused.
 */
export function* followCalendars(
  context: StoreContext,
  use: Omit<CalendarUse, 'calendar'>,
  uses: readonly string[],
): Step<void> {
  const { scope, subject } = use
  if (uses.length === 0) {
    yield* run(deleteUse, context.ns, scope, subject)
    yield* run(deleteClosings, context.ns, scope, subject)
    return
  }
  const now = yield* clockNow()
  const calendar = uses.join(',')
  refuseNever(yield* namedCalendars(context, uses, { lock: true }), uses, now)
  yield* run(putUse, context.ns, scope, subject, calendar)
  yield* one(lockUse, context.ns, scope, subject)
  yield* writeClosings(context, { scope, subject, calendar }, now)
}

/** Makes sure that the lanes of these calendars are held while they are closed. */
export function* useLane(context: StoreContext, uses: readonly string[], where?: string): Step<void> {
  const subject = uses.join(',')
  yield* namedCalendars(context, uses, { ...(where !== undefined && { where }) })
  if ((yield* one(findUse, context.ns, 'calendar', subject)) !== undefined) return
  yield* followCalendars(context, { scope: 'calendar', subject }, uses)
}

/** The calendars of the whole namespace. */
export function* calendarsOfNamespace({ ns }: StoreContext): Step<readonly string[]> {
  const row = yield* one(findUse, ns, 'namespace', '')
  return row === undefined ? [] : tables.calendar_use.read(row).calendar.split(',')
}

/** The names of all calendars that bound a schedule: its own, those of its queue, and those of its namespace. */
export function usesOf(spec: ScheduleSpec, queue: Pick<QueueRow, 'policy'>, ofNamespace: readonly string[]): string[] {
  return [...new Set([...calendarsIn(spec.options), ...calendarsIn(queue.policy), ...ofNamespace])].sort()
}

/** The calendars that bound a schedule, with their hours, for its row; `null` where there are none. */
export function* calendarsOf(
  context: StoreContext,
  spec: ScheduleSpec,
  queue: Pick<QueueRow, 'policy'>,
): Step<NamedCalendar[] | null> {
  const own = calendarsIn(spec.options)
  const uses = usesOf(spec, queue, yield* calendarsOfNamespace(context))
  if (uses.length === 0) return null
  const calendars = yield* namedCalendars(context, uses, { lock: true })
  refuseNever(calendars, uses, yield* clockNow())
  if (own.length > 0) yield* useLane(context, own)
  return calendars
}

/** Applies a change of a queue's policy: first to its closings, then to its schedules. */
export function* followQueue(context: StoreContext, queue: string, before: object | null, after: object): Step<void> {
  const [was, is] = [calendarsIn(before), calendarsIn(after)]
  if (was.join(',') === is.join(',')) return
  yield* followCalendars(context, { scope: 'queue', subject: queue }, is)
  yield* askAfterChange(context, { all: true })
}

/** Records that schedules must be planned again: those that follow a calendar, or all. */
export function* askAfterChange({ ns }: StoreContext, { all: isAll }: { readonly all: boolean }): Step<void> {
  yield* run(noteChange, ns, isAll ? 1 : 0)
}

/** Rewrites the closings of everything that follows a calendar, in the transaction that changed it. */
export function* rewriteClosings(context: StoreContext, calendar: string, now: number): Step<number> {
  const uses = (yield* all(lockUses, context.ns)).map((row) => tables.calendar_use.read(row))
  const concerned = uses.filter((use) => use.calendar.split(',').some((name) => name.replace(/^!/, '') === calendar))
  for (const use of concerned) {
    if (!(yield* writeClosings(context, use, now))) continue
    const whose = use.scope === 'calendar' ? 'runs' : use.scope === 'queue' ? `queue ${use.subject}` : 'the namespace'
    const problem = `leaves no common opening within 400 days of ${use.calendar}, which ${whose} follow${use.scope === 'calendar' ? '' : 's'}`
    throw invalid('open', problem, 'hours in which they are open together')
  }
  return concerned.length
}

/** The uses whose closings do not reach from now to the time ahead. */
export function* staleUses({ ns }: StoreContext, { limit }: { readonly limit: number }): Step<CalendarUse[]> {
  const now = yield* clockNow()
  return (yield* all(findStale, ns, now + closingsAheadMs, now, limit)).map((row) => tables.calendar_use.read(row))
}

/** Writes the closings of one use further ahead. */
export function* renewClosings(context: StoreContext, { scope, subject }: CalendarUse): Step<void> {
  const row = yield* one(lockUse, context.ns, scope, subject)
  if (row !== undefined) yield* writeClosings(context, tables.calendar_use.read(row), yield* clockNow())
}
