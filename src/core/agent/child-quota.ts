import { cron } from '../cron/cron.ts'
import { formatDuration } from '../duration.ts'
import type { Timing } from '../timing/timing.ts'

/** How many unfinished tasks the runs of one parent may have planned in total. */
export const childrenMax = 5
/** The least time between two runs of a child. */
export const childEveryMsMin = 5 * 60_000
/** A run of this depth plans nothing: tasks planned by an agent plan no tasks of their own. */
export const childDepthMax = 1

export interface ChildQuestion {
  readonly now: number
  /** The depth of the run that plans the task; 0 if a person planned that run. */
  readonly depth: number
  /** The unfinished tasks that the same parent planned; outside a run those of the agent in its project. */
  readonly live: number
  /** Whether the agent acts outside a run, as in a live session. */
  readonly isOutside?: boolean | undefined
  readonly timing: Timing
  readonly expiresAt: number
}

export interface ChildRefusal {
  readonly reason: 'child-depth' | 'children-full' | 'child-every' | 'child-expiry'
  readonly says: string
  readonly hint: string
}

/** Why an agent may not plan a task in its run; `null` where it may. */
export function childRefusal(question: ChildQuestion): ChildRefusal | null {
  const { now, depth, live, timing, expiresAt, isOutside = false } = question
  if (depth >= childDepthMax) {
    const hint = 'Let the task that planned this one plan the rest, or call schedule_wakeup in a loop of your own.'
    return { reason: 'child-depth', says: 'An agent planned this run itself, and such a run plans no tasks.', hint }
  }
  if (live >= childrenMax) {
    const hint = 'Delete one with cron_delete, or wait until one has finished.'
    const planners = isOutside ? 'This agent has planned' : 'The runs of its schedule have planned'
    const place = isOutside ? ' in this project' : ''
    const says = `${planners} ${live} unfinished tasks${place}, and may not have more.`
    return { reason: 'children-full', says, hint }
  }
  const often = oftenRefusal({ now, timing, expiresAt })
  if (often !== null) return often
  const firstAt = timing.at ?? (timing.cron === undefined ? null : cron(timing.cron, timing.zone).next(now))
  if (firstAt === null || firstAt <= expiresAt) return null
  const hint = `Choose an instant before ${new Date(expiresAt).toISOString()}, or ask a person.`
  return { reason: 'child-expiry', says: 'This task would expire before its first run.', hint }
}

/** Why an agent may not plan a task as often as this; `null` where it may. */
export function oftenRefusal({
  now,
  timing,
  expiresAt,
}: Pick<ChildQuestion, 'now' | 'timing' | 'expiresAt'>): ChildRefusal | null {
  const gapMs = shortestGapMs(timing, now, expiresAt)
  if (gapMs === null || gapMs >= childEveryMsMin) return null
  const hint = `Let at least ${formatDuration(childEveryMsMin)} pass between two runs.`
  return { reason: 'child-every', says: `Two runs of this task would be ${formatDuration(gapMs)} apart.`, hint }
}

/** The shortest time between two instants of the task before it expires; `null` where fewer than two are left. */
function shortestGapMs(timing: Timing, now: number, untilAt: number): number | null {
  if (timing.everyMs !== undefined) return timing.everyMs
  if (timing.cron === undefined) return null
  const calendar = cron(timing.cron, timing.zone)
  let shortest: number | null = null
  let before = calendar.next(now)
  // Stops at the first gap that is too short, so that at most a few thousand instants are computed.
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
