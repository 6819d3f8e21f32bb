import { stopRequests } from '../store/reads/find-leases.ts'
import { attemptName, type EngineContext } from './engine-context.ts'
import { renewedBy, stopHolding } from './leases/holdings.ts'
import { loseHolding } from './leases/lose-holding.ts'
import { trustMs } from './settings.ts'

/** Renews all leases in one step, each for its own length, and receives requests to stop. */
export async function renewTick(context: EngineContext): Promise<number> {
  const { store, clock, holdings, settings, signal } = context
  const held = holdings.all().filter(({ isLost }) => !isLost)
  if (held.length > 0) {
    const startedAt = clock.monotonic()
    const renewals = await store.renew(held.map(renewedBy))
    for (const renewal of renewals) {
      const holding = holdings.get(renewal)
      if (holding === undefined) continue
      if (!renewal.renewed) {
        // The settle will find the same, or find that a commit that seemed to fail did write the
        // end.
        if (!holding.isSettling && !holding.isInDoubt) loseHolding(context, holding)
      } else {
        // Counted from before the request: the store's own count may have begun then.
        holding.trustedUntil = startedAt + trustMs(holding)
        if (renewal.cancelRequestedAt !== null) stopHolding(holding, 'cancelled')
        else if (renewal.releaseRequestedAt !== null) stopHolding(holding, 'release')
      }
    }
  }
  signal('renew.ticked', held.length)
  return settings.renewMs
}

/**
 * Stops runs whose leases can no longer be trusted: the store has not answered for most of a lease, so by its end another worker
 * may have these runs. It makes no call to the store, because the store does not answer.
 */
export function trustTick({ clock, holdings, events, settings }: EngineContext): number {
  const now = clock.monotonic()
  let wakeAt = now + settings.renewMs
  for (const holding of holdings.all()) {
    if (holding.stopped !== null || holding.isOver) continue
    if (holding.trustedUntil > now) wakeAt = Math.min(wakeAt, holding.trustedUntil)
    else if (stopHolding(holding, 'lease-lost')) {
      events.tell('run.lease-lost', { ...attemptName(holding.lease), because: 'not-renewed' })
    }
  }
  return wakeAt - now
}

export async function stopTick({ store, holdings }: EngineContext, workerIds: readonly string[]): Promise<null> {
  if (holdings.size === 0) return null
  for (const workerId of workerIds) {
    for (const request of await store.look(stopRequests, workerId)) {
      const holding = holdings.get(request)
      if (holding !== undefined) stopHolding(holding, request.stop)
    }
  }
  return null
}
