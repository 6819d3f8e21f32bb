import type { OpeningHours } from '../../../core/opening/opening.ts'
import { payloadBytesMax } from '../../../core/run/payload.ts'
import { calendarsIn } from '../../../core/target.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { nameIn } from '../../../store/calendars/named-calendars.ts'
import { askAfterChange, followCalendars, rewriteClosings } from '../../../store/calendars/use-calendars.ts'
import { canBeName, canonicalJson, checkActor, checkText, jsonText, nameLengthMax } from '../../../store/check.ts'
import { refuseManaged } from '../../../store/managed.ts'
import type { Actor } from '../../../store/port.ts'
import { all, both, clockNow, dialects, one, run, type Step, thereIs } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { RowOf } from '../../../store/table-codec.ts'
import { columnsOf, tables } from '../../../store/tables.ts'

export type CalendarRow = RowOf<typeof tables.calendar>

const found = `select ${columnsOf('calendar')} from belfry.calendar where ns = $1 and name = $2`
const lockCalendar = dialects('calendar lock', { sqlite: found, postgres: `${found} for no key update` })
const insertCalendar = both('calendar insert', tables.calendar.insertOne('on conflict (ns, name) do nothing'))
const updateCalendar = both(
  'calendar update',
  `update belfry.calendar set version = $3, hours = $4, updated_at = $5, deleted_at = null,
    managed_by = case when deleted_at is null then managed_by end where ns = $1 and name = $2`,
)
const insertVersion = both('calendar insert version', tables.calendar_version.insertOne())
const markDeleted = both(
  'calendar mark deleted',
  'update belfry.calendar set deleted_at = $3, updated_at = $3, managed_by = null where ns = $1 and name = $2',
)
const findSchedules = both(
  'calendar find schedules',
  'select name, spec from belfry.schedule where ns = $1 and deleted_at is null and calendars is not null order by name',
)
const findQueues = both(
  'calendar find queues',
  'select name, policy from belfry.queue where ns = $1 and deleted_at is null order by name',
)
const findSpace = both(
  'calendar find namespace',
  `select calendar from belfry.calendar_use where ns = $1 and scope = 'namespace'`,
)
const findLanes = both('calendar find lanes', `select id, calendar from belfry.need where ns = $1 and calendar <> ''`)
const findWaiting = both(
  'calendar find waiting',
  ({ numbers }) => `select q.name from belfry.queue q where q.ns = $1
    and ${thereIs(`from belfry.ready r where r.queue_id = q.id and r.need_id ${numbers('$2')}`)} order by q.name`,
)

export interface PutOptions {
  readonly actor: Actor
  readonly reason?: string | undefined
  /** Write only over this version; 0: only if it does not exist. */
  readonly ifVersion?: number | undefined
  /** The config file that writes it. */
  readonly source?: string
}

export interface PutCalendar {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'version-differs'
  readonly before: CalendarRow | null
  readonly calendar: CalendarRow | null
}

/**
 * Creates a calendar or replaces its hours, and rewrites the closings of everything that follows it, in one transaction: once
 * it is committed, no run starts in hours that are closed now. The schedules concerned are planned again afterwards, in steps.
 */
export function* putCalendar(
  context: StoreContext,
  { name, hours }: { readonly name: string; readonly hours: OpeningHours },
  { actor, reason: why, ifVersion, source }: PutOptions,
): Step<PutCalendar> {
  checkText(name, 'name', nameLengthMax)
  checkActor(actor)
  const reason = why ?? null
  const text = jsonText(hours, 'hours', payloadBytesMax)
  const now = yield* clockNow()
  const fresh = {
    ns: context.ns,
    name,
    version: 0,
    hours,
    managedBy: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: now,
  }
  // The row is made first, so that of two callers the second waits for the first.
  yield* run(insertCalendar, ...tables.calendar.tuple(fresh))
  const row = (yield* lockedCalendar(context, name)) as CalendarRow
  const before = row.deletedAt === null ? row : null
  const answered = (answer: PutCalendar['answer']): PutCalendar => ({ answer, before, calendar: before })
  if (ifVersion !== undefined && ifVersion !== (before?.version ?? 0)) {
    if (row.version === 0) yield* run(forget, context.ns, name)
    return answered('version-differs')
  }
  if (before !== null && canonicalJson(before.hours) === canonicalJson(hours)) return answered('unchanged')
  refuseManaged({ noun: 'calendar', name, managedBy: before?.managedBy ?? null }, source)
  const version = row.version + 1
  yield* run(updateCalendar, context.ns, name, version, text, now)
  const by = { at: now, actor: actor.name, door: actor.door, reason }
  yield* run(insertVersion, ...tables.calendar_version.tuple({ ns: context.ns, name, version, hours, ...by }))
  yield* rewriteClosings(context, name, now)
  yield* askAfterChange(context, { all: false })
  const verb = before === null ? 'calendar.create' : 'calendar.update'
  yield* writeAudit(context, { actor, verb, subject: `calendar ${name}`, detail: { version, hours, reason } }, now)
  const calendar = { ...row, version, hours, updatedAt: now, deletedAt: null, createdAt: before?.createdAt ?? now }
  return { answer: before === null ? 'created' : 'updated', before, calendar }
}

