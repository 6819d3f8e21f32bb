import type { Part } from '../../../part.ts'
import { askCheck, askUntil, askWhen, guardsOf } from './ask-guard.ts'
import { finishByUntil } from './finish-by-until.ts'
import { check, until, when } from './guard-field.ts'

declare module '../../../engine/events.ts' {
  interface EngineEvents {
    /** A guard could not tell whether a schedule is to end; it is asked again after the next completed run. */
    'guard.failed': AttemptName & { readonly guard: 'until'; readonly reason: string }
  }
}

/** Guards: targets that a worker asks under the lease whether a run may start, whether its result is good, and whether its schedule is to end. */
export const guards = {
  name: 'guards',
  fields: { schedule: { when, until, check }, run: { when, check } },
  concerns: (lease) => guardsOf(lease).when !== undefined,
  begins: askWhen,
  judgesFor: (lease) => guardsOf(lease).check !== undefined,
  judges: askCheck,
  concludesFor: (lease) => lease.scheduleId !== null && guardsOf(lease).until !== undefined,
  concludes: askUntil,
  ended: finishByUntil,
  events: {
    'guard.failed': {
      level: 'warn',
      say: ({ runId, guard, reason }) =>
        `The guard ${guard} failed after run ${runId}, so its schedule goes on and asks again: ${reason}.`,
    },
  },
} as const satisfies Part
