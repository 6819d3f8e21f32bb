import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { systemClock } from '../../src/core/clock.ts'
import { type OpenOptions, openStore } from '../../src/open-store.ts'
import type { Lease, Store } from '../../src/store/port.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { claimAll } from './claim-all.ts'
import { dieAtTurn } from './death.ts'
import { anyHandler, type ChildTask, noop, seeded, worker } from './place.ts'

/** A process of its own for the cases that need real ones. It is told what to do by its one argument. */
const given = JSON.parse(process.argv[2] ?? '{}') as ChildTask & { url: string; options: OpenOptions }

if (given.dieAt !== undefined) dieAtTurn(given.dieAt)
process.send?.(await perform())
process.disconnect()

async function perform(): Promise<unknown> {
  const store = await openStore(given.url, given.options)
  process.send?.('ready')
  switch (given.task) {
    case 'migrate':
      await store.close()
      return 'migrated'
    case 'claim': {
      const workerId = await store.do(registerWorker, worker)
      const { claimers, batchMax, seed } = given
      const prefix = String(process.pid)
      const claims = await claimAll({ stores: [store], claimers, batchMax, seed, workerId, prefix })
      await store.close()
      return claims
    }
    case 'enqueue':
      // It must be able to end with a listener that nobody has stopped.
      store.listen(() => undefined)
      process.send?.('about to enqueue')
      await once(process, 'message')
      await store.enqueue(Array.from({ length: given.runs }, () => noop()))
      await store.close()
      return 'enqueued'
    case 'write':
      return writeFor(store, given.forMs)
    case 'announce-claims':
      return announceClaims(store, given.seed)
    case 'lease-and-hold': {
      if (given.fires === true) await store.fireDue({ limit: given.limit })
      const { limit, leaseMs } = given
      const lease = await lessor(store)
      process.send?.(await lease({ claimId: `held-${process.pid}`, limit, leaseMs }))
      // It is killed while it holds them.
      return new Promise(() => setInterval(() => undefined, 1_000))
    }
  }
}

interface Claim {
  readonly claimId: string
  readonly limit: number
  readonly leaseMs: number
}

async function lessor(store: Store): Promise<(claim: Claim) => Promise<Lease[]>> {
  const workerId = await store.do(registerWorker, worker)
  return async (claim) => (await store.lease({ queue: 'default', workerId, can: anyHandler, ...claim })).leases
}

/** Writes without a pause and says how long the loop was ever blocked. */
async function writeFor(store: Store, forMs: number): Promise<unknown> {
  const lease = await lessor(store)
  // Whoever starts before the others would have the place for itself.
  process.send?.('about to write')
  await once(process, 'message')
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const endsAt = systemClock.monotonic() + forMs
  let steps = 0
  for (; systemClock.monotonic() < endsAt; steps++) {
    await store.enqueue(Array.from({ length: 20 }, () => noop()))
    const leases = await lease({ claimId: `write-${process.pid}-${steps}`, limit: 20, leaseMs: 30_000 })
    await succeed(store, leases)
    await new Promise((resolve) => setImmediate(resolve))
  }
  delay.disable()
  await store.close()
  return { steps, p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 }
}

export interface Announcement {
  readonly claimId: string
  readonly limit: number
  readonly step: 'lease' | 'leased' | 'settle' | 'settled'
}

/** Leases and settles, every other claim wholly, and says what it is about to do before it does it, until it is killed. */
async function announceClaims(store: Store, seed: number): Promise<never> {
  const random = seeded(seed)
  const lease = await lessor(store)
  const send = promisify((message: Announcement, done: (error: Error | null) => void) => {
    process.send?.(message, undefined, undefined, done)
  })
  for (let turn = 0; ; turn++) {
    const [claimId, limit] = [`churn-${process.pid}-${turn}`, 1 + random(10)]
    await send({ claimId, limit, step: 'lease' })
    const leases = await lease({ claimId, limit, leaseMs: 60_000 })
    await send({ claimId, limit: leases.length, step: 'leased' })
    // On a slow machine the work runs out before the kill comes; claims of nothing would then be taken for lost ones.
    if (leases.length < limit) return new Promise(() => setInterval(() => undefined, 60_000))
    if (random(2) === 0) continue
    await send({ claimId, limit, step: 'settle' })
    await succeed(store, leases)
    await send({ claimId, limit, step: 'settled' })
  }
}

async function succeed(store: Store, leases: readonly Lease[]): Promise<void> {
  await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } })))
}
