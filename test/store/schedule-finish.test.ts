import { expect, it } from 'vitest'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { resetSchedule } from '../../src/store/schedules/reset-schedule.ts'
import { hour, onEachStore, startAt } from './schedule-stage.ts'

const until = { command: 'test -f done' }
const noop = { kind: 'success', noop: true } as const
const options = { until }

onEachStore('a schedule that is over before its time', (stage) => {
  const ended = async (learned: unknown = until) => {
    const { runId, fence, scheduleId } = await stage().leaseOne()
    const end = { runId, fence, scheduleId, outcome: { kind: 'success' } as const, learned: { guards: learned } }
    return stage().store.settle([end])
  }

  it('plans nothing more once its until said yes, and tells why', async () => {
    await stage().put({ options })
    await stage().fireAt(startAt + hour)
    await ended()
    expect(await stage().view()).toMatchObject({
      finished: 'until',
      wakeAt: null,
      nextRunAt: null,
      nextDecision: { source: 'none', state: { finished: 'until' }, trail: [{ rule: 'finished', effect: 'stopped' }] },
    })
    expect((await stage().fireAt(startAt + 9 * hour)).runs).toEqual([])
  })

  it('goes on where its until said nothing, or another guard than it has by now said yes', async () => {
    await stage().put({ options })
    await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 2 * hour })
    await stage().fireAt(startAt + 2 * hour)
    await ended({ command: 'true' })
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 3 * hour })
    await stage().fireAt(startAt + 3 * hour)
    await stage().put({})
    await ended()
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 4 * hour })
  })

  it('gives an end in the ledger to what was due and had not fired, and lets runs that are made go on', async () => {
    await stage().put({ options, overlap: 'queue', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const first = await stage().leaseOne()
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    stage().to(startAt + 4 * hour + 1)
    const outcome = { kind: 'success' } as const
    await stage().store.settle([{ ...first, outcome, learned: { guards: until } }])
    expect(await stage().view()).toMatchObject({ finished: 'until', wakeAt: null })
    expect((await stage().ledger()).slice(1)).toEqual([
      { from: startAt + 2 * hour, to: startAt + 2 * hour, count: 1, outcome: 'fired' },
      { from: startAt + 3 * hour, to: startAt + 4 * hour, count: 2, outcome: 'finished' },
    ])
    await stage().end(await stage().leaseOne())
    expect(await stage().store.look(findRun, runs[0]?.id as string)).toMatchObject({ status: 'completed' })
    expect(await stage().view()).toMatchObject({ finished: 'until', wakeAt: null })
  })

  it('begins again when it is reset, or when its until or its timing is written', async () => {
    const finish = async (at: number) => {
      await stage().fireAt(at)
      await ended()
      expect((await stage().view()).finished).toBe('until')
    }
    await stage().put({ options })
    await finish(startAt + hour)
    await stage().put({ options, priority: 7 })
    expect(await stage().view()).toMatchObject({ finished: 'until', wakeAt: null })
    await stage().store.do(resetSchedule, 'report')
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 2 * hour })
    await finish(startAt + 2 * hour)
    await stage().put({ options, priority: 7, timing: { everyMs: hour } })
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 3 * hour })
    await finish(startAt + 3 * hour)
    await stage().put({ priority: 7, timing: { everyMs: hour } })
    expect(await stage().view()).toMatchObject({ finished: null, nextRunAt: startAt + 4 * hour })
  })
})

onEachStore('a schedule that finds nothing to do', (stage) => {
  it('is paused after as many in a row as it says, the others start anew, and it may be resumed', async () => {
    await stage().put({ maxNoop: 2, overlap: 'allow', maxLatenessMs: 9 * hour })
    const first = await stage().runAt(startAt + hour, noop)
    expect(await stage().store.look(listAttempts, first)).toMatchObject([{ outcome: 'success', reason: 'no-op' }])
    expect(await stage().view()).toMatchObject({ noopCount: 1, disabled: null })
    // A failure says nothing about work; a run that found some begins the count anew.
    await stage().runAt(startAt + 2 * hour, { kind: 'failed', reason: 'broken', retryable: false })
    expect(await stage().view()).toMatchObject({ noopCount: 1, failureCount: 1 })
    await stage().runAt(startAt + 3 * hour, { kind: 'success' })
    expect(await stage().view()).toMatchObject({ noopCount: 0, failureCount: 0 })
    await stage().runAt(startAt + 4 * hour, noop)
    await stage().fireAt(startAt + 5 * hour)
    const lease = await stage().leaseOne()
    const { runs } = await stage().fireAt(startAt + 6 * hour)
    await stage().end(lease, noop)
    expect(await stage().view()).toMatchObject({
      noopCount: 0,
      wakeAt: null,
      disabled: { reason: 'found nothing to do 2 times in a row (maxNoop)' },
    })
    expect((await stage().run(runs[0]?.id)).status).toBe('held')
    await stage().store.do(resumeSchedule, 'report')
    await stage().end(await stage().leaseOne(), noop)
    expect(await stage().view()).toMatchObject({ noopCount: 1, disabled: null })
  })

  it('is not paused, and counts nothing, where it names no number', async () => {
    await stage().put({})
    for (const hours of [1, 2, 3]) await stage().runAt(startAt + hours * hour, noop)
    expect(await stage().view()).toMatchObject({ noopCount: 0, disabled: null })
  })
})

onEachStore('work that finds nothing to do', (stage) => {
  it('is marked as such beside work that does, in one step', async () => {
    const [did, found] = await stage().store.enqueue([{ target: { handler: 'a' } }, { target: { handler: 'a' } }])
    const leases = await stage().lease(2)
    const ends = leases.map(({ runId, fence }) => {
      return { runId, fence, outcome: runId === found?.id ? noop : ({ kind: 'success' } as const) }
    })
    await stage().store.settle(ends)
    expect(await stage().store.look(listAttempts, did?.id as string)).toMatchObject([
      { ends: 'completed', reason: null },
    ])
    expect(await stage().store.look(listAttempts, found?.id as string)).toMatchObject([
      { ends: 'completed', reason: 'no-op' },
    ])
  })
})
