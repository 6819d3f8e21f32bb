import { expect, test } from 'vitest'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { numberOf, onEachWay, type Scene, startAt } from './scene.ts'

const reset = (scene: Scene, id: string) => scene.write((context) => resetRun(context, id))

async function parkedOccurrence(scene: Scene, scheduleId: number, at = startAt): Promise<string> {
  const id = await scene.occurrence(scheduleId, at, { onExhausted: 'park' })
  await scene.end(await scene.leaseOf(id), { kind: 'failed', reason: 'broken', retryable: false })
  return id
}

onEachWay('reset', (scene) => {
  test('a parked run gets its whole budget back and goes at once, under a fence never used before', async () => {
    const id = await scene().parked()
    expect(await scene().show(id)).toMatchObject({ status: 'parked', fence: 1, attempts: 1 })
    expect(await scene().lease()).toEqual([])
    expect(await reset(scene(), id)).toBe('ready')
    expect(await scene().show(id)).toMatchObject({ status: 'ready', fence: 1, attempts: 0, releases: 0, deaths: 0 })
    expect(await scene().lease()).toMatchObject([{ runId: id, fence: 2, attempts: 0 }])
  })

  test('whoever held the run before it was parked stays shut out after the reset', async () => {
    const id = await scene().enqueue({ onExhausted: 'park' })
    const held = await scene().leaseOf(id)
    await scene().end(held, { kind: 'failed', reason: 'broken', retryable: false })
    await reset(scene(), id)
    expect(await scene().end(held)).toMatchObject({ answer: 'already-written' })
    expect((await scene().show(id))?.status).toBe('ready')
  })

  test('only a parked run is reset', async () => {
    expect(await reset(scene(), await scene().enqueue())).toBe('not-parked')
    expect(await reset(scene(), await scene().enqueue({ notBefore: startAt + 10 }))).toBe('not-parked')
    expect(await reset(scene(), await scene().ended())).toBe('not-parked')
    expect(await reset(scene(), 'r-5zzzzz')).toBe('not-found')
  })

  test('a reset run waits its turn behind a full key', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
    const parked = await scene().parked({ concurrencyKey: 'k' })
    const other = await scene().leaseOf(await scene().enqueue({ concurrencyKey: 'k' }))
    await reset(scene(), parked)
    expect((await scene().show(parked))?.waiting).toEqual({ for: 'key', reason: 'k' })
    expect(await scene().lease()).toEqual([])
    await scene().end(other)
    expect(await scene().lease()).toMatchObject([{ runId: parked }])
  })

  test('a reset run takes its dedupe key again, unless a live run has it by now', async () => {
    const first = await scene().parked({ dedupeKey: 'a' })
    await reset(scene(), first)
    expect(await scene().enqueue({ dedupeKey: 'a' })).toBe(first)

    const second = await scene().parked({ dedupeKey: 'b' })
    const newer = await scene().enqueue({ dedupeKey: 'b' })
    expect(newer).not.toBe(second)
    expect(await reset(scene(), second)).toBe('ready')
    expect(await scene().enqueue({ dedupeKey: 'b' })).toBe(newer)
  })

  test('a reset run is live again for its schedule', async () => {
    const scheduleId = await scene().schedule()
    const id = await parkedOccurrence(scene(), scheduleId)
    await reset(scene(), id)
    const rows = await scene().sql('select run_id from belfry.schedule_run where schedule_id = $1', scheduleId)
    expect(rows).toEqual([{ run_id: numberOf(id) }])
  })

  test('the second end of a reset occurrence does not move its schedule again', async () => {
    const scheduleId = await scene().schedule({ timing: { everyMs: 60_000 } })
    const id = await scene().occurrence(scheduleId, startAt, { onExhausted: 'park' })
    const entry = `insert into belfry.ledger (ns, schedule_id, from_at, to_at, count, outcome, run_id, recorded_at)
      values ($1, $2, $3, $3, 1, 'fired', $4, $3)`
    await scene().sql(entry, scene().context.ns, scheduleId, startAt, numberOf(id))
    await scene().end(await scene().leaseOf(id), { kind: 'failed', reason: 'broken', retryable: false })
    const shown = async () => {
      const text = 'select failure_count, anchor_at, next_run_at, wake_at from belfry.schedule where id = $1'
      return (await scene().sql(text, scheduleId))[0]
    }
    const before = await shown()
    expect(before).toMatchObject({ failure_count: 1, next_run_at: startAt + 120_000 })
    scene().clock.now += 5_000
    await reset(scene(), id)
    expect(await shown()).toEqual(before)
    await scene().end(await scene().leaseOf(id))
    expect((await scene().show(id))?.status).toBe('completed')
    expect(await shown()).toEqual(before)
    expect(await scene().sql('select * from belfry.schedule_run where schedule_id = $1', scheduleId)).toEqual([])
  })

  test('a reset run of a paused schedule is held', async () => {
    const scheduleId = await scene().schedule()
    const id = await parkedOccurrence(scene(), scheduleId)
    await scene().sql('update belfry.schedule set disabled_at = $2 where id = $1', scheduleId, startAt)
    await reset(scene(), id)
    expect((await scene().show(id))?.status).toBe('held')
    expect(await scene().lease()).toEqual([])
  })

  test('a reset run does not overlap a live run of its schedule unless the schedule allows it', async () => {
    const serial = await scene().schedule({ name: 'serial' })
    const parked = await parkedOccurrence(scene(), serial)
    await scene().occurrence(serial, startAt + 1)
    await reset(scene(), parked)
    expect(await scene().show(parked)).toMatchObject({ status: 'ready', waiting: { for: 'overlap' } })

    const allowed = await scene().schedule({ name: 'allowed', overlap: 'allow' })
    const beside = await parkedOccurrence(scene(), allowed, startAt + 2)
    await scene().occurrence(allowed, startAt + 3)
    await reset(scene(), beside)
    expect((await scene().show(beside))?.waiting).toBeUndefined()
  })

  test('a reset run of a deleted schedule goes without being listed for it', async () => {
    const scheduleId = await scene().schedule()
    const id = await parkedOccurrence(scene(), scheduleId)
    await scene().sql('update belfry.schedule set deleted_at = $2 where id = $1', scheduleId, startAt)
    expect(await reset(scene(), id)).toBe('ready')
    expect(await scene().sql('select * from belfry.schedule_run where schedule_id = $1', scheduleId)).toEqual([])
    expect(await scene().lease()).toMatchObject([{ runId: id }])
  })

  test('of many who reset one run at the same moment one does it', async () => {
    const id = await scene().parked()
    const answers = await Promise.all(Array.from({ length: 5 }, () => reset(scene(), id)))
    expect(answers.filter((answer) => answer === 'ready')).toHaveLength(1)
    expect(await scene().lease()).toHaveLength(1)
  })
})
