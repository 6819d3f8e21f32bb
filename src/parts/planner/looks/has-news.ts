import { rankOf } from '../../../core/schedule/hint-author.ts'
import { pausesOf } from '../../../core/schedule/steering.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import type { LookRow } from './look-rows.ts'

/**
 * Whether a look at a schedule would see anything new. During a pause no run ends, so a planner looks again half-way through its own pause;
 * otherwise it would see a mistake only afterwards. A failed look counts as not done.
 */
export function hasNews(row: ScheduleRow, look: LookRow | null, now: number): boolean {
  if (row.lastEndAt === null) return false
  if (look === null || look.lookedAt === null || look.fails > 0) return true
  const reviewAt = pauseReviewAt(row)
  return row.lastEndAt > look.lookedAt || (reviewAt !== null && reviewAt <= now && look.lookedAt < reviewAt)
}

/** When a look that sees nothing new now may see something: after the next run, or half-way through a planner's pause. */
export function newsAt(row: ScheduleRow, now: number): number {
  if (row.waitsFor !== null) return now
  const reviewAt = pauseReviewAt(row) ?? 0
  const nextAt = row.nextDueAt ?? row.pausedUntil ?? Number.POSITIVE_INFINITY
  return reviewAt > now ? Math.min(reviewAt, nextAt) : nextAt
}

/** The instant half-way through a planner's pause. */
function pauseReviewAt(row: ScheduleRow): number | null {
  const own = pausesOf(row).find(({ by }) => rankOf(by) === rankOf('planner'))
  const pausedAt = row.steering?.pausedAt
  return own === undefined || pausedAt === undefined ? null : Math.round((pausedAt + own.until) / 2)
}
