import type { Hold, HoldScope } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import type { Row } from '../statement.ts'
import { tables } from '../tables.ts'

/** The `until_at` of a hold without an end: an index finds those that have not ended by one comparison. */
export const endless = Number.MAX_SAFE_INTEGER

/** Whether a hold of this scope is on runs, which are set aside for it, and not on whole lanes. */
export function isNarrow(scope: HoldScope): boolean {
  return scope === 'schedule' || scope === 'key'
}

/** Whose holds are asked for, and at which instant; each is an expression of SQL. */
interface HoldQuery {
  readonly ns?: string
  readonly now: string
}

const onSubject = (scope: HoldScope, subject: string, { ns = '$1', now }: HoldQuery) => `from belfry.hold h
  where h.ns = ${ns} and h.scope = '${scope}' and h.subject = ${subject} and h.until_at > ${now} and h.from_at <= ${now}`

/** The hold in force on a subject, or null: one probe of an index. Of several it is the one that ends last. */
export function holdOn(scope: HoldScope, subject: string, asked: HoldQuery): string {
  return `(select h.id ${onSubject(scope, subject, asked)} order by h.until_at desc limit 1)`
}

/** Whether nothing is fired in a namespace. */
export function stopsFiring(asked: HoldQuery): string {
  return `((select 1 ${onSubject('namespace', `''`, asked)} and h.firing = 'nothing' limit 1) is not null)`
}

/** The hold under which nothing of a queue `q` is handed out, or null. */
export function queueHold(now: string): string {
  return `coalesce(${holdOn('namespace', `''`, { ns: 'q.ns', now })}, ${holdOn('queue', 'q.name', { ns: 'q.ns', now })})`
}

/** The hold on a lane `n`, by its kind or by its kind and name, or null. */
function laneHold(now: string): string {
  const asked = { ns: 'n.ns', now }
  return `coalesce(${holdOn('kind', 'n.kind', asked)}, ${holdOn('kind', `n.kind || '/' || n.name`, asked)})`
}

export function laneIsOpen(now: string): string {
  return `${laneHold(now)} is null`
}

/** The hold under which a run `d` does not start, or null. Those on its schedule have set it aside. */
export function runHold(now: string): string {
  return `coalesce((select ${queueHold(now)} from belfry.queue q where q.id = d.queue_id),
    (select ${laneHold(now)} from belfry.need n where n.id = d.need_id),
    ${holdOn('key', 'd.concurrency_key', { ns: 'd.ns', now })})`
}

/** Whether a hold of a namespace has begun whose runs have not all been set aside yet. */
export function anyBegins({ ns = '$1', now }: HoldQuery): string {
  return `(select 1 from belfry.hold h where h.ns = ${ns} and h.begun_at is null and h.from_at <= ${now} limit 1)`
}

const shown = tables.hold.but('ns', 'begunAt')

export function holdOf(row: Row): Hold {
  const { id, until, ...hold } = shown.read(row)
  return { ...hold, id: formatId('hold', id), until: until === endless ? null : until }
}
