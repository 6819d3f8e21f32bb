import { expect, it } from 'vitest'
import type { Draft } from '../../../src/parts/imports/draft.ts'
import { writeDraft } from '../../../src/parts/imports/write-draft.ts'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { findSchedule, listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { listAudit } from '../../store/list-audit.ts'
import { actor, hourly, onEachStore } from '../../store/schedule-stage.ts'

const report = { name: 'report', timing: hourly, target: { handler: 'report' } }
const nothing = { policy: null, schedules: [], runs: [] }
const put = (...names: string[]): Pick<Draft, 'schedules'> => {
  return { schedules: names.map((name) => ({ from: 'line 1', spec: { ...report, name } })) }
}
const options = { queue: 'mail', reason: 'imported', actor }

onEachStore('a draft', (stage) => {
  it('is written whole, and each thing has its answer in its place', async () => {
    const spec = { ...report, name: 'first', queue: 'mail' }
    const draft = {
      policy: { maxConcurrent: 3 },
      schedules: [{ from: 'line 1', spec, pausedReason: 'as it was' }],
      runs: [
        { queue: 'mail', payload: 1 },
        { queue: 'mail', payload: 2 },
      ],
    }
    expect(await stage().store.do(writeDraft, draft, options)).toMatchObject({
      queue: { answer: 'created' },
      schedules: [{ answer: 'created' }],
      runs: [{ created: true }, { created: true }],
    })
    expect(
      (await stage().store.look(listSchedules)).map(({ spec, disabled }) => [spec.name, disabled?.reason]),
    ).toEqual([['first', 'as it was']])
    expect((await stage().lease(100, 'mail')).map(({ payload }) => payload)).toEqual([1, 2])
  })

  it('leaves nothing when something is in its way, and the refusal names everything that is', async () => {
    await stage().put({ name: 'first', priority: 1 })
    await stage().put({ name: 'second', priority: 1 })
    const draft = { ...nothing, policy: { maxConcurrent: 3 }, ...put('new', 'first', 'second') }
    await expect(stage().store.do(writeDraft, draft, options)).rejects.toMatchObject({
      code: 'conflict',
      details: { conflicts: ['schedule first', 'schedule second'] },
    })
    expect((await stage().store.look(listSchedules)).map(({ spec }) => spec.name)).toEqual(['first', 'second'])
    expect(await stage().store.look(findQueue, 'mail')).toBeNull()
  })

  it('leaves nothing when a key comes with other work than before', async () => {
    const keyed = (payload: number) => ({ ...nothing, runs: [{ payload, idempotencyKey: 'k' }] })
    await stage().store.do(writeDraft, keyed(1), options)
    await expect(stage().store.do(writeDraft, { ...keyed(2), ...put('new') }, options)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await stage().store.look(findSchedule, 'new')).toBeNull()
    expect(await stage().store.do(writeDraft, keyed(1), options)).toMatchObject({ runs: [{ created: false }] })
  })

  it('is answered as ever in a rehearsal, which leaves nothing', async () => {
    const answer = await stage()
      .store.rehearsal()
      .do(writeDraft, { ...nothing, ...put('new') }, options)
    expect(answer).toMatchObject({ schedules: [{ answer: 'created' }] })
    expect(await stage().store.look(findSchedule, 'new')).toBeNull()
  })

  it('is on record with what it made', async () => {
    const audited = stage().store.audited({ actor, verb: 'store.import', subject: 'store' })
    await audited.do(writeDraft, { ...nothing, ...put('new'), runs: [{ payload: 1 }] }, options)
    expect(await stage().store.look(listAudit, 'schedule new')).toMatchObject([{ verb: 'schedule.create' }])
    expect(await stage().store.look(listAudit, 'store')).toMatchObject([
      { verb: 'store.import', detail: { runs: [expect.stringMatching(/^r-/)] } },
    ])
  })
})
