import { type Clock, systemClock } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import { beatsMissedMax } from '../operations/worker/worker-alive.ts'
import type { Store } from '../store/port.ts'
import { listWorkers } from '../store/reads/list-workers.ts'
import type { WorkerView } from '../store/views.ts'
import { isProvenDead } from '../store/workers/process-identity.ts'

/**
 * Refuses an injected clock beside workers with another one: each would take the other's leases for expired, or for valid for
 * ever. The clock of the other workers is unknown, so a worker counts as live if it is live by either clock.
 */
export async function refuseBesideOthers(clock: Clock, store: Store, ownId: string | null): Promise<void> {
  const now = [systemClock.now(), clock.now()]
  const others = (await store.look(listWorkers)).filter((worker) => {
    return worker.id !== ownId && isPerhapsLive(worker, now)
  })
  const [first] = others
  if (first === undefined) return
  const more = others.length === 1 ? '' : ` and ${others.length - 1} more`
  throw new BelfryError(
    'conflict',
    `Worker ${first.id} (${first.name}${more}) runs on ${store.place} by its own clock.`,
    {
      hint: 'Use an injected clock on a separate store, such as memory:, or stop the other workers.',
      details: { workers: others.map(({ id }) => id) },
    },
  )
}

function isPerhapsLive({ stoppedAt, beatAt, beatMs, process }: WorkerView, instants: readonly number[]): boolean {
  if (stoppedAt !== null || (process !== null && isProvenDead(process))) return false
  return instants.some((now) => Math.abs(now - beatAt) <= beatsMissedMax * beatMs)
}
