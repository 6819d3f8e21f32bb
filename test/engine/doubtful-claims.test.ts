import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { DoubtfulClaims } from '../../src/engine/leases/doubtful-claims.ts'
import type { Lease, LeaseRequest, Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { target } from './lease-scene.ts'
import { openPlace, pass, stage } from './stage.ts'

/** As on a server, where what was sent before may be done after what is sent now. */
function withoutOrder(store: Store): Store {
  return new Proxy(store, { get: (of, key) => (key === 'keepsOrder' ? false : Reflect.get(of, key)) })
}

describe('a claim whose commit broke off', () => {
  it('and that the server grants later is given back by the worker that did not know, and counts as no attempt', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: withoutOrder(world.store), maxConcurrent: 1 })
    here.handle('work', () => 'done')
    const asked: LeaseRequest[] = []
    world.fault = (verb, call, [request]) => {
      if (verb !== 'lease' || call > 1) return undefined
      asked.push(request as LeaseRequest)
      return () => Promise.reject(new BelfryError('commit-unknown', 'The connection broke off.'))
    }
    const id = await here.enqueue({ target })
    await here.engine.start()
    await here.until('store.unavailable')
    // The server has waited for the queue until now, and does not know that nobody listens.
    expect((await world.real.lease(asked[0] as LeaseRequest)).leases).toHaveLength(1)
    await pass(clock, 2_000)
    expect(await here.until('run.completed')).toMatchObject({ runId: id, fence: 2 })
    expect((await here.store.look(listAttempts, id)).map(({ outcome }) => outcome)).toEqual(['released', 'success'])
    expect(await here.store.look(findRun, id)).toMatchObject({ attempts: 0 })
  })
})

/** A store of which nothing is asked but what a claim was granted. */
function claimed(leases: (claimId: string) => Lease[]): Pick<Store, 'look'> {
  const look = async (_read: unknown, claimId: string) => leases(claimId)
  return { look: look as unknown as Store['look'] }
}

describe('doubtful claims', () => {
  const lease = { runId: 'r-1' } as Lease

  it('are asked for once a second, for a minute, or until one is found', async () => {
    const clock = new TestClock()
    const claims = new DoubtfulClaims(clock)
    const asked: string[] = []
    const store = claimed((claimId) => {
      asked.push(claimId)
      return claimId === 'found' && clock.monotonic() >= 3_000 ? [lease] : []
    })
    expect(claims.waitMs).toBe(Number.POSITIVE_INFINITY)
    claims.add('found')
    claims.add('never')
    const found: Lease[] = []
    for (let second = 0; second < 120; second++) {
      await claims.tellGranted(store, (one) => found.push(one))
      await claims.tellGranted(store, (one) => found.push(one))
      clock.advance(1_000)
    }
    expect(found).toEqual([lease])
    const count = (claimId: string) => asked.filter((one) => one === claimId).length
    expect([count('found'), count('never')]).toEqual([3, 60])
    expect(claims.waitMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('that were found are told of, also when the store cannot be asked for the next', async () => {
    const clock = new TestClock()
    const claims = new DoubtfulClaims(clock)
    claims.add('found')
    claims.add('unknown')
    clock.advance(1_000)
    const found: Lease[] = []
    const store = claimed((claimId) => {
      if (claimId === 'unknown') throw new BelfryError('unavailable', 'It is away.')
      return [lease]
    })
    await expect(claims.tellGranted(store, (one) => found.push(one))).rejects.toThrow('away')
    expect(found).toEqual([lease])
  })
})
