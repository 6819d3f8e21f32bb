import { describe, expect, it } from 'vitest'
import { listAudit } from '../store/list-audit.ts'
import { atDesk, verbsAt } from './desk.ts'

const desk = atDesk()
const { runs, schedules, sched, queues } = verbsAt(() => desk().context)
const target = { handler: 'report' }

async function lines(subject: string): Promise<unknown[]> {
  const found = await desk().store.look(listAudit, subject)
  return found.map(({ actor, door, verb, detail }) => [actor, door, verb, detail])
}

describe('whoever changes something through a door is written down', () => {
  it('with a run that was made, cancelled, retried, parked and reset', async () => {
    const { id } = await runs.enqueue({ target: null, queue: 'mail' })
    expect(await lines('queue mail')).toContainEqual(['tester', 'test', 'run.enqueue', { runs: [id] }])
    await runs.cancel(id as string, { reason: 'No need.' })
    const again = await runs.retry(id as string)
    expect(await lines(`run ${id}`)).toEqual([
      ['tester', 'test', 'run.retry', { answer: { answer: 'created', id: again.id } }],
      ['tester', 'test', 'run.cancel', { reason: 'No need.', answer: 'cancelled' }],
    ])
    const { leases } = await sched.lease('builder', { queue: 'mail' })
    await sched.park(leases[0]?.lease ?? '', { reason: 'Ask.' })
    await runs.reset(again.id)
    expect((await lines(`run ${again.id}`)).map((line) => (line as unknown[])[2])).toEqual(['run.reset', 'sched.park'])
    expect(await lines('queue mail')).toContainEqual(['tester', 'test', 'sched.lease', { leased: [`${again.id}.1`] }])
  })

  it('with a schedule that was hinted and run now', async () => {
    await schedules.put('often', { every: '1h', target })
    await schedules.hint('often', { every: '5m', reason: 'Look closer.' })
    await schedules.clearHints('often')
    await schedules.run('often')
    const verbs = (await lines('schedule often')).map((line) => (line as unknown[])[2])
    expect(verbs).toEqual(['schedule.run', 'schedule.clearHints', 'schedule.hint', 'schedule.create'])
  })

  it('once, where the step writes its own line, and not at all where nothing was changed or somebody only looked', async () => {
    await queues.set('mail', { maxConcurrent: 3 })
    expect(await lines('queue mail')).toHaveLength(1)
    await queues.get('mail')
    await sched.lease('builder', { queue: 'mail' })
    const { id } = await runs.enqueue({ target: null, queue: 'mail' })
    await runs.cancel(id as string)
    await runs.cancel(id as string)
    expect(await lines(`run ${id}`)).toHaveLength(1)
    expect(await lines('queue mail')).toHaveLength(2)
  })

  it('in the same transaction: what is rehearsed or refused leaves no line', async () => {
    await queues.set('mail', { maxConcurrent: 3 })
    const { context } = desk()
    const rehearsing = verbsAt(() => ({ ...context, store: context.store.rehearsal() }))
    await rehearsing.runs.enqueue({ target: null, queue: 'mail' })
    await expect(runs.enqueue({ target: null, queue: 'mail', priority: 1.5 })).rejects.toThrow('priority')
    expect(await lines('queue mail')).toHaveLength(1)
  })

  it('as what it was: a lease that is taken back on the way to another, work for several queues, one of many that were reset', async () => {
    const many = await runs.enqueueMany([
      { target: null, queue: 'a' },
      { target: null, queue: 'b' },
    ])
    expect(await lines('queue a')).toEqual([
      ['tester', 'test', 'run.enqueueMany', { runs: many.map(({ id }) => id), queues: ['a', 'b'] }],
    ])
    await sched.lease('builder', { queue: 'a', requestKey: 'k' })
    await sched.lease('builder', { queue: 'a', requestKey: 'k' })
    expect(await lines('queue a')).toHaveLength(2)
    desk().clock.advance(300_000)
    await sched.lease('builder', { queue: 'a' })
    expect((await lines('queue a'))[0]).toEqual(['tester', 'test', 'sched.lease', { reclaimed: [`${many[0]?.id}.1`] }])
    const { leases } = await sched.lease('builder', { queue: 'b' })
    await sched.park(leases[0]?.lease ?? '', { reason: 'Ask.' })
    await sched.reset({ queue: 'b' })
    expect((await lines(`run ${many[1]?.id}`))[0]).toEqual(['tester', 'test', 'sched.reset', null])
  })

  it('but a program is not, that has the store open in its own process', async () => {
    const { context } = desk()
    const own = verbsAt(() => ({ ...context, actor: { name: 'a program', door: 'library' } }))
    const { id } = await own.runs.enqueue({ target: null })
    await own.runs.cancel(id as string)
    expect(await lines(`run ${id}`)).toEqual([])
  })
})
