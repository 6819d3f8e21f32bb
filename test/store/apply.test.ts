import { expect, it } from 'vitest'
import { applyChanges } from '../../src/store/apply.ts'
import type { Change } from '../../src/store/change.ts'
import { findQueue } from '../../src/store/reads/queue.ts'
import { findSchedule, listSchedules } from '../../src/store/reads/schedule.ts'
import { listAudit } from './list-audit.ts'
import { actor, hourly, onEachStore } from './schedule-stage.ts'

const report = { name: 'report', timing: hourly, target: { handler: 'report' } }
const put = (name: string, more: object = {}): Change => {
  return { kind: 'schedule', spec: { ...report, name, ...more }, options: { mode: 'create' } }
}

onEachStore('many changes at once', (stage) => {
  it('are all made, and each has its answer in its place', async () => {
    await stage().put({ name: 'old' })
    const answers = await stage().store.do(
      applyChanges,
      [
        { kind: 'queue', name: 'mail', change: { policy: { maxConcurrent: 3 } } },
        put('first', { queue: 'mail' }),
        { kind: 'delete', name: 'old' },
        { kind: 'delete', name: 'never' },
        {
          kind: 'runs',
          runs: [
            { queue: 'mail', payload: 1 },
            { queue: 'mail', payload: 2 },
          ],
        },
      ],
      { actor },
    )
    expect(answers).toMatchObject([
      { kind: 'queue', name: 'mail', answer: { answer: 'created' } },
      { kind: 'schedule', name: 'first', answer: { answer: 'created' } },
      { kind: 'delete', answer: 'deleted' },
      { kind: 'delete', answer: 'not-found' },
      { kind: 'runs', answers: [{ created: true }, { created: true }] },
    ])
    expect((await stage().store.look(listSchedules)).map(({ spec }) => spec.name)).toEqual(['first'])
    expect((await stage().lease(100, 'mail')).map(({ payload }) => payload)).toEqual([1, 2])
  })

  it('leave nothing when one of them is in the way of something, and name everything that is', async () => {
    await stage().put({ name: 'first', priority: 1 })
    await stage().put({ name: 'second', priority: 1 })
    const changes = [
      { kind: 'queue', name: 'mail', change: { policy: { maxConcurrent: 3 } } } as const,
      put('new'),
      put('first'),
      put('second'),
    ]
    await expect(stage().store.do(applyChanges, changes, { actor })).rejects.toMatchObject({
      code: 'conflict',
      details: { conflicts: ['schedule first', 'schedule second'] },
    })
    expect((await stage().store.look(listSchedules)).map(({ spec }) => spec.name)).toEqual(['first', 'second'])
    expect(await stage().store.look(findQueue, 'mail')).toBeNull()
  })

  it('leave nothing when a key comes with other work than before', async () => {
    const keyed = (payload: number): Change => ({ kind: 'runs', runs: [{ payload, idempotencyKey: 'k' }] })
    await stage().store.do(applyChanges, [keyed(1)], { actor })
    await expect(stage().store.do(applyChanges, [put('new'), keyed(2)], { actor })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await stage().store.look(findSchedule, 'new')).toBeNull()
    expect(await stage().store.do(applyChanges, [keyed(1)], { actor })).toMatchObject([
      { answers: [{ created: false }] },
    ])
  })

  it('answer as ever in a rehearsal, and leave nothing', async () => {
    expect(
      await stage()
        .store.rehearsal()
        .do(applyChanges, [put('new')], { actor }),
    ).toMatchObject([{ answer: { answer: 'created' } }])
    expect(await stage().store.look(findSchedule, 'new')).toBeNull()
  })

  it('are on record with what they made', async () => {
    const audited = stage().store.audited({ actor, verb: 'store.import', subject: 'store' })
    await audited.do(applyChanges, [put('new'), { kind: 'runs', runs: [{ payload: 1 }] }], { actor })
    expect(await stage().store.look(listAudit, 'schedule new')).toMatchObject([{ verb: 'schedule.create' }])
    expect(await stage().store.look(listAudit, 'store')).toMatchObject([
      { verb: 'store.import', detail: { runs: [expect.stringMatching(/^r-/)] } },
    ])
  })
})
