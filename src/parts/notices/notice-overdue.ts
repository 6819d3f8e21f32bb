import { isPaused } from '../../core/schedule/state.ts'
import { checkInteger, invalid } from '../../store/check.ts'
import { runHold, stopsFiring } from '../../store/holds/hold-row.ts'
import { lockSchedules, type ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { all, both, clockNow, one, type Step, thereIsNo } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { overdueAfterMs, type troubles } from './notice.ts'
import { NoticeBook, type NoticeKey } from './notice-row.ts'
import { type Happening, placesOfSchedules, sendNotices } from './notify-ends.ts'

const findStop = both('notice find stop', `select 1 as stopped where ${stopsFiring({ now: '$2' })}`)
const openNotice = `from belfry.notice n
  where n.ns = s.ns and n.subject = 'schedule' and n.subject_id = s.id and n.event = 'overdue' and n.is_open = 1`
/** Occurrences that no worker has fired. A receiver gets one notice of each. */
const findLate = both(
  'notice find late',
  `select s.id, s.wake_at from belfry.schedule s where s.ns = $1 and s.wake_at is not null and s.wake_at <= $2
    and s.next_due_at <= $2 and ${thereIsNo(openNotice)} and (s.wake_at, s.id) > ($4, $5) order by s.wake_at, s.id limit $3`,
)
/** Whether a run makes up for an instant in the past. Such a run was due long ago, and its author knows that. */
const isMadeUp = 'd.occurrence_at is null and d.due_at < d.enqueued_at'
/** One query for each schedule, which stops at the first row: an `exists` might be answered by reading all ended runs. */
const unstartedColumns = (now: string) => `s.schedule_id, s.run_id,
  (select case when ${isMadeUp} then 1 else 0 end from belfry.run d where d.id = s.run_id) as is_made_up,
  (select ${runHold(now)} from belfry.run d where d.id = s.run_id) as held_by,
  (select case when d.not_before > d.enqueued_at then d.not_before else d.enqueued_at end
    from belfry.run d where d.id = s.run_id) as ready_at,
  (select a.kind from belfry.aside a where a.run_id = s.run_id) as kind,
  coalesce((select 1 from belfry.lease l where l.run_id = s.run_id limit 1),
    (select 1 from belfry.attempt t where t.run_id = s.run_id limit 1), 0) as has_started`
/** Reads the live runs of all schedules, which are few compared with the ended ones. */
const findLive = both(
  'notice find live',
  `select ${unstartedColumns('$5')} from belfry.schedule_run s
    where s.ns = $1 and (s.schedule_id, s.run_id) > ($3, $4) order by s.schedule_id, s.run_id limit $2`,
)
/** A thousand runs that make up for the past would come before the run that is wanted. */
const findLiveOf = both(
  'notice find live of schedule',
  `select ${unstartedColumns('$3')} from belfry.schedule_run s where s.schedule_id = $1
    and (select case when ${isMadeUp} then 1 else 0 end from belfry.run d where d.id = s.run_id) = 0 order by s.run_id limit $2`,
)
/**
 * Trouble that was notified and is over, as far as the schedule's own row shows. Few rows are open; the empty text keeps
 * SQLite from searching by subject, which would read every notice ever sent.
 */
const findOver = both(
  'notice find over',
  `select n.subject_id, n.event from belfry.notice n join belfry.schedule s on s.id = n.subject_id
    where n.ns = $1 and n.subject || '' = 'schedule' and n.is_open = 1
    and (s.deleted_at is not null or s.is_done = 1 or case when n.event = 'overdue'
      then s.next_due_at is null or s.next_due_at > $2 else s.failure_count = 0 end)
    and (n.subject_id, n.event) > ($4, $5) order by n.subject_id, n.event limit $3`,
)

export interface OverdueNoticed {
  /** The runs that send the notices. */
  readonly runs: readonly string[]
  /** Where the next step goes on; `null` when all were looked at. */
  readonly next: string | null
}

const limitMax = 10_000
const liveOfOneMax = 100

/** A live run of a schedule, and whether any attempt of it has started. */
interface LiveRow {
  readonly schedule_id: number
  readonly run_id: number
  readonly is_made_up: number
  readonly held_by: number | null
  readonly ready_at: number
  readonly kind: string | null
  readonly has_started: number
}

/**
 * Sends notices of schedules whose occurrence no worker has fired or whose run no worker has started, and of trouble that has
 * ended without a notice. Neither is found on the way of a run that goes well. Rows that another step has locked are left for
 * the next step.
 */
export function* noticeOverdue(
  context: StoreContext,
  { limit, from }: { limit: number; from?: string },
): Step<OverdueNoticed> {
  checkInteger(limit, 'limit', 1, limitMax)
  const places = placesIn(from)
  const now = yield* clockNow()
  // Nothing is fired or leased in a stopped namespace, so nothing in it is late.
  if ((yield* one(findStop, context.ns, now)) !== undefined) return { runs: [], next: null }
  const looking = { context, ns: context.ns, now, before: now - overdueAfterMs, limit }
  const late = yield* lateOf(looking, places.late)
  const live = yield* liveOf(looking, places.live)
  const waiting = new Map(
    live.found.filter((run) => isOverdue(run, looking.before)).map((run) => [run.schedule_id, run.run_id]),
  )
  const ids = [...new Set([...late.found.map(({ id }) => id), ...waiting.keys()])]
  const overdue = yield* tellOverdue(looking, ids, waiting)
  const over = yield* overOf(looking, places.over)
  const runs = [...overdue, ...(yield* tellOver(looking, over.found))]
  const next = { late: late.next, live: live.next, over: over.next }
  return { runs, next: Object.values(next).every((place) => place === null) ? null : JSON.stringify(next) }
}

interface Looking {
  readonly context: StoreContext
  readonly ns: number
  readonly now: number
  /** Work that was to start before this instant is overdue. */
  readonly before: number
  readonly limit: number
}

/** The last row read: the list continues after it. */
type ListCursor = readonly [number, number | string]

/** A part of a list; `next` is `null` at its end. */
interface Part<Found> {
  readonly found: readonly Found[]
  readonly next: ListCursor | null
}

/**
 * How far each of the three lists was read; `null`: to its end. Each list continues after the last row read; otherwise rows
 * without a receiver would keep the rows after them from ever being read.
 */
type Places = Readonly<Record<'late' | 'live' | 'over', ListCursor | null>>

const beginning: Places = { late: [Number.MIN_SAFE_INTEGER, 0], live: [0, 0], over: [0, ''] }

function placesIn(from: string | undefined): Places {
  if (from === undefined) return beginning
  try {
    const places = JSON.parse(from) as Places
    if (
      Object.entries(beginning).every(([list, first]) => isPlace(places[list as keyof Places], first as ListCursor))
    ) {
      return places
    }
  } catch {
    // Falls through to the one refusal of everything that no step has answered.
  }
  throw invalid('from', `is ${JSON.stringify(from)}`, 'the `next` of the step before')
}

function isPlace(place: unknown, like: ListCursor): boolean {
  if (place === null) return true
  if (!Array.isArray(place) || place.length !== 2) return false
  return place.every(
    (part, index) => typeof part === typeof like[index] && (typeof part === 'string' || Number.isSafeInteger(part)),
  )
}

function partOf<Found>(found: readonly Found[], limit: number, placeOf: (last: Found) => ListCursor): Part<Found> {
  const last = found.length < limit ? undefined : found.at(-1)
  return { found, next: last === undefined ? null : placeOf(last) }
}

const nothing = { found: [], next: null } as const

interface LateRow {
  readonly id: number
  readonly wake_at: number
}

function* lateOf({ ns, before, limit }: Looking, place: ListCursor | null): Step<Part<LateRow>> {
  if (place === null) return nothing
  return partOf(yield* all<LateRow>(findLate, ns, before, limit, ...place), limit, (row) => [row.wake_at, row.id])
}

function* liveOf({ ns, limit, now }: Looking, place: ListCursor | null): Step<Part<LiveRow>> {
  if (place === null) return nothing
  return partOf(yield* all<LiveRow>(findLive, ns, limit, ...place, now), limit, (row) => [row.schedule_id, row.run_id])
}

interface OverRow {
  readonly subject_id: number
  readonly event: (typeof troubles)[number]
}

function* overOf({ ns, before, limit }: Looking, place: ListCursor | null): Step<Part<OverRow>> {
  if (place === null) return nothing
  return partOf(yield* all<OverRow>(findOver, ns, before, limit, ...place), limit, (row) => [row.subject_id, row.event])
}

/** Whether no worker has started a run that could have started. A run that was late before its queue was paused stays late. */
function isLate(
  { ready_at: readyAt, is_made_up: isMadeUp, kind, has_started: hasStarted }: LiveRow,
  before: number,
): boolean {
  return hasStarted === 0 && readyAt <= before && isMadeUp === 0 && !isBehindItsOwn(kind)
}

/**
 * A held run waits for the end of its schedule's pause, and a run behind another of its schedule for the end of that one:
 * neither is late.
 */
function isBehindItsOwn(kind: string | null): boolean {
  return kind === 'held' || kind === 'overlap'
}

/** A run under a hold is not late: the author of the hold knows that it does not start. */
function isOverdue(run: LiveRow, before: number): boolean {
  return run.held_by === null && isLate(run, before)
}

function* tellOverdue(
  { context, now, before }: Looking,
  ids: readonly number[],
  waiting: ReadonlyMap<number, number>,
): Step<string[]> {
  const locked = yield* lockSchedules(ids, { wait: false })
  const overdue = [...locked.values()].filter((row) => {
    const isLate = waiting.has(row.id) || (row.nextDueAt !== null && row.nextDueAt <= before)
    return isLate && row.deletedAt === null && !isPaused(row, now)
  })
  return yield* sendNotices(
    context,
    now,
    yield* happeningsOf(overdue, 'overdue', (row) => {
      const runId = waiting.get(row.id) ?? null
      return { runId, reason: runId === null ? 'no worker has fired it' : 'no worker has started its run' }
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

/**
 * Ends spells of trouble: with a recovery notice where the schedule is well again, and without one where it is paused,
 * deleted, failing, or past its last occurrence, after which nothing else would end the spell.
 */
function* tellOver({ context, now, before }: Looking, found: readonly OverRow[]): Step<string[]> {
  const locked = yield* lockSchedules(
    found.map((row) => row.subject_id),
    { wait: false },
  )
  const recovered = new Map<number, ScheduleRow>()
  const quiet: NoticeKey[] = []
  for (const { subject_id: subjectId, event } of found) {
    const row = locked.get(subjectId)
    if (row === undefined || (event === 'overdue' && (yield* hasLateRun(row, { now, before })))) continue
    if (row.deletedAt === null && row.failureCount === 0 && !isPaused(row, now)) recovered.set(subjectId, row)
    else if (event === 'overdue' || row.deletedAt !== null || row.nextDecision?.source === 'none') {
      quiet.push({ ns: row.ns, subject: 'schedule', subjectId, event })
    }
  }
  yield* closeQuietly(quiet)
  const reason = 'nothing of it is overdue or fails any more'
  return yield* sendNotices(
    context,
    now,
    yield* happeningsOf([...recovered.values()], 'recover', () => ({ runId: null, reason })),
  )
}

function* hasLateRun({ id }: ScheduleRow, { now, before }: Pick<Looking, 'now' | 'before'>): Step<boolean> {
  return (yield* all<LiveRow>(findLiveOf, id, liveOfOneMax, now)).some((run) => isLate(run, before))
}

function* closeQuietly(keys: readonly NoticeKey[]): Step<void> {
  if (keys.length === 0) return
  const book = yield* NoticeBook.open(keys)
  for (const key of keys) book.set(key, { ...book.get(key), isOpen: false })
  yield* book.save()
}
