import { overlapOf } from '../../core/schedule/overlap.ts'
import { runIdOf } from '../leases/settle.ts'
import { listLiveRuns, schedulesAtWork } from '../schedules/live-run.ts'
import { lockSchedules, type ScheduleRow, setsAside } from '../schedules/schedule-row.ts'
import { both, clockNow, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import type { About } from '../verb.ts'
import { type Arrival, admit } from './admit.ts'
import { asideOf } from './ready-aside.ts'
import { freshReadyRow, type RunOutline, runOutlines } from './run-outline.ts'

/** The row is found by its run, not among all parked runs; see `takeGated` in `key-gate.ts`. */
const takeParked = both(
  'reset take parked',
  `delete from belfry.aside where run_id = $1 and coalesce(kind, '') = 'parked' returning ${columnsOf('aside')}`,
)
const claimDedupeKey = both(
  'reset claim dedupe',
  'insert into belfry.dedupe (ns, key, run_id) values ($1, $2, $3) on conflict (ns, key) do nothing',
)
const findOtherLive = both(
  'reset find other live',
  'select run_id from belfry.schedule_run where schedule_id = $1 and run_id <> $2 order by run_id desc limit 1',
)

/**
 * Gives a parked run all its attempts back, at once. Its fence continues, so that earlier lease holders stay fenced out.
 *
 * For its schedule the occurrence ended when it was parked, and the chain went on: the reset run is live again for overlap, pause
 * and delete, but its second end does not move the schedule. If another live run has taken the dedupe key meanwhile, that run
 * keeps it.
 */
export function* resetRun(context: StoreContext, runId: string): Step<'ready' | 'not-parked' | 'not-found'> {
  const id = runIdOf({ runId })
  const place = (yield* runOutlines(context, [id])).get(id)
  if (place === undefined) return 'not-found'
  const schedule = yield* lockScheduleOf(place)
  return (yield* resetParked(place, schedule)) ? 'ready' : 'not-parked'
}
resetRun.audits = (answer: string, [id]: About) => (answer === 'ready' ? { detail: {}, subject: `run ${id}` } : null)

export function* lockScheduleOf({ scheduleId }: Pick<RunOutline, 'scheduleId'>): Step<ScheduleRow | null> {
  if (scheduleId === null) return null
  return (yield* lockSchedules([scheduleId], { wait: true })).get(scheduleId) ?? null
}

/** Resets a run whose schedule is locked. Returns whether the run was parked. */
export function* resetParked(place: RunOutline, schedule: ScheduleRow | null): Step<boolean> {
  const now = yield* clockNow()
  const row = yield* one(takeParked, place.runId)
  if (row === undefined) return false
  if (place.dedupeKey !== null) yield* one(claimDedupeKey, place.ns, place.dedupeKey, place.runId)
  const { fence, priority } = asideOf(row).standing
  const { kept, eligible } = yield* joinSchedule(now, place, schedule)
  yield* admit(now, [
    { standing: freshReadyRow({ ...place, priority }, fence), eligible, kept, keyLimit: place.keyLimit },
  ])
  return true
}

export interface Joined extends Pick<Arrival, 'kept' | 'eligible'> {
  /** The live run that the reset run must not overlap. */
  readonly behind: number | null
}

/**
 * Adds a run that a person started or revived to its schedule's live runs, and returns why it does not start: a pause, or the
 * live run it must not overlap. A run of a deleted schedule belongs to no schedule any more.
 */
export function* joinSchedule(
  now: number,
  { ns, runId, enqueuedAt }: Pick<RunOutline, 'ns' | 'runId' | 'enqueuedAt'>,
  schedule: ScheduleRow | null,
): Step<Joined> {
  if (schedule === null || schedule.deletedAt !== null) return { kept: null, eligible: null, behind: null }
  const isSerial = overlapOf(schedule.spec) !== 'allow'
  const other = isSerial ? yield* one<{ run_id: number }>(findOtherLive, schedule.id, runId) : undefined
  const isAtWork = isSerial && (yield* schedulesAtWork([schedule.id])).has(schedule.id)
  yield* listLiveRuns([{ ns, scheduleId: schedule.id, id: runId }])
  const behind = other?.run_id ?? null
  // A resume releases runs that may not overlap one at a time; this mark identifies such runs.
  const eligible = behind === null ? null : { at: enqueuedAt, reason: 'overlap' }
  if (setsAside(schedule, now)) return { kept: 'held', eligible, behind }
  return isAtWork ? { kept: 'overlap', eligible, behind } : { kept: null, eligible: null, behind }
}
