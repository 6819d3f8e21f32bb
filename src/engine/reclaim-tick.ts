import type { HeldLease, Reclaimed, ReclaimRequest } from '../store/port.ts'
import { leasesOfWorkers } from '../store/reads/find-leases.ts'
import { findRun } from '../store/reads/find-run.ts'
import { listAttempts } from '../store/reads/list-attempts.ts'
import { listWorkers } from '../store/reads/list-workers.ts'
import type { WorkerView } from '../store/views.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { EngineContext } from './engine-context.ts'
import { eventOfEnd } from './events.ts'
import { readInstants } from './read-instants.ts'
import { renewTick } from './renew-tick.ts'

const batchMax = 500
/** While another worker has locked the expired leases: how soon to try again. */
const contendedMs = 50

/** Proves workers of this machine dead, and cleans up after them. */
export interface Coroner {
  /** Whether the process of a worker is certainly gone; a process that cannot be seen from here is not. */
  isDead(worker: WorkerView): boolean
  /** Ends processes that attempts of dead workers left running, before their runs are leased again. */
  endLeftovers(leases: readonly HeldLease[]): Promise<unknown>
}

export interface ReclaimOptions {
  readonly context: EngineContext
  readonly watch: ClockWatch
  readonly coroner: Coroner
  readonly workerId: () => string
  readonly jumped: () => void
  /** Called with the number of other live workers. */
  readonly met: (others: number) => void
}

/**
 * Reclaims runs whose workers are gone: leases of local workers that are proven dead, at once; all others when they have expired.
 * After a jump of the clock no lease has certainly expired, so for the length of a lease only those of dead workers are
 * reclaimed.
 */
export async function reclaimTick(options: ReclaimOptions): Promise<number> {
  const { context, watch, jumped } = options
  const { clock, settings, signal } = context
  await buryDead(options)
  const { now, leaseExpiresAt } = await readInstants(context, watch, jumped)
  const mayTakeBack = () => leaseExpiresAt !== null && leaseExpiresAt <= now && watch.mayReclaim(clock.monotonic())
  const isLate = mayTakeBack()
  let reclaimed = 0
  if (isLate) {
    // If this process was blocked, the expired leases may be its own: they can be renewed until another worker reclaims
    // them.
    await renewTick(context)
    // The renewal may have taken long, and another loop may have noticed a clock jump meanwhile.
    if (mayTakeBack()) reclaimed = await takeBack(context, { limit: batchMax })
  }
  signal('reclaim.ticked', reclaimed)
  // Other leases may expire a moment later, so the next tick follows at once.
  if (reclaimed > 0) return 0
  // Another worker was quicker or has locked these leases. Other expired leases must not wait for the check of dead workers.
  if (isLate) return contendedMs
  // Leases granted from now on expire a whole lease later at the earliest, so a longer sleep would be too long.
  const longestMs = Math.min(settings.localDeathsMs, settings.leaseMs)
  return leaseExpiresAt === null || leaseExpiresAt <= now ? longestMs : Math.min(leaseExpiresAt - now, longestMs)
}

async function buryDead({ context, coroner, workerId, met }: ReclaimOptions): Promise<void> {
  const { store } = context
  const workers = await store.look(listWorkers)
  const others = workers.filter(({ id, stoppedAt }) => stoppedAt === null && id !== workerId())
  const dead = others.filter((worker) => coroner.isDead(worker))
  met(others.length - dead.length)
  if (dead.length === 0) return
  const ids = dead.map(({ id }) => id)
  const leases = await store.look(leasesOfWorkers, ids, batchMax)
  if (leases.length > 0) {
    await coroner.endLeftovers(leases)
    await takeBack(context, { deadWorkers: ids, expired: false, limit: batchMax })
  }
  // Workers that still hold something are checked again; the others need not be.
  const left = new Set((await store.look(leasesOfWorkers, ids, batchMax)).map((lease) => lease.workerId))
  const buried = ids.filter((id) => !left.has(id))
  if (buried.length > 0) await store.beat(buried, { died: true })
}

async function takeBack(context: EngineContext, request: ReclaimRequest): Promise<number> {
  const reclaimed = await context.store.reclaim(request)
  for (const taken of reclaimed) {
    context.events.tell('run.reclaimed', taken)
    if (taken.status !== 'ready') await tellEnd(context, taken)
  }
  return reclaimed.length
}

/** Emits the event of a failed or parked run, because the run's own worker is gone. */
async function tellEnd({ store, events }: EngineContext, { runId, fence, status, reason }: Reclaimed): Promise<void> {
  const [run, attempts] = await Promise.all([store.look(findRun, runId), store.look(listAttempts, runId)])
  const attempt = attempts.find((one) => one.fence === fence)
  events.tell(eventOfEnd(status), {
    runId,
    fence,
    queue: run?.queue ?? '',
    scheduleId: run?.scheduleId ?? null,
    status,
    reason,
    source: run?.source ?? '',
    durationMs: attempt === undefined ? 0 : attempt.endedAt - (attempt.startedAt ?? attempt.endedAt),
  })
}
