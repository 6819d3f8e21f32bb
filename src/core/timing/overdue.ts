import { cron } from '../cron/cron.ts'
import type { Timing } from './timing.ts'

/** A schedule is overdue when a worker should have fired it this long ago; until then it is merely due. */
export const overdueMsMin = 60_000
const periodShare = 0.1

export interface OverdueInput {
  readonly now: number
  /** When a worker should have fired the schedule. */
  readonly wakeAt: number
}

/** How long a schedule is overdue; null where it is not. */
export function overdueMs({ now, wakeAt }: OverdueInput): number | null {
  const lateMs = now - wakeAt
  return lateMs >= overdueMsMin ? lateMs : null
}

/**
 * As `overdueMs`, but only where it deserves a warning: beyond a tenth of its period. A yearly report that is two minutes late
 * shows as overdue, but causes no warning; its lateness is in its ledger.
 */
export function overdueMsWarned({ timing, ...at }: OverdueInput & { readonly timing: Timing }): number | null {
  const lateMs = overdueMs(at)
  return lateMs !== null && lateMs > periodShare * (periodMs(timing, at.wakeAt) ?? 0) ? lateMs : null
}

function periodMs(timing: Timing, at: number): number | null {
  if (timing.everyMs !== undefined) return timing.everyMs
  if (timing.cron === undefined) return null
  const calendar = cron(timing.cron, timing.zone)
  const next = calendar.next(at)
  const before = next === null ? null : calendar.previous(next)
  return next === null || before === null ? null : next - before
}
