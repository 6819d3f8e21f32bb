import { overdueAfterMs, type troubles } from '../core/notice.ts'
import { checkInteger, invalid } from './check.ts'
import type { StoreContext } from './context.ts'
import { type Happening, placesOfSchedules, tell } from './notice.ts'
import { NoticeBook, type NoticeKey } from './notice-row.ts'
import type { OverdueNoticed } from './notice-steps.ts'
import { isPaused, lockSchedules, type ScheduleRow } from './schedule-row.ts'
import { all, both, clockNow, one, type Step } from './statement.ts'

const findStop = both('notice find stop', 'select stopped_at from belfry.namespace where id = $1')
const isOpen = `exists (select 1 from belfry.notice n
  where n.ns = s.ns and n.subject = 'schedule' and n.subject_id = s.id and n.event = 'overdue' and n.is_open = 1)`
/** Those that nobody has fired. Whoever was told of one is not told again. */
const findLate = both(
  'notice find late',
  `select s.id from belfry.schedule s where s.ns = $1 and s.wake_at is not null and s.wake_at <= $2
    and s.next_due_at <= $2 and not ${isOpen} order by s.wake_at, s.id limit $3`,
)
/** Each is asked for by itself, and one row is enough: an `exists` might be answered by reading all that has ended. */
const unstartedColumns = `s.schedule_id, s.run_id,
  (select case when d.not_before > d.enqueued_at then d.not_before else d.enqueued_at end
    from belfry.run d where d.id = s.run_id) as ready_at,
  (select a.kind from belfry.aside a where a.run_id = s.run_id) as kind,
  coalesce((select 1 from belfry.lease l where l.run_id = s.run_id limit 1),
    (select 1 from belfry.attempt t where t.run_id = s.run_id limit 1), 0) as has_started`
/** Goes through the live runs of all schedules, which are few beside those that have ended. */
const findLive = both(
  'notice find live',
  `select ${unstartedColumns} from belfry.schedule_run s
    where s.ns = $1 and (s.schedule_id, s.run_id) > ($2, $3) order by s.schedule_id, s.run_id limit $4`,
)
const findLiveOf = both(
  'notice find live of schedule',
  `select ${unstartedColumns} from belfry.schedule_run s where s.schedule_id = $1 order by s.run_id limit $2`,
)
/** Trouble that somebody was told of, and that is over as far as the schedule's own row can tell. */
const findOver = both(
  'notice find over',
  `select n.subject_id, n.event from belfry.notice n join belfry.schedule s on s.id = n.subject_id
    where n.ns = $1 and n.subject = 'schedule' and n.is_open = 1
    and (s.deleted_at is not null or case when n.event = 'overdue'
      then s.next_due_at is null or s.next_due_at > $2 else s.failure_count = 0 end)
    order by n.subject_id, n.event limit $3`,
)

const limitMax = 10_000
const liveOfOneMax = 100

/** A live run of a schedule, and whether it has come to anything. */
interface LiveRow {
  readonly schedule_id: number
  readonly run_id: number
  readonly ready_at: number
  readonly kind: string | null
  readonly has_started: number
}

/**
 * Tells of schedules whose occurrence nobody has fired, or whose run nobody has started, and of the end of trouble that
 * nobody was told of: nothing on the way of a run that goes well looks for either. What somebody else is at is left for
 * the next step.
 */
export function* noticeOverdue(
  context: StoreContext,
  { limit, from }: { limit: number; from?: string },
): Step<OverdueNoticed> {
  checkInteger(limit, 'limit', 1, limitMax)
  const place = placeIn(from)
  // Nobody fires and nobody leases in a stopped namespace, so that nothing of it is late.
  if ((yield* one(findStop, context.ns))?.stopped_at !== null) return { runs: [], next: null }
  const now = yield* clockNow()
  const before = now - overdueAfterMs
  const live = yield* all<LiveRow>(findLive, context.ns, place.scheduleId, place.runId, limit)
  const waiting = new Map(live.filter((run) => isOverdue(run, before)).map((run) => [run.schedule_id, run.run_id]))
  const isFirst = from === undefined
  const late = isFirst ? (yield* all<{ id: number }>(findLate, context.ns, before, limit)).map(({ id }) => id) : []
  const runs = [
    ...(yield* tellOverdue(now, before, [...new Set([...late, ...waiting.keys()])], waiting)),
    ...(isFirst ? yield* tellOver(context, now, limit) : []),
  ]
  const last = live.length < limit ? undefined : live.at(-1)
  return { runs, next: last === undefined ? null : JSON.stringify([last.schedule_id, last.run_id]) }
}

