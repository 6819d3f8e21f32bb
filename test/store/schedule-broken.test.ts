import { expect, it } from 'vitest'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { hour, minute, onEachStore, startAt } from './schedule-stage.ts'

onEachStore('fire what can be fired', (stage) => {
  it.each([
    ['of a target without a kind', '{"name":"odd","timing":{"everyMs":3600000},"target":{}}'],
    ['of a handler that is no key', '{"name":"odd","timing":{"everyMs":3600000},"target":{"handler":"a\\u0000"}}'],
    ['that is no JSON', '{"name":'],
    ['that is no object', 'null'],
  ])('a stored schedule %s is told and looked at again, and keeps no other from firing', async (_, spec) => {
    for (const name of ['a', 'odd', 'z']) await stage().put({ name, timing: { everyMs: hour } })
    await stage().sql(`update belfry.schedule set spec = $1 where name = 'odd'`, spec)

    const fired = await stage().fireAt(startAt + hour)
    expect(fired.runs.map(({ schedule }) => schedule)).toEqual(['a', 'z'])
    expect(fired).toMatchObject({ broken: [{ schedule: 'odd' }], schedules: 3, more: false })
    expect((await stage().fire()).broken).toEqual([])
    stage().pass(minute)
    expect((await stage().fire()).broken).toMatchObject([{ schedule: 'odd', error: { message: expect.any(String) } }])
  })

  it('a stored row that cannot be read is told by its name, and mended by hand it goes on', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().sql(`update belfry.schedule set hints = '{'`)
    const [broken] = (await stage().fireAt(startAt + hour)).broken
    expect(broken?.error).toMatchObject({
      code: 'failure',
      message: 'The stored hints of schedule report cannot be read.',
    })
    await stage().sql(`update belfry.schedule set hints = '{}'`)
    stage().pass(minute)
    expect((await stage().fire()).runs).toHaveLength(1)
  })

  it('the damaged row of one schedule keeps neither the ends of other runs nor their reclaim from being written', async () => {
    for (const name of ['a', 'odd', 'z']) await stage().put({ name, timing: { everyMs: hour } })
    await stage().fireAt(startAt + hour)
    const leases = await stage().lease()
    await stage().sql(`update belfry.schedule set spec = '{' where name = 'odd'`)
    const ends = leases.slice(0, 2).map((lease) => ({ ...lease, outcome: { kind: 'success' } as const }))
    const answers = await stage().store.settle(ends)
    expect(answers.map(({ answer }) => answer).sort()).toEqual(['refused', 'written'])

    stage().pass(11 * hour)
    const reclaimed = await stage().store.reclaim({ limit: 10 })
    expect(reclaimed.map(({ runId }) => runId)).toEqual([leases[2]?.runId])
  })

  it('schedules of another namespace are fired with the rest, and not told to a stranger', async () => {
    for (const name of ['own', 'secret', 'secret and odd']) await stage().put({ name, timing: { everyMs: hour } })
    await stage().sql(`insert into belfry.namespace (id, name, created_at) values (2, 'other', 0)`)
    await stage().sql(`update belfry.schedule set ns = 2 where name <> 'own'`)
    await stage().sql(`update belfry.schedule set spec = '{' where name = 'secret and odd'`)
    const fired = await stage().fireAt(startAt + hour)
    expect(fired.schedules).toBe(3)
    expect(fired.runs.map(({ schedule }) => schedule)).toEqual(['own'])
    expect(JSON.stringify(fired)).not.toContain('secret')
    expect(await stage().sql('select ns from belfry.run order by ns')).toEqual([{ ns: 1 }, { ns: 2 }])
  })

  it('a calendar too long to be counted says that its count is a lower bound, also once the row grew', async () => {
    await stage().put({ timing: { cron: '* * * * *', zone: 'UTC' }, missed: 'skip' })
    const years = 3 * 365 * 24 * hour
    const { skipped } = await stage().fireAt(startAt + years)
    expect(skipped).toMatchObject([{ countIsAtLeast: true, reason: 'missed' }])
    await stage().fireAt(startAt + years + 10 * minute)
    const ledger = await stage().store.look(listLedger, 'report')
    expect(ledger.filter(({ outcome }) => outcome === 'missed').at(-1)).toMatchObject({ countIsAtLeast: true })
    expect(ledger.filter(({ runId }) => runId !== null).every(({ countIsAtLeast }) => !countIsAtLeast)).toBe(true)
  })

  it('a pause that passed more than can be counted says so, and what is counted to its end does not', async () => {
    await stage().put({ timing: { cron: '* * * * *', zone: 'UTC' } })
    await stage().store.do(pauseSchedule, 'report', { reason: 'long' })
    stage().pass(hour)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().store.look(listLedger, 'report')).toMatchObject([{ count: 60, countIsAtLeast: false }])
    await stage().store.do(pauseSchedule, 'report', { reason: 'longer' })
    stage().pass(365 * 24 * hour)
    await stage().store.do(resumeSchedule, 'report')
    const [grown, ...older] = await stage().store.look(listLedger, 'report')
    expect(grown).toMatchObject({ countIsAtLeast: true, outcome: 'paused' })
    expect(older).toEqual([])
    await stage().store.do(pauseSchedule, 'report', { reason: 'short' })
    stage().pass(hour)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().store.look(listLedger, 'report')).toMatchObject([{ countIsAtLeast: true }])
  })
})
