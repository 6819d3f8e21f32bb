import { expect, test } from 'vitest'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { retryRun } from '../../src/store/runs/retry-run.ts'
import { numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const retried = (scene: Scene, id: string, options: { latest?: boolean } = {}) =>
  scene.write((context) => retryRun(context, id, options))

async function created(scene: Scene, id: string, options: { latest?: boolean } = {}): Promise<string> {
  const answer = await retried(scene, id, options)
  if (answer.answer !== 'created') throw new Error(`answered ${answer.answer}`)
  return answer.id
}

const failed = { kind: 'failed', reason: 'broken', retryable: false } as const

async function endedOccurrence(scene: Scene, scheduleId: number, at = startAt): Promise<string> {
  const id = await scene.occurrence(scheduleId, at, { target: { handler: 'old' }, payload: { day: 1 } })
  await scene.end(await scene.leaseOf(id))
  return id
}

onEachDatabase('retry', (scene) => {
  test('an ended run stays as it is and a new one does the same work again', async () => {
    const work = { target: { handler: 'mail' }, payload: { to: 'x' }, priority: 7, options: { timeoutMs: 5 } } as const
    const first = await scene().ended({ ...work, onExhausted: 'fail', idempotencyKey: 'i' }, failed)
    scene().clock.now += 1_000
    const id = await created(scene(), first)
    expect((await scene().show(first))?.status).toBe('failed')
    expect(await scene().show(id)).toMatchObject({
      ...work,
      status: 'ready',
      retryOf: first,
      source: 'retry',
      occurrenceAt: null,
      idempotencyKey: null,
      enqueuedAt: startAt + 1_000,
      fence: 0,
      attempts: 0,
    })
    expect(await scene().lease()).toMatchObject([{ runId: id, fence: 1 }])
  })

  test('a parked run is reset, a live one refused, an unknown one not found', async () => {
    const parked = await scene().parked()
    expect(await retried(scene(), parked)).toEqual({ answer: 'reset', id: parked })
    expect(await retried(scene(), parked)).toEqual({ answer: 'still-live' })
    await scene().lease()
    expect(await retried(scene(), parked)).toEqual({ answer: 'still-live' })
    expect(await retried(scene(), 'r-5zzzzz')).toEqual({ answer: 'not-found' })
  })

  test('a retry of work that must not be repeated and was done tells that it was, above all after a cancel request', async () => {
    const late = await scene().enqueue({ repeatable: false })
    const held = await scene().leaseOf(late)
    expect(await scene().write((context) => cancelRun(context, late, 'not needed'))).toBe('cancel-requested')
    expect(await scene().end(held)).toMatchObject({ status: 'completed' })
    expect(await retried(scene(), late)).toMatchObject({ answer: 'created', alreadyDone: 'late-cancel' })
    const done = await scene().ended({ repeatable: false })
    expect(await retried(scene(), done)).toMatchObject({ answer: 'created', alreadyDone: 'completed' })
    const undone = await scene().ended({ repeatable: false, onExhausted: 'fail' }, failed)
    for (const id of [undone, await scene().ended()]) {
      expect(await retried(scene(), id)).toEqual({ answer: 'created', id: expect.any(String) })
    }
  })

  test('a deadline that is over does not end the retry, and one that is ahead still holds', async () => {
    const over = await scene().ended({ deadline: startAt + 10 })
    const ahead = await scene().ended({ deadline: startAt + 10_000 })
    scene().clock.now += 1_000
    const free = await created(scene(), over)
    const bound = await created(scene(), ahead)
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([free, bound])
    expect((await scene().show(bound))?.deadline).toBe(startAt + 10_000)
  })

  test('a retry beside a live run with its dedupe key makes no second one', async () => {
    const first = await scene().ended({ dedupeKey: 'd' })
    const live = await scene().enqueue({ dedupeKey: 'd' })
    expect(await retried(scene(), first)).toEqual({ answer: 'dedupe-key', id: live })
    await scene().end(await scene().leaseOf(live))
    const id = await created(scene(), first)
    expect(await scene().enqueue({ dedupeKey: 'd' })).toBe(id)
  })

  test('a retry of an occurrence is no occurrence, but a live run of its schedule', async () => {
    const scheduleId = await scene().schedule()
    const first = await endedOccurrence(scene(), scheduleId)
    const id = await created(scene(), first)
    const view = await scene().show(id)
    expect(view).toMatchObject({ occurrenceAt: null, payload: { day: 1 }, target: { handler: 'old' } })
    expect(view?.scheduleId).toBe((await scene().show(first))?.scheduleId)
    expect(await scene().sql('select run_id from belfry.schedule_run where schedule_id = $1', scheduleId)).toEqual([
      { run_id: numberOf(id) },
    ])
  })

  test('a retry does not overlap a live run of its schedule', async () => {
    const scheduleId = await scene().schedule()
    const first = await endedOccurrence(scene(), scheduleId)
    const live = await scene().occurrence(scheduleId, startAt + 1)
    const id = await created(scene(), first)
    expect(await scene().show(id)).toMatchObject({ waiting: { for: 'overlap' }, waitsFor: live })
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([live])
  })

  test('with latest the retry does what the schedule says now, where the schedule says so', async () => {
    const target = { http: { url: 'https://example.org' } }
    const scheduleId = await scene().schedule({ target, payload: { day: 2 }, options: { expect: 200 }, priority: 3 })
    const first = await endedOccurrence(scene(), scheduleId)
    const id = await created(scene(), first, { latest: true })
    const now = { target, payload: { day: 2 }, options: { expect: 200 }, priority: 3, retryOf: first }
    expect(await scene().show(id)).toMatchObject(now)
    expect(await scene().lease({ can: { kinds: ['http'] } })).toMatchObject([{ runId: id }])
  })

  test('with latest a deleted schedule has nothing to say, and a run that never had one is refused', async () => {
    const scheduleId = await scene().schedule()
    const first = await endedOccurrence(scene(), scheduleId)
    await scene().sql('update belfry.schedule set deleted_at = $2 where id = $1', scheduleId, startAt)
    expect(await retried(scene(), first, { latest: true })).toEqual({ answer: 'schedule-gone' })
    const direct = await scene().ended()
    await expect(retried(scene(), direct, { latest: true })).rejects.toThrow(
      'so it has no schedule with a latest version',
    )
  })
})
