import type { HeldLease } from '../store/port.ts'
import type { WorkerView } from '../store/view.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { EngineContext } from './context.ts'
import { renewTick } from './heartbeat.ts'
import { readInstants } from './instants.ts'

const batchMax = 500

/** What proves and clears up the deaths of this machine's workers. */
export interface Coroner {
  /** Whether the process of a worker is certainly gone; of what cannot be seen from here nothing is certain. */
  isDead(worker: WorkerView): boolean
  /** Ends what attempts of dead workers left running, before their runs are given out again. */
  endLeftovers(leases: readonly HeldLease[]): Promise<unknown>
}

export interface ReclaimOptions {
  readonly context: EngineContext
  readonly watch: ClockWatch
  readonly coroner: Coroner
  readonly workerId: () => string
  readonly jumped: () => void
}

/**
 * Takes back what nobody works on any more: leases of local workers that are proven dead, at once; all others when they
 * have expired. After a jump of the clock nothing has certainly expired, so for the length of a lease only the dead are
 * taken from.
 */
export async function reclaimTick(options: ReclaimOptions): Promise<number> {
  const { context, watch, jumped } = options
  const { clock, settings, signal } = context
  await buryDead(options)
  const { now, leaseExpiresAt } = await readInstants(context, watch, jumped)
  let reclaimed = 0
  if (leaseExpiresAt !== null && leaseExpiresAt <= now && watch.mayReclaim(clock.monotonic())) {
    // What has expired may be our own, if this process was held up: as long as nobody has taken it, it can be kept.
    await renewTick(context)
    reclaimed = await takeBack(context, [])
  }
  signal('reclaim.ticked', reclaimed)
  if (reclaimed === batchMax) return 0
  if (leaseExpiresAt === null || leaseExpiresAt <= now) return settings.localDeathsMs
  return Math.min(leaseExpiresAt - now, settings.localDeathsMs)
}

async function buryDead({ context, coroner, workerId }: ReclaimOptions): Promise<void> {
  const { store } = context
  const workers = await store.read.workers()
  const dead = workers.filter(
    (worker) => worker.stoppedAt === null && worker.id !== workerId() && coroner.isDead(worker),
  )
  if (dead.length === 0) return
  const ids = dead.map(({ id }) => id)
  const leases = await store.read.leasesOfWorkers(ids, batchMax)
  if (leases.length > 0) {
    await coroner.endLeftovers(leases)
    await takeBack(context, ids)
  }
  // Those that still hold something are seen again; the others need not be looked at any more.
  if (leases.length < batchMax) await store.beat(ids, { stopped: true })
}

async function takeBack({ store, events }: EngineContext, deadWorkers: readonly string[]): Promise<number> {
  const reclaimed = await store.reclaim({ deadWorkers, limit: batchMax })
  for (const taken of reclaimed) events.tell('run.reclaimed', taken)
  return reclaimed.length
}
