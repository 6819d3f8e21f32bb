import { cron } from '../cron/cron.ts'
import { formatId } from '../id.ts'
import type { CalendarUse } from '../opening/opening-of-all.ts'
import { dueAt, type SpreadConfig } from '../timing/spread.ts'
import type { Timing } from '../timing/timing.ts'
import { dueInside } from './calendar-bound.ts'
import type { ScheduleSpec } from './schedule-spec.ts'

/** What determines the spread of a schedule. */
export interface SpreadSchedule {
  readonly id: string
  readonly timing: Timing
  readonly spread?: SpreadConfig | undefined
  /** When the timing of the schedule was written: see `writtenAt`. */
  readonly createdAt?: number | undefined
  readonly calendars?: readonly CalendarUse[] | undefined
}

/** When an occurrence of a schedule's own timing is due: its nominal instant plus its spread. */
export function spreadDueAt(plannedAt: number, schedule: SpreadSchedule): number {
  const { id, timing, spread: config, createdAt } = schedule
  if (config === undefined) return plannedAt
  const kind = timing.at === undefined ? 'recurring' : 'one-shot'
  const intervalMs = kind === 'one-shot' ? undefined : (periodMs(timing, plannedAt) ?? 0)
  return dueInside(plannedAt, dueAt({ id, kind, plannedAt, intervalMs, config, createdAt }), schedule)
}

interface SpreadOwner {
  /** The schedule, as the store numbers it or as people read it. */
  readonly id: number | string
  readonly spec: Pick<ScheduleSpec, 'task'>
}

/** The text that the spread is computed from: a task has an id of its own. */
export function spreadId({ id, spec }: SpreadOwner): string {
  return spec.task?.id ?? (typeof id === 'number' ? formatId('schedule', id) : id)
}

/** The time from an occurrence to the next one of its timing; `null` where there is none. */
export function periodMs(timing: Timing, plannedAt: number): number | null {
  if (timing.everyMs !== undefined) return timing.everyMs
  const nextAt = timing.cron === undefined ? null : cron(timing.cron, timing.zone).next(plannedAt)
  return nextAt === null ? null : nextAt - plannedAt
}

/** The period that a timing has at an instant; `null` where it has none. */
export function periodFrom(timing: Timing, now: number): number | null {
  const firstAt = timing.cron === undefined ? now : cron(timing.cron, timing.zone).next(now)
  return firstAt === null ? null : periodMs(timing, firstAt)
}

export interface WrittenSchedule {
  readonly spec: Pick<ScheduleSpec, 'timing'>
  readonly createdAt: number
  readonly anchorAt: number
}

/** When the timing was written: for a one-shot its creation or its last edit. A one-shot is never due before. */
export function writtenAt({ spec, createdAt, anchorAt }: WrittenSchedule): number {
  return spec.timing.at === undefined ? createdAt : anchorAt
}
