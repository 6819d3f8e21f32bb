import { cron } from '../cron/cron.ts'
import { formatDuration } from '../duration.ts'
import type { Timing } from '../timing/timing.ts'

/** How many unfinished tasks the runs of one parent may have planned, all together. */
export const childrenMax = 5
/** The least time between two runs of a child. */
export const childEveryMsMin = 5 * 60_000
/** A run of this depth plans nothing: children have no children. */
export const childDepthMax = 1

export interface ChildQuestion {
  readonly now: number
  /** The depth of the run that plans: 0 where a person planned it. */
  readonly depth: number
  /** The unfinished children of its parent. */
  readonly live: number
  readonly timing: Timing
  readonly expiresAt: number
}

export interface ChildRefusal {
  readonly reason: 'child-depth' | 'children-full' | 'child-every' | 'child-expiry'
  readonly says: string
  readonly hint: string
}

/** Why an agent may not plan a task in its run; `null` where it may. */
export function childRefusal({ now, depth, live, timing, expiresAt }: ChildQuestion): ChildRefusal | null {
  if (depth >= childDepthMax) {
    const hint = 'Let the task that planned this one plan the rest, or call schedule_wakeup in a loop of your own.'
    return { reason: 'child-depth', says: 'An agent planned this run itself, and such a run plans no tasks.', hint }
  }
  if (live >= childrenMax) {
    const hint = 'Delete one with cron_delete, or wait until one has finished.'
    return { reason: 'children-full', says: `It has ${live} unfinished tasks, and may not have more.`, hint }
  }
  const gapMs = shortestGapMs(timing, now, expiresAt)
  if (gapMs !== null && gapMs < childEveryMsMin) {
    const hint = `Let at least ${formatDuration(childEveryMsMin)} pass between two runs.`
    return { reason: 'child-every', says: `Two of its runs are ${formatDuration(gapMs)} apart.`, hint }
  }
  const firstAt = timing.at ?? (timing.cron === undefined ? null : cron(timing.cron, timing.zone).next(now))
  if (firstAt === null || firstAt <= expiresAt) return null
  const hint = `Choose an instant before ${new Date(expiresAt).toISOString()}, or ask a person.`
  return { reason: 'child-expiry', says: 'It would expire before its first run.', hint }
}

/** The shortest time between two of its instants while it lasts; `null` where it has fewer than two. */
function shortestGapMs(timing: Timing, now: number, untilAt: number): number | null {
  if (timing.everyMs !== undefined) return timing.everyMs
  if (timing.cron === undefined) return null
  const calendar = cron(timing.cron, timing.zone)
  let shortest: number | null = null
  let before = calendar.next(now)
  // Stops at the first gap that is too short, so that it looks at few thousand instants at most.
  while (before !== null && before <= untilAt && (shortest ?? childEveryMsMin) >= childEveryMsMin) {
    const next = calendar.next(before)
    if (next !== null) shortest = Math.min(shortest ?? next - before, next - before)
    before = next
  }
  return shortest
}

/** When a child expires: with its parent at the latest. */
export function childExpiry({ own, parent }: { readonly own: number; readonly parent?: number | undefined }): number {
  return Math.min(own, parent ?? own)
}
