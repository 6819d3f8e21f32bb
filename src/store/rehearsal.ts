import { BelfryError } from '../core/error.ts'
import { apply } from './apply.ts'
import { applyConfig } from './apply-config.ts'
import { backfill } from './backfill.ts'
import type { StoreContext } from './context.ts'
import type { Database } from './database.ts'
import { fireRoutine } from './fire-routine.ts'
import type { EnqueueOptions, NewRun, Store } from './port.ts'
import { deleteQueue } from './queues/delete-queue.ts'
import { setQueue } from './queues/set-queue.ts'
import { createRoutine, deleteRoutine } from './routine.ts'
import { enqueue } from './runs/enqueue.ts'
import { deleteSchedule } from './schedules/delete-schedule.ts'
import { putSchedule } from './schedules/put-schedule.ts'
import { setNotify } from './set-notify.ts'
import type { Step } from './statement.ts'

/**
 * What is not rehearsed, as refusals call it. What a worker does is half of something that happens outside the store, and
 * the callers of some others look at what was written before they answer, which would find nothing. A refusal is better
 * than an answer that may be untrue, so a step is rehearsed only where every caller of it answers from the step alone.
 */
const refused = {
  lease: 'A lease',
  leaseToHost: 'A lease',
  drain: 'A drain',
  reprioritise: 'A change of priority',
  renew: 'A renewal of leases',
  settle: 'An end of attempts',
  reclaim: 'A reclaim',
  appendOutput: 'An output',
  cancel: 'A cancellation',
  reset: 'A reset',
  retry: 'A retry',
  pauseSchedule: 'A pause of a schedule',
  resumeSchedule: 'A resumption of a schedule',
  resetSchedule: 'A reset of a schedule',
  hint: 'A hint',
  clearHints: 'A clearing of hints',
  runNow: 'A run-now',
  fireDue: 'A fire',
  repair: 'A repair',
  testNotices: 'A test of notifications',
  noticeOverdue: 'A notice',
  registerWorker: 'A registration of a worker',
  beat: 'A heartbeat',
  createToken: 'A token',
  revokeToken: 'A revocation',
  noteTokenUse: 'A use of a token',
  noteConfigFault: 'A note of what is wrong with a file',
  switchRoutine: 'A switch of a routine',
  takeDuty: 'A duty',
  prune: 'A prune',
} as const

type Refused = keyof typeof refused

/**
 * A store on which a step is done whole, and taken back: it answers what it would have answered, nothing of it stays,
 * and nobody is woken for it. An id in such an answer was free at that moment, and is not kept for anybody. What is read
 * is what is there.
 */
export function rehearsalOf(store: Store, database: Database, context: StoreContext): Store {
  const rehearsed = <Args extends unknown[], Result>(verb: (context: StoreContext, ...args: Args) => Step<Result>) => {
    return (...args: Args): Promise<Result> => database.rehearse(() => verb(context, ...args))
  }
  const takenIn = rehearsed(enqueue)
  const rehearsal: Store = {
    ...refusals(),
    place: store.place,
    namespace: store.namespace,
    keepsOrder: store.keepsOrder,
    read: store.read,
    leasesOf: (claimId) => store.leasesOf(claimId),
    enqueue: async (runs: readonly NewRun[], { transaction }: EnqueueOptions = {}) => {
      if (transaction === undefined) return takenIn(runs)
      throw unrehearsed('Work in a transaction of the caller’s own', 'Roll that transaction back instead.')
    },
    putSchedule: rehearsed(putSchedule),
    deleteSchedule: rehearsed(deleteSchedule),
    backfill: rehearsed(backfill),
    setQueue: rehearsed(setQueue),
    deleteQueue: rehearsed(deleteQueue),
    apply: rehearsed(apply),
    applyConfig: rehearsed(applyConfig),
    createRoutine: rehearsed(createRoutine),
    deleteRoutine: rehearsed(deleteRoutine),
    fireRoutine: rehearsed(fireRoutine),
    setNotify: rehearsed(setNotify),
    listen: (heard) => store.listen(heard),
    hears: () => store.hears(),
    wakeOthers: () => undefined,
    audited: () => rehearsal,
    rehearsal: () => rehearsal,
    close: () => store.close(),
  }
  return rehearsal
}

function refusals(): Pick<Store, Refused> {
  const entries = Object.entries(refused).map(([verb, subject]) => {
    return [verb, async () => Promise.reject(unrehearsed(subject, 'Ask without a rehearsal.'))]
  })
  return Object.fromEntries(entries) as Pick<Store, Refused>
}

function unrehearsed(subject: string, hint: string): BelfryError {
  return new BelfryError('invalid', `${subject} cannot be rehearsed; nothing was done.`, { hint })
}
