import { expect, it } from 'vitest'
import { http, told, words } from './notice-stage.ts'
import { hour, minute, onEachStore, startAt } from './schedule-stage.ts'

onEachStore('what is overdue', (stage) => {
  const overdue = async (limit = 100) => {
    await stage().store.noticeOverdue({ limit })
    return words(stage())
  }

  it('is told once where nobody fires it, and so is that it runs again', async () => {
    await stage().put({ notify: { onOverdue: http('o'), onRecover: http('r') } })
    stage().to(startAt + hour + 5 * minute - 1)
    expect(await overdue()).toEqual([])
    stage().pass(1)
    expect(await overdue()).toEqual(['overdue of report to o'])
    stage().pass(20 * minute)
    expect(await overdue()).toEqual([])
    await stage().fire()
    await stage().end(await stage().leaseOne())
    expect(await overdue()).toEqual(['recover of report to r'])
    expect(await overdue()).toEqual([])
    stage().to(startAt + 2 * hour + 5 * minute)
    expect(await overdue()).toEqual(['overdue of report to o'])
  })

  it('is told where nobody starts its run, however many other runs there are to look at', async () => {
    for (const name of ['a', 'b', 'c']) await stage().put({ name, overlap: 'allow' })
    await stage().put({ name: 'd', notify: { onOverdue: http('o') } })
    await stage().fireAt(startAt + hour)
    for (const lease of await stage().lease(1)) expect(lease.fence).toBe(1)
    stage().pass(5 * minute)
    const runs: string[] = []
    for (let from: string | null | undefined; from !== null; ) {
      const step = await stage().store.noticeOverdue({ limit: 1, ...(from !== undefined && { from }) })
      runs.push(...step.runs)
      from = step.next
    }
    expect(runs).toHaveLength(1)
    const [notice] = await told(stage())
    expect(notice).toMatchObject({ runId: runs[0], notice: { event: 'overdue', schedule: 'd', attempt: null } })
    expect(await stage().run(notice?.notice.run ?? '')).toMatchObject({ schedule: 'd', status: 'ready' })
    expect(await overdue()).toEqual([])
  })

  it('is nothing that is paused, at work, or over', async () => {
    const notify = { onOverdue: http('o') }
    await stage().put({ name: 'held', notify })
    await stage().put({ name: 'asleep', notify })
    await stage().put({ name: 'working', notify, priority: 1 })
    await stage().store.pauseSchedule('asleep', { reason: 'r' })
    await stage().fireAt(startAt + hour)
    await stage().lease(1)
    await stage().store.pauseSchedule('held', { reason: 'r', until: startAt + 100 * hour })
    stage().pass(30 * minute)
    expect(await overdue()).toEqual([])
  })

  it('ends without a word where somebody pauses or deletes it', async () => {
    const notify = { onOverdue: http('o'), onRecover: http('r') }
    await stage().put({ name: 'a', notify })
    await stage().put({ name: 'b', notify })
    stage().to(startAt + hour + 5 * minute)
    expect(await overdue()).toHaveLength(2)
    await stage().store.pauseSchedule('a', { reason: 'r' })
    await stage().store.deleteSchedule('b')
    expect(await overdue()).toEqual([])
    const isOpen = async () => (await stage().store.read.notices({ limit: 10 })).map((one) => one.isOpen)
    expect(await isOpen()).toEqual([false, false])
  })

  it('is nothing of a stopped namespace, and refuses a place that no step has answered', async () => {
    await stage().put({ notify: { onOverdue: http('o') } })
    stage().to(startAt + 2 * hour)
    await stage().sql(`update belfry.namespace set stopped_at = 1`)
    expect(await overdue()).toEqual([])
    for (const from of ['', 'x', '[1]', '["a","b"]']) {
      await expect(stage().store.noticeOverdue({ limit: 1, from })).rejects.toThrow(/the `next` of the step before/)
    }
  })
})
