import { BelfryError } from '../core/error.ts'
import { systemSchedule } from '../core/system-schedule.ts'
import { quoted } from './input/refuse-input.ts'

/**
 * Refuses to change or delete a schedule that Belfry itself writes: Belfry would undo the change at its next write of
 * the schedule.
 */
export function refuseSystem(name: string, how: 'change' | 'remove'): void {
  const found = systemSchedule(name)
  if (found === null) return
  const verb = how === 'change' ? 'changed' : 'deleted'
  throw new BelfryError('conflict', `Schedule ${quoted(name)} belongs to ${found.of}, and is not ${verb} by hand.`, {
    hint: `Use \`${found[how]}\`. Pause, resume, run and explain work as usual.`,
    details: { schedule: name },
  })
}
