import { expect, it } from 'vitest'
import { agent, atEachDesk, verbsOf } from '../tasks/scene.ts'

atEachDesk('an agent outside of a run', (desk) => {
  const refusal = (reason: string) => ({ code: 'not-allowed', details: { caller: 'agent', reason } })

  it('has five unfinished tasks in a project, and no more by asking under other words; a person has as many as the project', async () => {
    const { tasks } = verbsOf(desk(), agent)
    const made = (n: number) => tasks.create({ in: '1h', prompt: `Look ${n}.` })
    const first = await made(0)
    for (const n of [1, 2, 3, 4]) await made(n)
    await expect(made(5)).rejects.toMatchObject(refusal('children-full'))
    await expect(tasks.plan({ in: '1h', prompt: 'Look 5.' })).rejects.toMatchObject(refusal('children-full'))
    const elsewhere = verbsOf(desk(), agent, { folder: '/srv/other' }).tasks
    expect((await elsewhere.create({ in: '1h', prompt: 'Look 5.' })).answer).toBe('created')
    expect((await verbsOf(desk(), { name: 'ada' }).tasks.create({ in: '1h', prompt: 'Mine.' })).answer).toBe('created')
    await tasks.delete(first.task.id)
    expect((await made(5)).answer).toBe('created')
  })

  it('plans no task more often than every five minutes, and makes none of another', async () => {
    const { tasks } = verbsOf(desk(), agent)
    for (const timing of [{ every: '4m' }, { cron: '*/4 * * * *' }])
      await expect(tasks.create({ ...timing, prompt: 'Often.' })).rejects.toMatchObject(refusal('child-every'))
    const { task } = await tasks.create({ every: '5m', prompt: 'Look.' })
    await expect(tasks.edit(task.id, { every: '1m' })).rejects.toMatchObject(refusal('child-every'))
    expect((await verbsOf(desk(), { name: 'ada' }).tasks.edit(task.id, { every: '1m' })).answer).toBe('updated')
  })
})
