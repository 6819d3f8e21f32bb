import { beforeClosings, calendarReason, type Hold, type HoldScope } from '../../core/hold.ts'
import { isPaused } from '../../core/schedule/state.ts'
import { releaseAtClose } from '../calendars/release-at-close.ts'
import type { CalendarUse } from '../calendars/write-closings.ts'
import { checkInteger } from '../check.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { lockGates, movesMax, regateLocked } from '../runs/key-gate.ts'
import { holdRuns, releaseRuns } from '../schedules/hold-runs.ts'
import { lockNamedSchedule } from '../schedules/schedule-row.ts'
import { all, both, clockNow, dialects, one, type Row, run, type Step, thereIs } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { awaitLeases } from './await-leases.ts'
import { endsInSteps, holdOf, holdOn, isNarrow } from './hold-row.ts'
import { wakeSome, writeSpan } from './stopped-schedules.ts'

const columns = columnsOf('hold')
const findEnded = both(
  'holds find ended',
  `select ${columns} from belfry.hold where ns = $1 and until_at <= $2 and from_at > ${beforeClosings}
    order by until_at, id limit $3`,
)
const findBegun = both(
  'holds find begun',
  `select ${columns} from belfry.hold where ns = $1 and begun_at is null and from_at <= $2 and until_at > $2
    order by from_at, id limit $3`,
)
/** A hold that was made longer meanwhile stays. */
export const deleteEnded = both('holds delete ended', 'delete from belfry.hold where id = $1 and until_at <= $2')
/** The clock may be set back to before the end of a closing, so the hold on the past is extended to that end. */
export const keepBefore = both(
  'holds keep before',
  `update belfry.hold set from_at = ${beforeClosings} where id = $1 and until_at <= $2 returning id`,
)
const deleteBefore = both(
  'holds delete before',
  `delete from belfry.hold where ns = $1 and scope = $2 and subject = $3 and reason = '${calendarReason}'
    and from_at = ${beforeClosings} and id <> $4`,
)
const again = `select ${columns} from belfry.hold where id = $1`
const lockAgain = dialects('holds lock again', { sqlite: again, postgres: `${again} for update` })
const findAgain = both('holds find again', `select ${columns} from belfry.hold where id = $1`)
const markBegun = both('holds mark begun', 'update belfry.hold set begun_at = $2 where id = $1')
const markHeld = both('holds mark held', 'update belfry.schedule set held_by = $2 where id = $1')
const findOther = both('holds find other', `select ${holdOn('schedule', '$2', { now: '$3' })} as held_by`)
const findQueuesOfKey = both(
  'holds find queues of key',
  `select q.id, q.policy from belfry.queue q where q.ns = $1
    and (${thereIs('from belfry.ready r where r.queue_id = q.id and r.concurrency_key = $2')}
      or ${thereIs(`from belfry.aside a where a.kind = 'key' and a.queue_id = q.id and a.concurrency_key = $2`)}) order by q.id`,
)

const limitMax = 1_000

export interface TurnedHolds {
  /** Holds whose runs are all set aside now, or that set none aside. */
  readonly begun: readonly Hold[]
  /** Ended holds that no longer keep any run; their rows are deleted. */
  readonly ended: readonly Hold[]
  /** Another step may have more to do at once. */
  readonly more: boolean
}

/**
 * Applies the beginnings and ends of holds, one bounded step at a time: a hold on a schedule or key sets its runs aside, and
 * later releases them. The row of an ended hold is deleted last, so that after a crash the next step continues.
 */
