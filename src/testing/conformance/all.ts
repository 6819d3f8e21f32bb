import { circles } from './circles.ts'
import { claims } from './claims.ts'
import { closing } from './closing.ts'
import { commits } from './commits.ts'
import { ends } from './ends.ts'
import { enqueueing } from './enqueue.ts'
import { fencing } from './fencing.ts'
import { happenings } from './happenings.ts'
import { health } from './health.ts'
import { hosts } from './hosts.ts'
import { keys } from './keys.ts'
import { looks } from './looks.ts'
import { namespaces } from './namespaces.ts'
import { notices } from './notices.ts'
import { type Case, Stage, type Subject } from './place.ts'
import { plans } from './plans.ts'
import { processes } from './processes.ts'
import { rehearsals } from './rehearsals.ts'
import { results } from './results.ts'
import { retention } from './retention.ts'
import { routines } from './routines.ts'
import { schedules } from './schedules.ts'
import { storms } from './storms.ts'
import { texts } from './texts.ts'
import { wakes } from './wakes.ts'

/** Everything a store must do, whatever database is behind it. Each case gets a fresh place. */
export const cases: readonly Case[] = [
  ...claims,
  ...keys,
  ...hosts,
  ...plans,
  ...circles,
  ...fencing,
  ...ends,
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

/**
 * The suite for one kind of store, as plain sentences and functions, so that any test runner can run it:
 * `for (const { name, skip, run } of conformance(subject)) it(name, run)`.
 */
export function conformance(subject: Subject, childModule = new URL('./child.js', import.meta.url)) {
  return cases.map(({ name, skip, run }) => ({
    name,
    skip: skip?.(subject),
    async run(): Promise<void> {
      const stage = new Stage(subject, await subject.fresh(), childModule)
      try {
        await run(stage)
      } finally {
        await stage.dispose()
      }
    },
  }))
}
