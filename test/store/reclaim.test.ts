import { expect, test } from 'vitest'
import { reclaim } from '../../src/store/leases/reclaim.ts'
import { leasesOfWorkers } from '../../src/store/reads/find-leases.ts'
import { onEachDatabase, startAt } from './scene.ts'

onEachDatabase('reclaim', (scene) => {
  test('the leases of the dead can be taken without those that have merely expired', async () => {
    const [dead, slow] = [await scene().registerWorker(), await scene().registerWorker()]
    for (let index = 0; index < 4; index++) await scene().enqueue()
    const [expiredOfDead] = await scene().lease({ workerId: dead, limit: 1, leaseMs: 10 })
    const [ofDead] = await scene().lease({ workerId: dead, limit: 1, leaseMs: 1_000 })
    const [ofSlow] = await scene().lease({ workerId: slow, limit: 1, leaseMs: 10 })
    scene().clock.now = startAt + 100

    const take = (request: Partial<Parameters<typeof reclaim>[1]>) =>
      scene().write((context) => reclaim(context, { limit: 10, ...request }))
    expect(await take({ expired: false })).toEqual([])
    const taken = await take({ deadWorkers: [dead], expired: false })
    expect(taken.map(({ runId, because }) => [runId, because]).sort()).toEqual([
      [expiredOfDead?.runId, 'holder-dead'],
      [ofDead?.runId, 'holder-dead'],
    ])
    expect(await scene().read((context) => leasesOfWorkers(context, [dead, slow], 10))).toMatchObject([
      { runId: ofSlow?.runId, workerId: slow },
    ])
    expect(await scene().end(ofSlow as NonNullable<typeof ofSlow>)).toMatchObject({ answer: 'written' })
  })

  test('unless it is told otherwise, what has expired is taken too', async () => {
    const dead = await scene().registerWorker()
    for (let index = 0; index < 2; index++) await scene().enqueue()
    const [expired] = await scene().lease({ limit: 1, leaseMs: 10 })
    const [ofDead] = await scene().lease({ workerId: dead, limit: 1, leaseMs: 1_000 })
    scene().clock.now = startAt + 100
    const taken = await scene().write((context) => reclaim(context, { deadWorkers: [dead], limit: 10 }))
    expect(taken.map(({ runId, because }) => [runId, because]).sort()).toEqual([
      [expired?.runId, 'expired'],
      [ofDead?.runId, 'holder-dead'],
    ])
  })

  test('whoever declares a worker of another namespace dead takes nothing from it', async () => {
    const worker = await scene().registerWorker()
    await scene().enqueue()
    const [held] = await scene().lease({ workerId: worker, leaseMs: 1_000 })
    const stranger = { ...scene().context, ns: scene().context.ns + 1_000_000 }
    const request = { deadWorkers: [worker], expired: false, limit: 10 }
    expect(await scene().write(() => reclaim(stranger, request))).toEqual([])
    expect(await scene().end(held as NonNullable<typeof held>)).toMatchObject({ answer: 'written' })
  })
})