export function* turnHolds(context: StoreContext, { limit }: { readonly limit: number }): Step<TurnedHolds> {
  checkInteger(limit, 'limit', 1, limitMax)
  const now = yield* clockNow()
  const ended = yield* all(findEnded, context.ns, now, limit)
  const begun = yield* all(findBegun, context.ns, now, limit - ended.length)
  const rows = [...ended, ...begun]
  // One schedule or key per step: locking several could deadlock.
  const narrow = rows.find(({ scope }) => isNarrow(scope as HoldScope))
  const taken = rows.filter((row) => row === narrow || !isNarrow(row.scope as HoldScope))
  if (taken.some((row) => isClosing(row, now))) yield* awaitLeases(context)
  const done = { begun: [] as Hold[], ended: [] as Hold[] }
  let more = rows.length === limit || taken.length < rows.length
  for (const row of taken) {
    const turned = yield* turn(context, row, now)
    if (turned === 'more') more = true
    else if (turned !== 'gone') done[turned].push(holdOf(row))
  }
  return { ...done, more }
}

/**
 * The closing of a calendar that begins. A lease that read the clock before it may not be committed yet, and the runs to release would
 * be searched for without it. So the queues are locked first, before any schedule.
 */
function isClosing({ reason, until_at: until }: Row, now: number): boolean {
  return reason === calendarReason && (until as number) > now
}

type Turned = 'begun' | 'ended' | 'more' | 'gone'

function* turn(context: StoreContext, row: Row, now: number): Step<Turned> {
  switch (row.scope) {
    case 'schedule':
      return yield* turnSchedule(context, row, now)
    case 'key':
      return (yield* regateKey(context, row.subject as string)) ? 'more' : yield* turned(row, now)
    default:
      return row.firing === 'nothing' && (row.until_at as number) <= now
        ? yield* endStop(row, now)
        : yield* turned(row, now, context)
  }
}

/** A step that postpones schedules at this moment has locked the hold, so its schedules are woken with the others. */
function* endStop({ id }: Row, now: number): Step<Turned> {
  const row = yield* one(lockAgain, id as number)
  if (row === undefined) return 'gone'
  const hold = holdOf(row)
  yield* writeSpan(row.ns as number, hold, row.until_at as number)
  if (endsInSteps(hold) && (yield* wakeSome(id as number, now))) return 'more'
  return yield* turned(row, now)
}

/** The first process to lock the schedule does the work. The others find the hold turned, or deleted with its schedule. */
function* turnSchedule(context: StoreContext, { id, subject }: Row, now: number): Step<Turned> {
  const schedule = yield* lockNamedSchedule(context, subject as string)
  const row = yield* one(findAgain, id as number)
  if (row === undefined) return 'gone'
  if (schedule === null) return yield* turned(row, now)
  const heldBy = (yield* one(findOther, context.ns, subject as string, now))?.held_by as number | null
  if (heldBy !== schedule.heldBy) yield* run(markHeld, schedule.id, heldBy)
  const after = { ...schedule, heldBy }
  if (heldBy !== null) yield* holdRuns(after)
  else if (!isPaused(after, now)) yield* releaseRuns(now, after)
  return yield* turned(row, now)
}

function* turned(row: Row, now: number, context?: StoreContext): Step<Turned> {
  const { id, until_at: until, scope, subject, note } = row
  if ((until as number) <= now) {
    if (row.reason !== calendarReason) yield* run(deleteEnded, id as number, now)
    else if ((yield* one(keepBefore, id as number, now)) !== undefined) {
      yield* run(deleteBefore, row.ns as number, scope as string, subject as string, id as number)
    }
    return 'ended'
  }
  if (context !== undefined && isClosing(row, now)) {
    const use = { scope: scope as CalendarUse['scope'], subject: subject as string }
    yield* releaseAtClose(context.ns, use, { now, closedBy: String(note) })
  }
  yield* run(markBegun, id as number, now)
  return 'begun'
}

/** Closes or opens the gates of a key in all queues. Returns whether more runs have to move. */
function* regateKey({ ns }: StoreContext, key: string): Step<boolean> {
  const gates = (yield* all(findQueuesOfKey, ns, key)).map((row) => {
    return { ns, queueId: row.id as number, key, limit: readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null }
  })
  yield* lockGates(gates)
  let isCut = false
  for (const gate of gates) if ((yield* regateLocked(gate)) >= movesMax) isCut = true
  return isCut
}
