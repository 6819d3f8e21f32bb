import { expect, test } from 'vitest'
import { lease } from '../../src/store/leases/lease.ts'
import { settle } from '../../src/store/leases/settle.ts'
import { onEachWay } from './scene.ts'

const can = { kinds: ['handler'] }

onEachWay('lease a part of the line', (scene) => {
  test('a run of a full key that stands between two others that go is passed over, and goes later', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 10, maxConcurrentPerKey: 1 } })
    const one = await scene().enqueue({ target: { handler: 'one' }, concurrencyKey: 'k' })
    const before = await scene().enqueue({ target: { handler: 'other' } })
    const passed = await scene().enqueue({ target: { handler: 'other' }, concurrencyKey: 'k' })
    const after = await scene().enqueue({ target: { handler: 'other' } })

    const leaseAll = (claimId: string) => {
      const request = { queue: 'default', workerId: 'w-11', claimId, can, limit: 10 }
      return scene().write((context) => lease(context, request))
    }
    const { leases } = await leaseAll('first')
    expect(leases.map(({ runId }) => runId)).toEqual([one, before, after])
    expect(await scene().show(passed)).toMatchObject({ status: 'ready', fence: 0 })
    const end = { runId: one, fence: 1, outcome: { kind: 'success' } } as const
    await scene().write((context) => settle(context, [end]))
    expect((await leaseAll('second')).leases.map(({ runId }) => runId)).toEqual([passed])
  })
})
