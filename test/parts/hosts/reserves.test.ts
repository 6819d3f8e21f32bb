import { expect, it } from 'vitest'
import { startAt, verbsAt } from '../../operations/desk.ts'
import { inEachWard } from '../../operations/store/ward.ts'

const second = 1_000

inEachWard((ward) => {
  const { accounts, budgets, namespaces, queues, runs, sched } = verbsAt(() => ward().context)
  const target = null

  it('a host gets as many runs of an account as its ceiling allows, and an end lets it have the next', async () => {
    await accounts.put('max', { maxConcurrent: 1 })
    await runs.enqueueMany([1, 2, 3].map(() => ({ target, account: 'max' })))
    const { leases } = await sched.lease('host', { limit: 5, requestKey: 'k' })
    expect(leases).toHaveLength(1)
    expect(await accounts.get('max')).toMatchObject({ atWork: 1, state: 'full' })
    // Those that found no slot were given back uncounted, and asking again with the key does not lease them.
    expect(await sched.lease('host', { limit: 5, requestKey: 'k' })).toMatchObject({
      repeated: true,
      leases: [leases[0]],
    })
    const { runs: listed } = await runs.list({})
    expect(listed.map(({ status, attempts }) => `${status} ${attempts}`).sort()).toEqual([
      'leased 0',
      'ready 0',
      'ready 0',
    ])
    ward().clock.advance(second)
    expect((await sched.lease('host', { limit: 5 })).leases).toEqual([])
    await sched.complete(leases[0]?.lease ?? '')
    expect((await sched.lease('host', { limit: 5 })).leases).toHaveLength(1)
  })

  it('a host gets no more runs than a namespace may have at work, nor than a budget allows, whatever it reports', async () => {
    await queues.set('default', { maxConcurrent: 9 })
    await namespaces.set('default', { maxConcurrent: 2 })
    await budgets.put('day', { for: 'queue=default', per: 'day', zone: 'UTC', runs: 3 })
    await runs.enqueueMany([1, 2, 3, 4].map(() => ({ target })))
    const { leases } = await sched.lease('host', { limit: 9 })
    expect(leases).toHaveLength(2)
    for (const { lease } of leases) await sched.complete(lease)
    expect(await budgets.show('day')).toMatchObject({ runs: { used: 2, reserved: 0 } })
    ward().clock.set(startAt + 40 * second)
    const rest = await sched.lease('host', { limit: 9 })
    expect(rest.leases).toHaveLength(1)
    await sched.release(rest.leases[0]?.lease ?? '')
    expect(await budgets.show('day')).toMatchObject({ runs: { used: 2, reserved: 0 } })
    const [again] = (await sched.lease('host', { limit: 9 })).leases
    await sched.complete(again?.lease ?? '')
    expect(await budgets.show('day')).toMatchObject({ runs: { used: 3, left: 0 } })
    expect(await sched.lease('host', { limit: 9 })).toMatchObject({ leases: [], stopped: 'held-by' })
  })

  it('a drain counts as work of a budget', async () => {
    await namespaces.set('default', { maxConcurrent: null })
    await queues.set('letters', { maxConcurrent: 9 })
    await budgets.put('letters', { for: 'queue=letters', per: 'day', zone: 'UTC', runs: 2 })
    await runs.enqueueMany([1, 2, 3].map(() => ({ target, queue: 'letters' })))
    expect((await queues.drain('letters', { host: 'script', limit: 9 })).runs).toHaveLength(2)
    expect(await budgets.show('letters')).toMatchObject({ runs: { used: 2, reserved: 0 } })
  })
})
