import type { Duty } from '../../../engine/part.ts'
import { askAgain } from '../../../store/calendars/ask-again.ts'
import { renewClosings, staleUses } from '../../../store/calendars/use-calendars.ts'

const usesMax = 200
const askedMax = 100
const stepsMax = 50

/** Writes closings further ahead, and asks the schedules again that a change has not reached yet. */
export const calendarDuty: Duty = {
  name: 'calendars',
  everyMs: 60_000,
  async tick({ store }) {
    const failures: unknown[] = []
    for (const use of await store.look(staleUses, { limit: usesMax })) {
      // A calendar in a time zone that this machine does not know must not stop the others.
      await store.do(renewClosings, use).catch((error: unknown) => failures.push(error))
    }
    for (let steps = 1; steps <= stepsMax; steps++) {
      if (!(await store.do(askAgain, { limit: askedMax })).more) break
    }
    if (failures.length > 0) throw failures[0]
  },
}
