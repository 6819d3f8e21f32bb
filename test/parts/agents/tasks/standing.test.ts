import { expect, it } from 'vitest'
import { problemsIn, startAt } from '../../../operations/desk.ts'
import { leaseAgents } from '../children/scene.ts'
import { atEachDesk, day, hour, minute, verbsOf } from './scene.ts'

atEachDesk('how a task stands', (desk) => {
  it('says that its last run failed, and which: a failed one-shot is not merely finished', async () => {
    const { tasks } = verbsOf(desk())
    const { task } = await tasks.create({ in: '1h', prompt: 'Look.', exact: true, attempts: 1 })
    expect(task).toMatchObject({ lastRun: null, lastEnd: null })
    desk().clock.advance(hour)
    await desk().store.fireDue({ limit: 10 })
    const [lease] = await leaseAgents(desk())
    const { runId = '', fence = 0, scheduleId = null } = lease ?? {}
    expect(await tasks.get(task.id)).toMatchObject({ status: 'live', lastRun: runId, lastEnd: null })
    await desk().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'failed', reason: 'no-answer' } }])
    expect(await tasks.get(task.id)).toMatchObject({ status: 'finished', lastRun: runId, lastEnd: 'failed' })
    expect(await tasks.list({ all: true })).toMatchObject([{ lastRun: runId, lastEnd: 'failed' }])
  })

  it('counts as started when an attempt of it starts, not when its run is made', async () => {
    const { tasks } = verbsOf(desk())
    await tasks.create({ every: '1h', exact: true, prompt: 'Look.' })
    desk().clock.advance(hour)
    await desk().store.fireDue({ limit: 10 })
    expect(await tasks.planned()).toMatchObject([{ status: 'live', lastStartedAt: null }])
    desk().clock.advance(minute)
    await leaseAgents(desk())
    expect(await tasks.planned()).toMatchObject([{ status: 'live', lastStartedAt: startAt + hour + minute }])
  })

  it('says until when it is paused', async () => {
    const { tasks } = verbsOf(desk())
    const { task } = await tasks.create({ every: '1h', prompt: 'Look.' })
    expect(task.pausedUntil).toBeNull()
    expect(await tasks.pause(task.id, { for: '2d', reason: 'Holidays.' })).toMatchObject({
      pausedUntil: startAt + 2 * day,
    })
    expect(await tasks.list()).toMatchObject([{ status: 'paused', pausedUntil: startAt + 2 * day }])
  })

  it('is refused with each missing field once', async () => {
    const { tasks } = verbsOf(desk())
    const problems = await problemsIn(tasks.loop(undefined as never, { every: '5m' }))
    expect(problems.map(({ field }) => field)).toEqual(['prompt'])
  })
})
