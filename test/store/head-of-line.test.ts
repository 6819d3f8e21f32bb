import { expect, test } from 'vitest'
import { lease } from '../../src/store/leases/lease.ts'
import { numberOf, onEachWay, type Scene, startAt } from './scene.ts'

const can = { kinds: ['handler', 'http'], host: true }

const claim = (scene: Scene, limit = 100) =>
  scene.write((context) => lease(context, { queue: 'default', workerId: 'w-11', claimId: `c${limit}`, can, limit }))

onEachWay('the head of a line', (scene) => {
  test.each([
    [1, 1],
    [9, 1],
    [10, 1],
    [11, 1],
    [10, 3],
    [35, 3],
  ])('of %i runs in %i lanes is leased to its end', async (count, lanes) => {
    await scene().setQueue('default', { policy: { maxConcurrent: 1_000 } })
    const ids: string[] = []
    for (let run = 0; run < count; run++) ids.push(await scene().enqueue({ target: { handler: `h${run % lanes}` } }))
    const { leases, more } = await claim(scene())
    expect(leases.map(({ runId }) => runId)).toEqual(ids)
    expect(more).toBe(false)
  })

  test('is taken by rank, whatever lane a run stands in, and no further than there is room', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 3 } })
    const second = await scene().enqueue({ target: { handler: 'a' }, priority: 20 })
    await scene().enqueue({ target: { handler: 'a' }, priority: 40 })
    const first = await scene().enqueue({ target: { handler: 'b' }, priority: 10 })
    const third = await scene().enqueue({ priority: 30 })
    expect((await claim(scene(), 2)).leases.map(({ runId }) => runId)).toEqual([first, second])
    const rest = await claim(scene(), 9)
    expect([rest.leases.map(({ runId }) => runId), rest.full]).toEqual([[third], true])
    expect((await claim(scene(), 9)).leases).toEqual([])
  })

  test('holds what has waited long enough by the time it is looked at', async () => {
    await scene().setQueue('default', { policy: { maxConcurrent: 9 } })
    const waiting = await scene().enqueue({ priority: 1, notBefore: startAt + 1_000 })
    const ready = await scene().enqueue()
    scene().clock.now += 1_000
    expect((await claim(scene())).leases.map(({ runId }) => runId)).toEqual([waiting, ready])
  })

  test('is empty for whoever cannot do what stands there', async () => {
    const id = await scene().enqueue({ target: { handler: 'a' } })
    const other = { kinds: [], handlers: ['b'] }
    const request = { queue: 'default', workerId: 'w-11', claimId: 'c', can: other, limit: 9 }
    expect((await scene().write((context) => lease(context, request))).leases).toEqual([])
    const rows = await scene().sql('select run_id from belfry.ready where run_id = $1', numberOf(id))
    expect(rows).toHaveLength(1)
  })
})
