import { cron } from './cron/cron.ts'
import type { Timing } from './timing.ts'

const overdueMsMin = 60_000
const periodShare = 0.1

export interface OverdueInput {
  readonly now: number
  /** When the schedule should have been looked at. */
  readonly wakeAt: number
  readonly timing: Timing
}

/**
 * How far a schedule is behind, once that is worth telling a person: over a minute, and over a tenth of its period. A
 * yearly report that is two minutes late is late, but nothing to be woken for; its lateness is in its ledger.
 */
export function overdueMs({ now, wakeAt, timing }: OverdueInput): number | null {
  const lateMs = now - wakeAt
  const toleratedMs = Math.max(overdueMsMin, periodShare * (periodMs(timing, wakeAt) ?? 0))
  return lateMs > toleratedMs ? lateMs : null
}

function periodMs(timing: Timing, at: number): number | null {
  if (timing.everyMs !== undefined) return timing.everyMs
  if (timing.cron === undefined) return null
  const calendar = cron(timing.cron, timing.zone)
  const next = calendar.next(at)
  const before = next === null ? null : calendar.previous(next)
  return next === null || before === null ? null : next - before
}