function placeIn(from: string | undefined): { scheduleId: number; runId: number } {
  if (from === undefined) return { scheduleId: 0, runId: 0 }
  try {
    const [scheduleId, runId] = JSON.parse(from) as unknown[]
    if (Number.isSafeInteger(scheduleId) && Number.isSafeInteger(runId)) {
      return { scheduleId: scheduleId as number, runId: runId as number }
    }
  } catch {
    // Falls through to the one refusal of everything that no step has answered.
  }
  throw invalid('from', `is ${JSON.stringify(from)}`, 'the `next` of the step before')
}

/** What is held waits for a person who paused its schedule, and not for anything that should have happened. */
function isOverdue({ ready_at: readyAt, kind, has_started: hasStarted }: LiveRow, before: number): boolean {
  return hasStarted === 0 && kind !== 'held' && readyAt <= before
}

function* tellOverdue(
  now: number,
  before: number,
  ids: readonly number[],
  waiting: ReadonlyMap<number, number>,
): Step<string[]> {
  const locked = yield* lockSchedules(ids, { wait: false })
  const overdue = [...locked.values()].filter((row) => {
    const isLate = waiting.has(row.id) || (row.nextDueAt !== null && row.nextDueAt <= before)
    return isLate && row.deletedAt === null && !isPaused(row, now)
  })
  return yield* tell(
    now,
    yield* happeningsOf(overdue, 'overdue', (row) => {
      const runId = waiting.get(row.id) ?? null
      return { runId, reason: runId === null ? 'nobody has fired it' : 'nobody has started its run' }
    }),
  )
}

function* happeningsOf(
  rows: readonly ScheduleRow[],
  event: 'overdue' | 'recover',
  more: (row: ScheduleRow) => Pick<Happening, 'runId' | 'reason'>,
): Step<Happening[]> {
  const places = yield* placesOfSchedules(rows)
  return rows.flatMap((row) => {
    const place = places.get(row.id)
    if (place === undefined) return []
    const { id: subjectId, ns, name: schedule, failureCount: failuresInARow } = row
    const key = { ns, subject: 'schedule', subjectId, event } as const
    return [{ ...key, ...place, ...more(row), schedule, failuresInARow, attempt: null, isCounted: false }]
  })
}

type Trouble = (typeof troubles)[number]

/** Ends spells of trouble: with a word where the schedule is well again, without where it is paused, gone or fails. */
function* tellOver(context: StoreContext, now: number, limit: number): Step<string[]> {
  const before = now - overdueAfterMs
  const found = yield* all<{ subject_id: number; event: Trouble }>(findOver, context.ns, before, limit)
  const locked = yield* lockSchedules(
    found.map((row) => row.subject_id),
    { wait: false },
  )
  const recovered = new Map<number, ScheduleRow>()
  const quiet: NoticeKey[] = []
  for (const { subject_id: subjectId, event } of found) {
    const row = locked.get(subjectId)
    if (row === undefined || (event === 'overdue' && (yield* hasOverdueRun(row, before)))) continue
    if (row.deletedAt === null && row.failureCount === 0 && !isPaused(row, now)) recovered.set(subjectId, row)
    else if (event === 'overdue' || row.deletedAt !== null) {
      quiet.push({ ns: row.ns, subject: 'schedule', subjectId, event })
    }
  }
  yield* closeQuietly(quiet)
  return yield* tell(
    now,
    yield* happeningsOf([...recovered.values()], 'recover', () => ({ runId: null, reason: 'it runs again' })),
  )
}

function* hasOverdueRun({ id }: ScheduleRow, before: number): Step<boolean> {
  return (yield* all<LiveRow>(findLiveOf, id, liveOfOneMax)).some((run) => isOverdue(run, before))
}

function* closeQuietly(keys: readonly NoticeKey[]): Step<void> {
  if (keys.length === 0) return
  const book = yield* NoticeBook.open(keys)
  for (const key of keys) book.set(key, { ...book.get(key), isOpen: false })
  yield* book.save()
}
