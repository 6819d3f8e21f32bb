import type { Store } from '../../src/store/port.ts'
import { anyHandler, seeded } from './place.ts'

export interface ClaimAll {
  readonly stores: readonly Store[]
  readonly claimers: number
  readonly batchMax: number
  readonly seed: number
  readonly workerId: string
  readonly prefix: string
}

/** Claimers that lease and settle at once until nothing is left. Answers the ids of each claim, in the order they came. */
export async function claimAll({ stores, claimers, batchMax, seed, workerId, prefix }: ClaimAll): Promise<string[][]> {
  const claims: string[][] = []
  const claimer = async (number: number) => {
    const store = stores[number % stores.length] as Store
    const random = seeded(seed * 1_000 + number + 1)
    for (let turn = 0; ; turn++) {
      const claimId = `${prefix}-${number}-${turn}`
      const limit = 1 + random(batchMax)
      const { leases } = await store.lease({
        queue: 'default',
        workerId,
        claimId,
        can: anyHandler,
        limit,
        leaseMs: 30_000,
      })
      if (leases.length === 0) return
      claims.push(leases.map(({ runId }) => runId))
      // A turn of the loop, so that somebody who looks from outside can see the runs in flight.
      await new Promise((resolve) => setImmediate(resolve))
      await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } })))
    }
  }
  await Promise.all(Array.from({ length: claimers }, (_, number) => claimer(number)))
  return claims
}
