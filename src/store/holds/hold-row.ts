import { calendarReason, type forcedCalendar, type Hold, type HoldScope, toldCalendar } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import type { Row } from '../statement.ts'
import { tables } from '../tables.ts'

/** The `until_at` of a hold without an end, so that one index comparison finds the holds that have not ended. */
export const endless = Number.MAX_SAFE_INTEGER

/** Whether a hold of this scope sets single runs aside; the others stop whole lanes. */
export function isNarrow(scope: HoldScope): boolean {
  return scope === 'schedule' || scope === 'key'
}

/**
 * Whether the end of a hold needs work before its row is deleted, because the hold has set runs aside or postponed schedules.
 */
export function endsInSteps({ scope, firing }: Pick<Hold, 'scope' | 'firing'>): boolean {
  return isNarrow(scope) || (firing === 'nothing' && scope !== 'namespace')
}

/** The namespace and the instant of a query, as SQL expressions. */
interface HoldQuery {
  readonly ns?: string
  readonly now: string
}

const onSubject = (scope: HoldScope, subject: string, { ns = '$1', now }: HoldQuery) => `from belfry.hold h
  where h.ns = ${ns} and h.scope = '${scope}' and h.subject = ${subject} and h.until_at > ${now} and h.from_at <= ${now}`

/** The hold in force on a subject, or null: one index probe. Of several holds it is the one that ends last. */
export function holdOn(scope: HoldScope, subject: string, asked: HoldQuery): string {
  return `(select h.id ${onSubject(scope, subject, asked)} order by h.until_at desc limit 1)`
}

/** Whether a hold keeps all schedules of a namespace from firing. */
export function stopsFiring(asked: HoldQuery): string {
  return `((select 1 ${onSubject('namespace', `''`, asked)} and h.firing = 'nothing' limit 1) is not null)`
}

/** The hold that stops leases from a queue `q`, or null. */
export function queueHold(now: string): string {
  return `coalesce(${holdOn('namespace', `''`, { ns: 'q.ns', now })}, ${holdOn('queue', 'q.name', { ns: 'q.ns', now })})`
}

/**
 * Whether leases from a queue `q` are worthwhile although a hold stops the queue. For a forced run in line: only closed calendars stop
 * the queue. For a notification of a stop in line: only closed calendars and a stop of the namespace do.
 */
export function isForced(now: string, calendar: typeof forcedCalendar | typeof toldCalendar): string {
  const noOther = (scope: HoldScope, subject: string, passed: string) =>
    `(select 1 ${onSubject(scope, subject, { ns: 'q.ns', now })} and h.reason not in (${passed}) limit 1) is null`
  const closed = `'${calendarReason}'`
  return `(${noOther('namespace', `''`, calendar === toldCalendar ? `${closed}, 'stopped'` : closed)}
    and ${noOther('queue', 'q.name', closed)} and (select 1 from belfry.need n where n.ns = q.ns and n.calendar = '${calendar}'
      and (select 1 from belfry.ready r where r.queue_id = q.id and r.need_id = n.id limit 1) is not null limit 1) is not null)`
}

/** The hold on a lane `n`, by kind, by kind and name, by its calendars or by its accounts, or null. */
export function laneHold(now: string): string {
  const asked = { ns: 'n.ns', now }
  return `coalesce(${holdOn('kind', 'n.kind', asked)}, ${holdOn('kind', `n.kind || '/' || n.name`, asked)},
    case when n.calendar <> '' then ${holdOn('calendar', 'n.calendar', asked)} end,
    case when n.account <> '' then ${holdOn('account', 'n.account', asked)} end)`
}

export function laneIsOpen(now: string): string {
  return `${laneHold(now)} is null`
}

/** The same for PostgreSQL in one subplan: each of four would be set up for every lease, and most leases meet no hold at all. */
export function laneIsOpenAtOnce(now: string): string {
  const subjects = `('kind', n.kind), ('kind', n.kind || '/' || n.name), ('calendar', n.calendar), ('account', n.account)`
  return `(select 1 from (values ${subjects}) v (scope, subject) cross join lateral (select 1 from belfry.hold h
    where h.ns = n.ns and h.scope = v.scope and h.subject = v.subject and h.until_at > ${now} and h.from_at <= ${now} offset 0) h
    where v.subject <> '' limit 1) is null`
}

/**
 * The hold that stops a run `d` from starting, or null. A hold on its schedule is not included, because such a hold has set
 * the run aside.
 */
export function runHold(now: string): string {
  return `coalesce((select ${queueHold(now)} from belfry.queue q where q.id = d.queue_id),
    (select ${laneHold(now)} from belfry.need n where n.id = d.need_id),
    ${holdOn('key', 'd.concurrency_key', { ns: 'd.ns', now })})`
}

/** Whether a hold has begun whose runs are not all set aside yet. */
export function anyBegins({ ns = '$1', now }: HoldQuery): string {
  return `(select 1 from belfry.hold h where h.ns = ${ns} and h.begun_at is null and h.from_at <= ${now} limit 1)`
}

const shown = tables.hold.but('ns', 'begunAt', 'isEverywhere')

export function holdOf(row: Row): Hold {
  const { id, until, ...hold } = shown.read(row)
  return { ...hold, id: formatId('hold', id), until: until === endless ? null : until }
}
