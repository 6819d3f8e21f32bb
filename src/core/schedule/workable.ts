import { cron } from '../cron/cron.ts'
import { CronError } from '../cron/cron-error.ts'
import type { ScheduleSpec } from './schedule-spec.ts'

/** Throws where this machine cannot evaluate the schedule: it may lack its time zone. */
export function refuseUnworkable({ timing }: Pick<ScheduleSpec, 'timing'>): void {
  if (timing.cron !== undefined) cron(timing.cron, timing.zone)
}

/** A schedule whose time zone this machine does not know can be edited and deleted, but not evaluated. */
export function isWorkable(spec: Pick<ScheduleSpec, 'timing'>): boolean {
  try {
    refuseUnworkable(spec)
    return true
  } catch (error) {
    if (error instanceof CronError) return false
    throw error
  }
}
