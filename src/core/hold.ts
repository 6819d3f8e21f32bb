import type { ScheduleSpec } from './schedule/schedule-spec.ts'
import { type LaneOptions, laneNeed } from './target.ts'

/**
 * What a hold may be on, from wide to narrow. One on `occurrences` keeps all occurrences of the namespace from becoming runs; existing
 * runs start. Accounts and calendars are held by the part that knows them.
 */
export const holdScopes = [
  'namespace',
  'occurrences',
  'queue',
  'kind',
  'calendar',
  'account',
  'schedule',
  'key',
] as const
export type HoldScope = (typeof holdScopes)[number]

/**
 * What `fireDue` does under a hold: `nothing` leaves occurrences unfired, so that the `missed` rules decide once it ends; `waits`
 * creates the runs, and they wait; `skips` ends each occurrence in the ledger, with the reason of the hold, and makes no run.
 */
export type HoldFiring = 'nothing' | 'waits' | 'skips'

/** A row that keeps work from starting. */
export interface Hold {
  readonly id: string
  readonly scope: HoldScope
  /** The name of the queue or schedule, `KIND` or `KIND/NAME`, the accounts or calendars of a lane, the text of the key; empty for the namespace and all occurrences. */
  readonly subject: string
  readonly from: number
  /** `null`: until it is lifted. */
  readonly until: number | null
  /** A code of the catalogue of reasons. */
  readonly reason: string
  /** The author's text. */
  readonly note: string | null
  readonly firing: HoldFiring
  readonly by: string
  readonly createdAt: number
}

/** The properties of a run that a hold can be on. */
export interface Holdable {
  readonly queue?: string | undefined
  readonly kind?: string | undefined
  /** The name of its executor, where its kind has names. */
  readonly name?: string | undefined
  /** The accounts of its lane, joined by commas. */
  readonly account?: string | undefined
  /** The calendars of its lane, joined by commas. */
  readonly calendar?: string | undefined
  readonly schedule?: string | null | undefined
  readonly key?: string | null | undefined
  /** Whether it is an occurrence that has no run yet. */
  readonly isOccurrence?: boolean | undefined
}

/** The calendars of a run that a person forced: closed calendars of its schedule, queue and namespace do not keep it from starting. */
export const forcedCalendar = '!'

/**
 * The calendars of a notification that reports a stop. A person who stopped everything must learn that it stopped, so neither the stop
 * of the namespace nor a closed calendar keeps this run from starting. Only the part `notices` makes such runs.
 */
export const toldCalendar = '!!'

/** The reason of the holds of closed calendars. */
export const calendarReason = 'calendar'

/**
 * Marks the hold on the time before the closings of a calendar were last computed. Only a clock that was set back sees it in force:
 * nothing starts until a worker has computed the closings of that time.
 */
export const beforeClosings = 0

/** The properties of the runs of a schedule that a hold can be on. */
export function workOfSchedule({ name, queue = 'default', target, concurrencyKey, options }: ScheduleSpec): Holdable {
  const need = laneNeed(target, options as LaneOptions | undefined)
  return { ...('need' in need && need.need), queue, schedule: name, key: concurrencyKey, isOccurrence: true }
}

/** A full account or namespace is held and released at nearly every run; a log line each time would hide the other lines. */
export function isMomentary({ reason }: Pick<Hold, 'reason'>): boolean {
  return reason.endsWith('-full')
}

/** A hold is in force from its first instant on, and no longer at its last. */
export function isInForce({ from, until }: Pick<Hold, 'from' | 'until'>, now: number): boolean {
  return from <= now && (until === null || until > now)
}

/** Whether a hold is on this piece of work, at any time. */
export function isOn({ scope, subject, reason }: Pick<Hold, 'scope' | 'subject' | 'reason'>, work: Holdable): boolean {
  const passes = work.calendar === forcedCalendar || work.calendar === toldCalendar
  if (reason === calendarReason && passes) return false
  if (reason === 'stopped' && scope === 'namespace' && work.calendar === toldCalendar) return false
  switch (scope) {
    case 'namespace':
      return true
    case 'occurrences':
      return work.isOccurrence === true
    case 'kind':
      return work.kind !== undefined && (subject === work.kind || subject === `${work.kind}/${work.name ?? ''}`)
    default:
      return subject === work[scope]
  }
}

/**
 * The hold that keeps this piece of work from starting now, or `null`. Of several it is the one to explain, and to lift, first.
 */
export function heldBy(holds: readonly Hold[], work: Holdable, now: number): Hold | null {
  const inForce = holds.filter((hold) => isInForce(hold, now) && isOn(hold, work))
  return inForce.toSorted(byExplanation)[0] ?? null
}

/**
 * The order in which reasons are explained: first what a person did, last what was spent. Reasons that are not listed
 * come last.
 */
const explained = [
  'stopped',
  'paused',
  'hold',
  'group-paused',
  'parent-held',
  'calendar',
  'account-blocked',
  'account-full',
  'namespace-full',
  'quota',
]

/** Of several holds the one to name: ordered by reason, then from wide to narrow, then by the latest end. */
export function byExplanation(a: Hold, b: Hold): number {
  return rankOf(a) - rankOf(b) || widthOf(a) - widthOf(b) || endOf(b) - endOf(a)
}

function rankOf({ reason }: Hold): number {
  const rank = explained.indexOf(reason)
  return rank === -1 ? explained.length : rank
}

/**
 * When time alone ends all the holds on this piece of work, including holds that begin before the others have ended. `null` where
 * one of them has no end.
 */
export function heldUntil(holds: readonly Hold[], work: Holdable, now: number): number | null {
  const own = holds.filter((hold) => isOn(hold, work))
  let at = now
  for (let last = own.filter((hold) => isInForce(hold, at)); last.length > 0; ) {
    at = Math.max(...last.map(endOf))
    if (at === Number.POSITIVE_INFINITY) return null
    last = own.filter((hold) => isInForce(hold, at))
  }
  return at
}

function widthOf({ scope }: Hold): number {
  return holdScopes.indexOf(scope)
}

function endOf({ until }: Hold): number {
  return until ?? Number.POSITIVE_INFINITY
}

/** The subject of a hold as `--on` spells it: `namespace`, `queue:NAME`, `kind:NAME`, `key:TEXT`, `schedule:NAME`. */
export function holdSubject({ scope, subject }: Pick<Hold, 'scope' | 'subject'>): string {
  return subject === '' ? scope : `${scope}:${subject}`
}
