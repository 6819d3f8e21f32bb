import { expect, it } from 'vitest'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import type { Desk } from '../../../operations/desk.ts'
import { atEachDesk, hour, minute, verbsOf } from '../tasks/scene.ts'
import { atWork, leaseAgents } from './scene.ts'

const soon = { in: '1m', prompt: 'Look again.' }

/** The routine work of a worker: starting and ending holds, firing what is due, and one lease. */
async function started(desk: Desk): Promise<string[]> {
  await desk.store.do(turnHolds, { limit: 100 })
  await desk.store.fireDue({ limit: 10 })
  return (await leaseAgents(desk)).map(({ scheduleId }) => scheduleId as string)
}

async function turned(desk: Desk): Promise<void> {
  let hasMore = true
  while (hasMore) hasMore = (await desk.store.do(turnHolds, { limit: 100 })).more
}

atEachDesk('a hold on the schedule of a run', (desk) => {
  const scheduleOf = async (id: string) => (await verbsOf(desk()).schedules.get(`task-${id}`)).id

  it('keeps the tasks that the run planned from starting, from its commit on, and lifts with it', async () => {
    const { task, agent, end } = await atWork(desk())
    const { task: child } = await agent.plan(soon)
    await end()
    const { holds } = verbsOf(desk())
    desk().clock.advance(2 * minute)
    await desk().store.fireDue({ limit: 10 })
    const { id } = await holds.put({ on: `schedule:${task.name}`, reason: 'Audit.' })
    // No worker has set the run aside yet.
    expect(await leaseAgents(desk())).toEqual([])
    expect(await started(desk())).toEqual([])
    await holds.lift(id)
    await turned(desk())
    expect(await started(desk())).toEqual([await scheduleOf(child.id)])
    expect(await holds.list()).toEqual([])
  })

  it('holds what is planned while it is there, or before it begins, and ends with it by itself', async () => {
    const { task, agent, end } = await atWork(desk())
    const { holds } = verbsOf(desk())
    const on = `schedule:${task.name}`
    await holds.put({ on, reason: 'Now.', for: '10m' })
    await holds.put({ on, reason: 'Later.', from: new Date(desk().clock.now() + hour).toISOString(), for: '1h' })
    const { task: child } = await agent.plan(soon)
    const { task: late } = await agent.plan({ in: '61m', prompt: 'Look later.' })
    await end()
    desk().clock.advance(2 * minute)
    expect(await started(desk())).toEqual([])
    desk().clock.advance(8 * minute)
    await turned(desk())
    expect(await started(desk())).toEqual([await scheduleOf(child.id)])
    desk().clock.advance(52 * minute)
    await turned(desk())
    expect(await started(desk())).not.toContain(await scheduleOf(late.id))
    desk().clock.advance(hour)
    await turned(desk())
    expect(await started(desk())).toContain(await scheduleOf(late.id))
  })

  it('is one of several: each ends alone, and a hold on the task itself stays', async () => {
    const { task, agent } = await atWork(desk())
    const { task: child } = await agent.plan(soon)
    const { holds } = verbsOf(desk())
    const own = await holds.put({ on: `schedule:task-${child.id}`, reason: 'Its own.' })
    const [first, second] = [
      await holds.put({ on: `schedule:${task.name}`, reason: 'Audit.' }),
      await holds.put({ on: `schedule:${task.name}`, reason: 'Audit.' }),
    ]
    const onChild = async () =>
      (await holds.list()).filter(({ on }) => on === `schedule:task-${child.id}`).map(({ note }) => note)
    expect(await onChild()).toEqual([
      'Its own.',
      `${first.id} on ${task.name}: Audit.`,
      `${second.id} on ${task.name}: Audit.`,
    ])
    await holds.lift(first.id)
    expect(await onChild()).toEqual(['Its own.', `${second.id} on ${task.name}: Audit.`])
    await holds.lift(second.id)
    expect(await onChild()).toEqual(['Its own.'])
    await holds.lift(own.id)
    expect(await onChild()).toEqual([])
  })

  it('by a pause of its group holds them too, until the group is resumed', async () => {
    const { groups } = verbsOf(desk())
    await groups.create('watch')
    const { agent, end } = await atWork(desk(), { group: 'watch' })
    const { task: child } = await agent.plan(soon)
    await end()
    await groups.pause('watch', { reason: 'Quiet.' })
    desk().clock.advance(2 * minute)
    expect(await started(desk())).toEqual([])
    await groups.resume('watch')
    await turned(desk())
    expect(await started(desk())).toEqual([await scheduleOf(child.id)])
  })
})
