import type { StoreContext } from '../context.ts'
import type { Database } from '../database.ts'
import type { StoreReads } from '../port.ts'
import { clockNow, type Step } from '../statement.ts'
import { attempts } from './attempts.ts'
import { audit } from './audit.ts'
import { configApplied, configFaults, configs } from './config.ts'
import { events } from './events.ts'
import { healthReads } from './health/all.ts'
import { cancelRequests, heldRuns, leasesOfWorkers } from './lease.ts'
import { nextInstants } from './next-instants.ts'
import { notices, notify, notifySettings } from './notice.ts'
import { output } from './output.ts'
import { planInput } from './plan-input.ts'
import { queue, queues, queueVersions, workAhead } from './queue.ts'
import { queueStats } from './queue-stats.ts'
import { routine, routineEvents, routines } from './routine.ts'
import { run } from './run.ts'
import { runs } from './runs.ts'
import { hints, ledger, overdueSchedules, schedule, schedules, scheduleVersions } from './schedule.ts'
import { scopeSaid, token, tokens } from './token.ts'
import { workers } from './worker.ts'

/** The reads of the port over a database: each is one snapshot. */
export function storeReads(database: Database, context: StoreContext): StoreReads {
  const bound =
    <Args extends unknown[], Result>(verb: (context: StoreContext, ...args: Args) => Step<Result>) =>
    (...args: Args): Promise<Result> =>
      database.read(() => verb(context, ...args))
  return {
    now: () => database.read(clockNow),
    run: bound(run),
    runs: bound(runs),
    attempts: bound(attempts),
    output: bound(output),
    schedule: bound(schedule),
    schedules: bound(schedules),
    scheduleVersions: bound(scheduleVersions),
    hints: bound(hints),
    ledger: bound(ledger),
    queue: bound(queue),
    queues: bound(queues),
    queueStats: bound(queueStats),
    queueVersions: bound(queueVersions),
    workers: bound(workers),
    token: bound(token),
    tokens: bound(tokens),
    scopeSaid: bound(scopeSaid),
    routine: bound(routine),
    routines: bound(routines),
    routineEvents: bound(routineEvents),
    notify: bound(notify),
    notifySettings: bound(notifySettings),
    notices: bound(notices),
    audit: bound(audit),
    configs: bound(configs),
    configApplied: bound(configApplied),
    configFaults: bound(configFaults),
    // As a write, though it writes nothing. Where there is one writer, nobody else is about to commit; elsewhere each of its
    // statements sees what was committed before it, while the one snapshot of a read is older than what it learns of others.
    events: (...args) => database.write(() => events(context, ...args)),
    planInput: bound(planInput),
    nextInstants: bound(nextInstants),
    workAhead: bound(workAhead),
    cancelRequests: bound(cancelRequests),
    heldRuns: bound(heldRuns),
    leasesOfWorkers: bound(leasesOfWorkers),
    overdueSchedules: bound(overdueSchedules),
    health: healthReads(database, context),
  }
}
