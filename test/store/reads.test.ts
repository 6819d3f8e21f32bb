import { expect, test } from 'vitest'
import {
  findSchedule,
  listHints,
  listLedger,
  listSchedules,
  scheduleVersions,
} from '../../src/store/reads/find-schedule.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { nextInstants } from '../../src/store/reads/next-instants.ts'
import { readOutput } from '../../src/store/reads/read-output.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import type { Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { onEachDatabase, startAt } from './scene.ts'

onEachDatabase('reads', (scene) => {
  test('a run is shown with its definition and where it stands', async () => {
    const id = await scene().enqueue({
      target: { handler: 'mail' },
      payload: { to: ['x'] },
      priority: -5,
      deadline: startAt + 99,
      concurrencyKey: 'k',
      idempotencyKey: 'i',
      dedupeKey: 'd',
      repeatable: false,
      options: { tags: ['t'] },
    })
    expect(await scene().show(id)).toEqual({
      id,
      queue: 'default',
      status: 'ready',
      fence: 0,
      attempts: 0,
      releases: 0,
      deaths: 0,
      priority: -5,
      enqueuedAt: startAt,
      schedule: null,
      scheduleId: null,
      occurrenceAt: null,
      dueAt: startAt,
      source: 'enqueued',
      notBefore: null,
      deadline: startAt + 99,
      lateAfter: null,
      concurrencyKey: 'k',
      idempotencyKey: 'i',
      dedupeKey: 'd',
      waitsFor: null,
      retryOf: null,
      repeatable: false,
      policyVersion: 1,
      target: { handler: 'mail' },
      payload: { to: ['x'] },
      options: { tags: ['t'] },
      decision: null,
      lease: null,
      parked: null,
      end: null,
      result: null,
    })
    expect(await scene().show('r-5zzzzz')).toBeNull()
  })

  test('a run says at each of its places what it waits for, who has it, and how it ended', async () => {
    await scene().setQueue('default', { policy: { maxConcurrentPerKey: 1, backoffBaseMs: 500 } })
    const later = await scene().enqueue({ notBefore: startAt + 7 })
    expect((await scene().show(later))?.waiting).toEqual({ for: 'instant', until: startAt + 7, reason: 'not-before' })
    const first = await scene().enqueue({ concurrencyKey: 'k', onExhausted: 'park' })
    const second = await scene().enqueue({ concurrencyKey: 'k' })
    expect((await scene().show(second))?.waiting).toEqual({ for: 'key', reason: 'k' })
    const held = await scene().leaseOf(first)
    expect(await scene().show(first)).toMatchObject({
      status: 'leased',
      fence: 1,
      lease: { workerId: 'w-11', leasedAt: startAt, expiresAt: startAt + 300_000, cancelRequestedAt: null },
    })
    await scene().end(held, { kind: 'failed', reason: 'broken' })
    expect(await scene().show(first)).toMatchObject({
      status: 'ready',
      attempts: 1,
      waiting: { for: 'instant', until: startAt + 500, reason: 'backoff' },
    })
    await scene().end(await scene().leaseOf(second))
    scene().clock.now += 500
    const again = await scene().leaseOf(first)
    await scene().end(again, { kind: 'failed', reason: 'worse', retryable: false })
    expect(await scene().show(first)).toMatchObject({
      status: 'parked',
      fence: 2,
      attempts: 2,
      parked: { at: startAt + 500, reason: 'worse (not retryable)' },
    })
    await scene().write((context) => cancelRun(context, first, 'enough'))
    expect(await scene().show(first)).toMatchObject({
      status: 'cancelled',
      fence: 2,
      attempts: 2,
      releases: null,
      end: { status: 'cancelled', at: startAt + 500, reason: 'enough' },
    })
    expect(await scene().read((context) => listAttempts(context, first))).toMatchObject([
      { fence: 1, outcome: 'failed', reason: 'broken', ends: null },
      { fence: 2, outcome: 'failed', ends: null },
      { fence: 0, outcome: 'cancelled', ends: 'cancelled' },
    ])
  })

  test('a run of a schedule is shown with its name, in lists too, and also once the schedule is deleted', async () => {
    const [live, deleted] = [await scene().schedule({ name: 'a' }), await scene().schedule({ name: 'b' }, startAt)]
    const [ofLive, ofDeleted] = [await scene().occurrence(live), await scene().occurrence(deleted)]
    expect(await scene().show(ofLive)).toMatchObject({ schedule: 'a' })
    const page = await scene().read((context) => listRuns(context, { limit: 10 }))
    expect(page.runs.map(({ id, schedule }) => [id, schedule])).toEqual([
      [ofDeleted, 'b'],
      [ofLive, 'a'],
    ])
  })

  test('a result is shown with the run that answered it', async () => {
    const id = await scene().enqueue()
    await scene().end(await scene().leaseOf(id), { kind: 'success' }, { rows: 3 })
    expect(await scene().show(id)).toMatchObject({
      status: 'completed',
      result: { value: { rows: 3 }, truncated: false },
    })
  })

  test('the instants that time alone brings are the earliest of each kind, and a paused queue has none', async () => {
    const none = { now: startAt, scheduleAt: null, leaseExpiresAt: null, holdAt: null, holdsMark: '0/0' }
    expect(await scene().read(nextInstants)).toEqual(none)
    await scene().enqueue({ notBefore: startAt + 70 })
    await scene().enqueue({ notBefore: startAt + 50, queue: 'other' })
    await scene().enqueue({ notBefore: startAt + 10, queue: 'paused' })
    await scene().setQueue('paused', { paused: { reason: 'x' } })
    await scene().enqueue()
    await scene().lease({ leaseMs: 2_000 })
    const early = await scene().schedule({ name: 'early' })
    await scene().sql('update belfry.schedule set wake_at = $2 where id = $1', early, startAt + 3)
    const late = await scene().schedule({ name: 'late' })
    await scene().sql('update belfry.schedule set wake_at = $2 where id = $1', late, startAt + 9)
    expect(await scene().read(nextInstants)).toEqual({
      now: startAt,
      scheduleAt: startAt + 3,
      leaseExpiresAt: startAt + 2_000,
      holdAt: null,
      holdsMark: expect.stringMatching(/^1\/\d+$/),
    })
  })

  test('schedules are found by name, deleted ones by id, and listed apart', async () => {
    const deletedId = await scene().schedule({ name: 'a' }, startAt)
    await scene().schedule({ name: 'b' })
    await scene().schedule({ name: 'a', description: 'the new one' })
    expect(await scene().read((context) => findSchedule(context, 'a'))).toMatchObject({
      spec: { description: 'the new one' },
      deletedAt: null,
      hints: {},
    })
    const [deleted] = await scene().read((context) => listSchedules(context, { deleted: true }))
    expect(deleted).toMatchObject({ deletedAt: startAt, spec: { name: 'a' } })
    expect(await scene().read((context) => findSchedule(context, deleted?.id ?? ''))).toEqual(deleted)
    expect(deletedId).toBeGreaterThan(0)
    const names = (views: { spec: { name: string } }[]) => views.map(({ spec }) => spec.name)
    expect(names(await scene().read((context) => listSchedules(context)))).toEqual(['a', 'b'])
    expect(names(await scene().read((context) => listSchedules(context, { after: 'a', limit: 5 })))).toEqual(['b'])
    expect(await scene().read((context) => findSchedule(context, 'c'))).toBeNull()
  })

  test('what a schedule said, was told and did is shown newest first', async () => {
    const id = await scene().schedule({ name: 'a' })
    const { ns } = scene().context
    const version = `insert into belfry.schedule_version (ns, schedule_id, version, spec, at, actor, reason)
      values ($1, $2, $3, '{"name":"a"}', $4, 'me', null)`
    for (const number of [1, 2]) await scene().sql(version, ns, id, number, startAt)
    expect(await scene().read((context) => scheduleVersions(context, 'a'))).toEqual([
      { version: 2, content: { name: 'a' }, at: startAt, actor: 'me', door: null, reason: null },
      { version: 1, content: { name: 'a' }, at: startAt, actor: 'me', door: null, reason: null },
    ])
    const hint = `insert into belfry.hint (id, ns, schedule_id, kind, value, expires_at, reason, author, created_at, ended_at,
      ended_by) values ($1, $2, $3, $4, 5, $5, 'r', 'ai', $5, $6, $7)`
    await scene().sql(hint, 2_000_000 + ns * 10, ns, id, 'interval', startAt, startAt + 1, 'replaced')
    await scene().sql(hint, 2_000_001 + ns * 10, ns, id, 'oneshot', startAt, null, null)
    const unforeseen = { nextAt: null, wasNextAt: null }
    const told = {
      value: 5,
      expiresAt: startAt,
      reason: 'r',
      author: 'ai',
      by: 'person',
      createdAt: startAt,
      ...unforeseen,
    }
    expect(await scene().read((context) => listHints(context, 'a'))).toEqual([
      { ...told, kind: 'oneshot', ended: null },
      { ...told, kind: 'interval', ended: { at: startAt + 1, by: 'replaced' } },
    ])
    const row = `insert into belfry.ledger (ns, schedule_id, from_at, to_at, count, outcome, run_id, caused_by, decision,
      recorded_at, ended_at) values ($1, $2, $3, $3, 1, 'fired', 1, null, '{"at":1}', $3, null)`
    for (const at of [1, 2, 3]) await scene().sql(row, ns, id, at)
    const page = await scene().read((context) => listLedger(context, 'a', { before: 3, limit: 1 }))
    expect(page).toEqual([
      {
        from: 2,
        to: 2,
        count: 1,
        countIsAtLeast: false,
        outcome: 'fired',
        runId: 'r-11',
        causedBy: null,
        decision: { at: 1 },
        recordedAt: 2,
        endedAt: null,
      },
    ])
    expect(await scene().read((context) => listLedger(context, 'a'))).toHaveLength(3)
    expect(await scene().read((context) => listLedger(context, 'nobody'))).toEqual([])
  })

  test('a question that makes no sense is refused alike by both databases, never by a database', async () => {
    await scene().schedule({ name: 'a' })
    const id = await scene().enqueue()
    const ask = <Result>(read: (context: StoreContext) => Step<Result>) => scene().read(read)
    const odd: (() => Promise<unknown>)[] = [
      () => ask((context) => listSchedules(context, { after: 'a\0' })),
      () => ask((context) => listSchedules(context, { after: 5 as never })),
      () => ask((context) => listSchedules(context, { after: 'nobody', deleted: true })),
      () => ask((context) => listLedger(context, 'a', { before: 1.5 })),
      () => ask((context) => listLedger(context, 'a', { before: 2 ** 64 })),
      () => ask((context) => readOutput(context, id, 2 ** 40)),
      () => ask((context) => readOutput(context, id, 1.5)),
      () => ask((context) => listRuns(context, { limit: 1, status: 'ready', before: '9999999999/0/r-11' })),
      () => ask((context) => listRuns(context, { limit: 1, status: 'ready', before: '1/9999999999999999/r-11' })),
      () => ask((context) => listRuns(context, { limit: 1, status: 'completed', before: '9999999999999999/r-11' })),
      () => ask((context) => listRuns(context, { limit: 1, status: 'completed', before: 'a\0' })),
      () => ask((context) => listRuns(context, { limit: 1, before: 5 as never })),
      () => ask((context) => listRuns(context, { limit: 1, status: 'a\0' as never })),
    ]
    for (const question of odd) await expect(question()).rejects.toMatchObject({ name: 'BelfryError', code: 'invalid' })
  })
})
