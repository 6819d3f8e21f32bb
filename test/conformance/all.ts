import { circles } from './cases/circles.ts'
import { claims } from './cases/claims.ts'
import { closing } from './cases/closing.ts'
import { commits } from './cases/commits.ts'
import { endHooks } from './cases/end-hooks.ts'
import { ends } from './cases/ends.ts'
import { enqueueing } from './cases/enqueue.ts'
import { fencing } from './cases/fencing.ts'
import { happenings } from './cases/happenings.ts'
import { health } from './cases/health.ts'
import { holdCases } from './cases/holds.ts'
import { hosts } from './cases/hosts.ts'
import { keys } from './cases/keys.ts'
import { looks } from './cases/looks.ts'
import { namespaces } from './cases/namespaces.ts'
import { notices } from './cases/notices.ts'
import { plans } from './cases/plans.ts'
import { processes } from './cases/processes.ts'
import { rehearsals } from './cases/rehearsals.ts'
import { results } from './cases/results.ts'
import { retention } from './cases/retention.ts'
import { routines } from './cases/routines.ts'
import { schedules } from './cases/schedules.ts'
import { storms } from './cases/storms.ts'
import { texts } from './cases/texts.ts'
import { wakes } from './cases/wakes.ts'
import { type Case, Stage, type Subject } from './place.ts'

/** Everything a store must do, whatever database is behind it. Each case gets a fresh place. */
export const cases: readonly Case[] = [
  ...claims,
  ...keys,
  ...hosts,
  ...holdCases,
  ...plans,
  ...circles,
  ...fencing,
  ...ends,
  ...endHooks,
  ...results,
  ...notices,
  ...commits,
  ...enqueueing,
  ...rehearsals,
  ...namespaces,
  ...schedules,
  ...routines,
  ...storms,
  ...texts,
  ...retention,
  ...processes,
  ...wakes,
  ...looks,
  ...happenings,
  ...health,
  ...closing,
]

/** The suite for one kind of store. Cases that need processes of their own start `child`. */
export function conformance(subject: Subject, child: URL) {
  return cases.map(({ name, skip, run }) => ({
    name,
    skip: skip?.(subject),
    async run(): Promise<void> {
      const stage = new Stage(subject, await subject.fresh(), child)
      try {
        await run(stage)
      } finally {
        await stage.dispose()
      }
    },
  }))
}
