import type { Books } from './books.ts'
import type { RunRecord } from './run-record.ts'

export interface Look {
  /** The store's clock. */
  readonly now: number
  /** The time that really passes, and since when nothing goes wrong any more. */
  readonly calmAt: number
  /** Whether the worker that had this id is gone. */
  readonly isGone: (workerId: number) => boolean
}

/** What should have gone on since faults stopped, and has not; empty once all is well (I7). */
export function stuck(books: Books, look: Look): object[] {
  const found: object[] = []
  for (const run of books.runs.records.values()) {
    if (!run.isPruned && run.since < look.calmAt && shouldGo(books, run, look)) found.push({ run })
  }
  for (const { row, spec } of books.schedules.records.values()) {
    const isStopped = books.holds.isStopped(look.now) || books.holds.isStopped(look.now - lateMsMax)
    const isLate = row.wake_at !== null && row.wake_at <= look.now - lateMsMax && !isStopped
    if (row.deleted_at === null && isLate) found.push({ schedule: row, spec, now: look.now })
  }
  return found
}

/** What is due is fired within so long when nothing goes wrong. */
const lateMsMax = 1_500

function shouldGo(books: Books, run: RunRecord, { now, isGone }: Look): boolean {
  const [place] = run.places
  if (place === undefined) return false
  // A clock that was set back keeps a dead worker's lease for as long; whoever lives has had the time to end his.
  if (place.kind === 'lease') return place.row.expires_at <= now || !isGone(place.row.worker_id)
  const { inFlight, policy } = books.queues.get(place.row.queue_id)
  const held = books.heldOf(run)
  const isHeld = books.holds.isHeld(held, now) || books.holds.isHeld(held, now - lateMsMax)
  const isClosed = isHeld || inFlight >= policy.maxConcurrent
  if (place.kind === 'ready') return !isClosed
  if (place.row.kind === 'waiting') return !isClosed && place.row.at <= now - lateMsMax
  if (place.row.kind !== 'held' || isHeld) return false
  const row = books.schedules.records.get(run.definition.schedule_id ?? 0)?.row
  if (row?.disabled_at === null && row.paused_until === null) return true
  return row?.paused_until != null && row.disabled_at === null && row.paused_until <= now - lateMsMax
}
