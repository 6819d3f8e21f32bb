import { beforeClosings } from '../../core/hold.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import { type Closing, closings } from '../../core/opening/closings.ts'
import { openingHorizonMs } from '../../core/opening/opening.ts'
import { endless } from '../holds/hold-row.ts'
import { deleteHold } from '../holds/lift-hold.ts'
import { writeHold } from '../holds/put-hold.ts'
import { all, both, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RowOf } from '../table-codec.ts'
import { columnsOf, tables } from '../tables.ts'
import { calendarsFound, nameIn } from './named-calendars.ts'
import { releaseAtClose } from './release-at-close.ts'

const reason = kernelHoldReasons.calendar
/** The author of holds that Belfry puts by itself. */
const actor = { name: 'belfry', door: 'engine' }

const findOwn = both(
  'closings find',
  `select ${columnsOf('hold')} from belfry.hold where ns = $1 and scope = $2 and subject = $3 and reason = '${reason.code}'
    and until_at > $4 and from_at > ${beforeClosings} order by from_at, id`,
)
const findBefore = both(
  'closings find before',
  `select id from belfry.hold where ns = $1 and scope = $2 and subject = $3 and reason = '${reason.code}'
    and (from_at = ${beforeClosings} or until_at <= $4) order by id`,
)
/** This statement wakes sleeping workers: a hold may end sooner than they know. */
export const moveHold = both(
  'closings move',
  'update belfry.hold set from_at = $2, until_at = $3, note = $4, begun_at = $5 where id = $1 returning id',
)
const markWritten = both(
  'closings mark written',
  'update belfry.calendar_use set written_until = $4 where ns = $1 and scope = $2 and subject = $3',
)

/** How far ahead closings are written: a worker that renews them may be away for that long. */
export const closingsAheadMs = 48 * 3_600_000
/**
 * The most closings of one use, because a lease reads all that have not ended. If a calendar has
 * more, they are written less far ahead.
 */
const closingsMax = 100

export type CalendarUse = Pick<RowOf<typeof tables.calendar_use>, 'scope' | 'subject' | 'calendar'>
type HoldRow = RowOf<typeof tables.hold>

/**
 * Writes the closings of a locked use as holds: correct holds stay, others are moved, added or deleted. A calendar that does not exist
 * is closed. Answers whether its calendars, which all exist, do not open together within 400 days.
 */
export function* writeClosings(context: StoreContext, use: CalendarUse, now: number): Step<boolean> {
  const names = use.calendar.split(',')
  const calendars = yield* calendarsFound(context, names)
  const missing = names.filter((name) => !calendars.some((found) => found.name === nameIn(name)))
  const wanted =
    missing.length > 0
      ? [{ from: now, until: null, closedBy: missing.map((name) => `?${nameIn(name)}`) }]
      : closings({ now, calendars, aheadMs: closingsAheadMs, closingsMax })
  const { scope, subject } = use
  const found = (yield* all(findOwn, context.ns, scope, subject, now)).map((row) => tables.hold.read(row))
  const kept = new Set<HoldRow>()
  for (const closing of wanted) {
    const own = found.find((hold) => !kept.has(hold) && isSame(hold, closing, now))
    if (own !== undefined) kept.add(own)
    if (own === undefined || !(yield* moved(own, closing, now))) yield* putClosing(context, use, closing, now)
  }
  for (const hold of found) if (!kept.has(hold)) yield* run(deleteHold, hold.id)
  const [first] = wanted
  if (first !== undefined && first.from <= now && !found.some(({ from }) => from <= now)) {
    yield* releaseAtClose(context.ns, use, { now, closedBy: first.closedBy.join(', ') })
  }
  yield* closeBefore(context, use, now)
  const last = wanted.at(-1)
  const writtenUntil = last?.until === null ? last.from : now + openingHorizonMs / 2
  yield* run(markWritten, context.ns, scope, subject, writtenUntil)
  return missing.length === 0 && wanted[0]?.until === null && wanted[0].from <= now
}

/** Holds the time before these closings, for which no closings are written: the clock may be set back to it. */
function* closeBefore(context: StoreContext, use: CalendarUse, now: number): Step<void> {
  const { scope, subject } = use
  const note = use.calendar.split(',').join(', ')
  const [kept, ...ended] = yield* all<{ id: number }>(findBefore, context.ns, scope, subject, now)
  for (const { id } of ended) yield* run(deleteHold, id)
  // Another step may have deleted the hold.
  if (kept !== undefined && (yield* one(moveHold, kept.id, beforeClosings, now, note, now)) !== undefined) return
  yield* writeHold(context, { scope, subject, from: beforeClosings, until: now, reason, note, actor }, now)
}

/** The hold that belongs to a closing: both have the same beginning, both are in force now, or both have no end. */
function isSame({ from, until }: HoldRow, closing: Closing, now: number): boolean {
  return from === closing.from || (from <= now && closing.from <= now) || (until === endless && closing.until === null)
}

/** Moves a hold to a closing. Returns whether the hold still exists: the step that ends holds may have deleted it. */
function* moved(hold: HoldRow, closing: Closing, now: number): Step<boolean> {
  const from = hold.from <= now && closing.from <= now ? hold.from : closing.from
  const until = closing.until ?? endless
  const note = closing.closedBy.join(', ')
  if (hold.from === from && hold.until === until && hold.note === note) return true
  // A closing that comes into force by this step begins in `turnHolds`, as a new one does.
  const begunAt = from <= now ? hold.begunAt : null
  return (yield* one(moveHold, hold.id, from, until, note, begunAt)) !== undefined
}

function* putClosing(context: StoreContext, use: CalendarUse, closing: Closing, now: number): Step<void> {
  const { scope, subject } = use
  const { from, until, closedBy } = closing
  const note = closedBy.join(', ')
  yield* writeHold(context, { scope, subject, from, until: until ?? endless, reason, note, actor }, now)
}