const forget = both('calendar forget', 'delete from belfry.calendar where ns = $1 and name = $2 and version = 0')

/** What follows a calendar: names by noun. */
export type CalendarUsers = Readonly<Record<string, readonly string[]>>

export type DeleteAnswer =
  | { readonly answer: 'deleted' | 'not-found' }
  | { readonly answer: 'in-use'; readonly users: CalendarUsers }

/** Deletes a calendar that nothing follows. Its versions stay, and a new one of this name goes on with them. */
export function* deleteCalendar(
  context: StoreContext,
  name: string,
  { actor, source }: { readonly actor: Actor; readonly source?: string },
): Step<DeleteAnswer> {
  checkActor(actor)
  const row = canBeName(name) ? yield* lockedCalendar(context, name) : null
  if (row === null || row.deletedAt !== null) return { answer: 'not-found' }
  refuseManaged({ noun: 'calendar', name, managedBy: row.managedBy }, source)
  const users = yield* usersOf(context, name)
  if (Object.keys(users).length > 0) return { answer: 'in-use', users }
  const now = yield* clockNow()
  yield* run(markDeleted, context.ns, name, now)
  // Runs that were made with it long ago may be retried: their lanes are closed from now on.
  yield* rewriteClosings(context, name, now)
  yield* writeAudit(context, { actor, verb: 'calendar.delete', subject: `calendar ${name}`, detail: row.hours }, now)
  return { answer: 'deleted' }
}

function* lockedCalendar({ ns }: StoreContext, name: string): Step<CalendarRow | null> {
  const row = yield* one(lockCalendar, ns, name)
  return row === undefined ? null : tables.calendar.read(row)
}

export function* usersOf(context: StoreContext, name: string): Step<CalendarUsers> {
  const { ns } = context
  const isNamed = (uses: readonly string[]) => uses.some((use) => nameIn(use) === name)
  const follows = (text: string, of: (stored: { options?: object }) => object | undefined) =>
    isNamed(calendarsIn(of(parsed(text))))
  const schedules = (yield* all<{ name: string; spec: string }>(findSchedules, ns))
    .filter(({ spec }) => follows(spec, ({ options }) => options))
    .map((row) => row.name)
  const queues = (yield* all<{ name: string; policy: string }>(findQueues, ns))
    .filter(({ policy }) => follows(policy, (stored) => stored))
    .map((row) => row.name)
  const space = yield* one<{ calendar: string }>(findSpace, ns)
  const lanes = (yield* all<{ id: number; calendar: string }>(findLanes, ns)).filter(({ calendar }) =>
    isNamed(calendar.split(',')),
  )
  const waiting =
    lanes.length === 0 ? [] : yield* all<{ name: string }>(findWaiting, ns, JSON.stringify(lanes.map(({ id }) => id)))
  const users: Record<string, readonly string[]> = {
    schedule: schedules,
    queue: queues,
    'waiting runs of queue': waiting.map((row) => row.name),
    namespace: space !== undefined && isNamed(space.calendar.split(',')) ? [context.namespace] : [],
  }
  for (const { namesCalendar } of context.parts) {
    if (namesCalendar !== undefined) Object.assign(users, yield* namesCalendar(context, name))
  }
  return Object.fromEntries(Object.entries(users).filter(([, names]) => names.length > 0))
}

/** What cannot be read names no calendar; its own checks report it. */
function parsed(text: string): { options?: object } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Sets the calendars of the whole namespace; an empty list removes the bound. */
export function* applyToNamespace(
  context: StoreContext,
  uses: readonly string[],
  { actor }: { readonly actor: Actor },
): Step<void> {
  checkActor(actor)
  yield* followCalendars(context, { scope: 'namespace', subject: '' }, uses)
  yield* askAfterChange(context, { all: true })
  const subject = `namespace ${context.namespace}`
  yield* writeAudit(context, { actor, verb: 'calendar.apply', subject, detail: { calendar: uses } }, yield* clockNow())
}
