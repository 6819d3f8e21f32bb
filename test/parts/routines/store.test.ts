import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { formatId } from '../../../src/core/id.ts'
import { openStore } from '../../../src/open-store.ts'
import { cursorBehind } from '../../../src/parts/routines/event-cursor.ts'
import { fireRoutine } from '../../../src/parts/routines/fire-routine.ts'
import { findRoutine, listRoutineEvents, listRoutines } from '../../../src/parts/routines/read-routines.ts'
import type { FireAnswer, NewEvent, RoutineEventView, RoutineSpec } from '../../../src/parts/routines/routine-spec.ts'
import { createRoutine, deleteRoutine, switchRoutine } from '../../../src/parts/routines/write-routine.ts'
import type { Store } from '../../../src/store/port.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule, listLedger } from '../../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { all, both } from '../../../src/store/statement.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { listAudit } from '../../store/list-audit.ts'

const startAt = Date.UTC(2026, 0, 5, 9)
const actor = { name: 'tester', door: 'test' }
const dayMs = 86_400_000
const target = { handler: 'deploy' }
const main = { ref: 'refs/heads/main' }

interface Place {
  readonly url: string
  readonly schema?: string
}

/** A file, or a schema on a server: what two processes would share. */
async function place(database: 'SQLite' | 'PostgreSQL'): Promise<Place> {
  if (database === 'SQLite') {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-routine-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return { url: `sqlite:${join(folder, 'belfry.db')}` }
  }
  const schema = lendSchema()
  onTestFinished(() => returnSchema(schema))
  return { url: postgresUrl(), schema }
}

describe.each(['SQLite', 'PostgreSQL'] as const)('a routine on %s', (database) => {
  let clock: TestClock

  async function open(at?: Place): Promise<Store> {
    clock = new TestClock(startAt)
    const { url, schema } = at ?? (await place(database))
    const store = await openStore(url, { clock, ...(schema !== undefined && { schema }) })
    onTestFinished(() => store.close())
    return store
  }

  const make = (store: Store, spec: RoutineSpec = { run: { target } }, name = 'deploy') =>
    store.do(createRoutine, { name, spec }, { actor })
  const fire = async (store: Store, event: Partial<NewEvent> = {}, name = 'deploy') =>
    (await store.do(fireRoutine, name, { payload: main, actor, ...event })) as Exclude<
      FireAnswer,
      { answer: 'not-found' }
    >
  const put = (store: Store, more: object = {}) =>
    store.do(putSchedule, { name: 'nightly', timing: {}, target, ...more }, { mode: 'put', actor })
  const runCount = async (store: Store) => (await store.look(listRuns, { limit: 100 })).runs.length
  const rowsIn = (store: Store, table: string) =>
    databaseOf(store).read(() => all(both(`test rows of ${table}`, `select * from belfry.${table}`)))

  it('is made once: the same again changes nothing, and another under its name is refused', async () => {
    const store = await open()
    expect(await make(store)).toMatchObject({ answer: 'created', routine: { name: 'deploy', disabled: null } })
    expect(await make(store)).toMatchObject({ answer: 'unchanged' })
    expect(await make(store, { run: { target, priority: 1 } })).toMatchObject({ answer: 'exists' })
    const disabled = { name: 'deploy', spec: { run: { target } }, disabledReason: 'not yet' }
    expect(await store.do(createRoutine, disabled, { actor })).toMatchObject({ answer: 'exists' })
    expect(await store.do(deleteRoutine, 'deploy', { actor })).toBe('deleted')
    expect(await store.do(deleteRoutine, 'deploy', { actor })).toBe('not-found')
    expect(await store.look(findRoutine, 'deploy')).toBeNull()
    expect(await make(store, { schedule: 'nightly' })).toMatchObject({ answer: 'created' })
  })

  it('makes a run of an event, which gets the event as data beside its own payload', async () => {
    const store = await open()
    await make(store, { run: { target, queue: 'deploys', priority: 7, payload: { fast: true }, concurrencyKey: 'k' } })
    const event = { target: { command: ['rm'] }, queue: 'other', priority: -5, given: 'forged', routine: 'forged' }
    const answer = await fire(store, { deliveryId: 'd1', type: 'push', payload: event })
    expect(answer).toMatchObject({ answer: 'fired', deliveryId: 'd1', runId: expect.any(String), reason: null })
    const made = await store.look(findRun, answer.runId ?? '')
    expect(made).toMatchObject({ source: 'routine', queue: 'deploys', priority: 7, concurrencyKey: 'k', target })
    expect(made?.scheduleId).toBeNull()
    expect(made?.payload).toEqual({
      routine: 'deploy',
      delivery: 'd1',
      type: 'push',
      receivedAt: '2026-01-05T09:00:00.000Z',
      event,
      given: { fast: true },
    })
  })

  it('answers the same delivery with its first run, however often it comes, and counts how often', async () => {
    const store = await open()
    await make(store)
    const first = await fire(store, { deliveryId: 'd1' })
    for (const payload of [main, { ref: 'other' }]) {
      expect(await fire(store, { deliveryId: 'd1', payload })).toMatchObject({
        answer: 'duplicate',
        runId: first.runId,
        eventId: first.eventId,
        reason: 'the same delivery came before; its outcome was fired',
      })
    }
    expect(await runCount(store)).toBe(1)
    expect(await store.look(listRoutineEvents, 'deploy')).toMatchObject([
      { deliveryId: 'd1', outcome: 'fired', repeats: 2 },
    ])
    expect(await fire(store, { deliveryId: 'd2' })).toMatchObject({ answer: 'fired' })
    expect([(await fire(store)).answer, (await fire(store)).answer]).toEqual(['fired', 'fired'])
  })

  it('knows a delivery by its own routine alone', async () => {
    const store = await open()
    await make(store)
    await make(store, { run: { target } }, 'other')
    expect(await fire(store, { deliveryId: 'd1' })).toMatchObject({ answer: 'fired' })
    expect(await fire(store, { deliveryId: 'd1' }, 'other')).toMatchObject({ answer: 'fired' })
  })

  it('writes down what it made nothing of, and why; sent again that stays so, whatever has changed since', async () => {
    const store = await open()
    await make(store, { type: ['push'], match: main, run: { target } })
    expect(await fire(store, { deliveryId: 'a', type: 'issues' })).toMatchObject({
      answer: 'not-matched',
      runId: null,
      reason: 'the type is "issues", not "push"',
    })
    expect(await fire(store, { deliveryId: 'b', type: 'push', payload: { ref: 'x' } })).toMatchObject({
      answer: 'not-matched',
      reason: 'ref is "x", not "refs/heads/main"',
    })
    await store.do(switchRoutine, 'deploy', { disabledReason: 'moving house', actor })
    expect(await fire(store, { deliveryId: 'c', type: 'push' })).toMatchObject({
      answer: 'disabled',
      reason: 'moving house',
    })
    await store.do(switchRoutine, 'deploy', { disabledReason: null, actor })
    expect(await fire(store, { deliveryId: 'c', type: 'push' })).toMatchObject({ answer: 'duplicate', runId: null })
    expect(await runCount(store)).toBe(0)
    const outcomes = (await store.look(listRoutineEvents, 'deploy'))?.map(({ deliveryId, outcome }) => [
      deliveryId,
      outcome,
    ])
    expect(outcomes).toEqual([
      ['c', 'disabled'],
      ['b', 'not-matched'],
      ['a', 'not-matched'],
    ])
  })

  it('fires its schedule beside its occurrences, and hands the payload of the schedule on', async () => {
    const store = await open()
    await put(store, { timing: { cron: '0 * * * *', zone: 'UTC' }, payload: { day: 'today' } })
    const before = await store.look(findSchedule, 'nightly')
    await make(store, { schedule: 'nightly' })
    const { runId } = await fire(store)
    expect(await store.look(findRun, runId ?? '')).toMatchObject({
      source: 'routine',
      schedule: 'nightly',
      occurrenceAt: null,
      target,
      payload: { routine: 'deploy', event: main, given: { day: 'today' } },
    })
    const { nextRunAt, lastPlannedAt, runsCount } = (await store.look(findSchedule, 'nightly')) ?? {}
    expect({ nextRunAt, lastPlannedAt, runsCount }).toEqual({
      nextRunAt: before?.nextRunAt,
      lastPlannedAt: before?.lastPlannedAt,
      runsCount: before?.runsCount,
    })
    expect(await store.look(listLedger, 'nightly')).toEqual([])
  })

  it('keeps to the overlap rule of its schedule, and to its pause', async () => {
    const store = await open()
    await put(store)
    await make(store, { schedule: 'nightly' })
    const first = await fire(store)
    expect(await fire(store)).toMatchObject({ answer: 'overlap', runId: first.runId })
    await put(store, { overlap: 'queue' })
    expect(await fire(store)).toMatchObject({ answer: 'overlap', runId: first.runId })
    await put(store, { overlap: 'allow' })
    expect(await fire(store)).toMatchObject({ answer: 'fired' })
    await put(store, { overlap: 'cancel' })
    const last = await fire(store)
    expect(last).toMatchObject({ answer: 'fired' })
    expect(await store.look(findRun, first.runId ?? '')).toMatchObject({ status: 'cancelled' })
    await store.do(cancelRun, last.runId ?? '', 'done')
    await store.do(pauseSchedule, 'nightly', { reason: 'r' })
    const held = await fire(store)
    expect(held).toMatchObject({ answer: 'fired', kept: 'held' })
    expect(await store.look(findRun, held.runId ?? '')).toMatchObject({ status: 'held' })
  })

  it('says when its schedule is gone, and fires the next one of that name', async () => {
    const store = await open()
    await put(store)
    await make(store, { schedule: 'nightly' })
    await store.do(deleteSchedule, 'nightly')
    expect(await fire(store)).toMatchObject({ answer: 'schedule-gone', runId: null })
    await put(store)
    expect(await fire(store)).toMatchObject({ answer: 'fired' })
  })

  it('names the live run that has its dedupe key, and makes another once that has ended', async () => {
    const store = await open()
    await make(store, { run: { target, dedupeKey: 'one at a time' } })
    const { runId } = await fire(store)
    expect(await fire(store)).toMatchObject({ answer: 'overlap', runId })
    await store.do(cancelRun, runId ?? '', 'done')
    expect(await fire(store)).toMatchObject({ answer: 'fired' })
  })

  it('keeps neither an event without its run nor a run without its event: what cannot be handed on leaves nothing', async () => {
    const store = await open()
    await make(store, { run: { target, payload: 'x'.repeat(200_000) } })
    await expect(fire(store, { payload: 'y'.repeat(200_000) })).rejects.toThrow(/payload has \d+ bytes as JSON/)
    expect(await rowsIn(store, 'routine_event')).toEqual([])
    expect(await runCount(store)).toBe(0)
    await expect(fire(store, { payload: 'y'.repeat(300_000) })).rejects.toThrow(/payload has \d+ bytes/)
    await expect(fire(store, { deliveryId: '' })).rejects.toThrow(/deliveryId is empty/)
    await expect(fire(store, { type: 'a\0b' })).rejects.toThrow(/NUL/)
  })

  it('is found by its name in its own namespace alone, and only while it is the one that was meant', async () => {
    const at = await place(database)
    const store = await open(at)
    await make(store)
    const other = await openStore(at.url, {
      clock,
      namespace: 'other',
      ...(at.schema !== undefined && { schema: at.schema }),
    })
    onTestFinished(() => other.close())
    expect(await other.look(findRoutine, 'deploy')).toBeNull()
    expect(await other.do(fireRoutine, 'deploy', { payload: 1, actor })).toEqual({ answer: 'not-found' })
    const { id = '' } = (await store.look(findRoutine, 'deploy')) ?? {}
    expect(await fire(store, { routineId: id })).toMatchObject({ answer: 'fired' })
    expect(await fire(store, { routineId: formatId({ letter: 'o' }, 999_999) })).toEqual({ answer: 'not-found' })
    for (const name of ['nobody', 'a\0b', '\ud800'])
      expect(await fire(store, {}, name)).toEqual({ answer: 'not-found' })
  })

  it('keeps a long payload of an event cut, and whole with its run', async () => {
    const store = await open()
    await make(store)
    const payload = { text: '🔔'.repeat(10_000) }
    const { runId } = await fire(store, { payload })
    const [event] = (await store.look(listRoutineEvents, 'deploy')) ?? []
    expect(event?.payload).toEqual({ value: expect.stringMatching(/^\{"text":"🔔+$/u), truncated: true })
    expect(Buffer.byteLength(String(event?.payload.value))).toBeLessThanOrEqual(16 * 1024)
    expect((await store.look(findRun, runId ?? ''))?.payload).toMatchObject({ event: payload })
    await fire(store, { payload: { nul: '\0', half: '\ud800' } })
    const [strange] = (await store.look(listRoutineEvents, 'deploy', { limit: 1 })) ?? []
    expect(strange?.payload).toEqual({ value: { nul: '\0', half: '\ud800' }, truncated: false })
  })

  it('lists routines by name and events newest first, a page at a time', async () => {
    const store = await open()
    for (const name of ['c', 'a', 'b']) await make(store, { run: { target } }, name)
    expect((await store.look(listRoutines, { limit: 2 })).map(({ name }) => name)).toEqual(['a', 'b'])
    expect((await store.look(listRoutines, { after: 'b' })).map(({ name }) => name)).toEqual(['c'])
    for (const deliveryId of ['1', '2', '3']) await fire(store, { deliveryId }, 'a')
    const [third, second] = (await store.look(listRoutineEvents, 'a', { limit: 2 })) ?? []
    expect([third?.deliveryId, second?.deliveryId]).toEqual(['3', '2'])
    const rest = await store.look(listRoutineEvents, 'a', { before: cursorBehind(second as RoutineEventView) })
    expect(rest?.map(({ deliveryId }) => deliveryId)).toEqual(['1'])
    expect(await store.look(listRoutineEvents, 'nobody')).toBeNull()
    for (const before of ['x', second?.id ?? '', `${second?.at}/`, `-1/${second?.id}`]) {
      await expect(store.look(listRoutineEvents, 'a', { before }), before).rejects.toThrow(/before/)
    }
  })

  it('writes down who made, disabled, enabled, fired and deleted it', async () => {
    const store = await open()
    await make(store)
    await store.do(switchRoutine, 'deploy', { disabledReason: 'r', actor })
    expect(await store.do(switchRoutine, 'deploy', { disabledReason: 'r', actor })).toBe('unchanged')
    await store.do(switchRoutine, 'deploy', { disabledReason: null, actor })
    const noted = store.audited({ actor, verb: 'routine.fire', subject: 'routine deploy' })
    const { runId } = await fire(noted, { deliveryId: 'd' })
    await fire(noted, { deliveryId: 'd' })
    await store.do(deleteRoutine, 'deploy', { actor })
    const lines = (await store.look(listAudit, 'routine deploy')).map(({ verb, detail }) => [verb, detail])
    expect(lines).toEqual([
      ['routine.delete', null],
      ['routine.fire', { run: runId, delivery: 'd' }],
      ['routine.enable', null],
      ['routine.disable', { reason: 'r' }],
      ['routine.create', null],
    ])
  })

  it('keeps events for ninety days, and a deleted routine until its last event is gone', async () => {
    const store = await open()
    await make(store)
    await fire(store, { deliveryId: 'old' })
    clock.advance(dayMs)
    await fire(store, { deliveryId: 'new' })
    await store.do(deleteRoutine, 'deploy', { actor })
    const prune = async () => {
      for (let from: string | undefined; ; ) {
        const { next } = await store.prune({ limit: 3, ...(from !== undefined && { from }) })
        if (next === null) return
        from = next
      }
    }
    const kept = async () => [(await rowsIn(store, 'routine')).length, (await rowsIn(store, 'routine_event')).length]
    clock.advance(89 * dayMs - 1)
    await prune()
    expect(await kept()).toEqual([1, 2])
    clock.advance(1)
    await prune()
    expect(await kept()).toEqual([1, 1])
    clock.advance(dayMs)
    await prune()
    expect(await kept()).toEqual([0, 0])
  })

  it('wakes whoever waits for work', async () => {
    const store = await open()
    await make(store)
    const heard: string[] = []
    onTestFinished(store.listen(({ what }) => heard.push(what)))
    await fire(store)
    expect(heard).toContain('work')
  })

  describe('raced from two connections', () => {
    async function two(spec: RoutineSpec): Promise<[Store, Store]> {
      const at = await place(database)
      const [one, other] = [await open(at), await open(at)]
      await put(one)
      await make(one, spec)
      return [one, other]
    }

    it.each([['enqueues', { run: { target } }] as const, ['fires a schedule', { schedule: 'nightly' }] as const])(
      'the same delivery makes one run, where it %s',
      async (_, spec) => {
        const stores = await two(spec)
        for (let round = 0; round < 5; round++) {
          const sent = Array.from({ length: 8 }, (_, index) =>
            fire(stores[index % 2] as Store, { deliveryId: `d${round}` }),
          )
          const answers = await Promise.all(sent)
          const fired = answers.filter(({ answer }) => answer === 'fired')
          expect(fired).toHaveLength(1)
          expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
          expect(answers.filter(({ answer }) => answer === 'duplicate')).toHaveLength(7)
          await stores[0].do(cancelRun, fired[0]?.runId ?? '', 'done')
        }
        expect(await runCount(stores[0])).toBe(5)
        const events = (await stores[1].look(listRoutineEvents, 'deploy')) ?? []
        expect(events.map(({ repeats }) => repeats)).toEqual([7, 7, 7, 7, 7])
      },
    )

    it('different deliveries to a schedule without overlap make one run, and the others name it', async () => {
      const stores = await two({ schedule: 'nightly' })
      const sent = Array.from({ length: 8 }, (_, index) =>
        fire(stores[index % 2] as Store, { deliveryId: `d${index}` }),
      )
      const answers = await Promise.all(sent)
      expect(answers.map(({ answer }) => answer).sort()).toEqual(['fired', ...Array(7).fill('overlap')])
      expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
    })

    it('once it was disabled, nothing more is made of events', async () => {
      const [one, other] = await two({ run: { target } })
      const sent = Array.from({ length: 10 }, () => fire(one))
      const switched = other.do(switchRoutine, 'deploy', { disabledReason: 'r', actor })
      await Promise.all([...sent, switched])
      const count = await runCount(one)
      expect(await fire(one)).toMatchObject({ answer: 'disabled' })
      expect(await runCount(other)).toBe(count)
    })

    it('a name is made once', async () => {
      const [one, other] = await two({ run: { target } })
      const specs = Array.from({ length: 6 }, (_, priority) => ({ run: { target, priority } }))
      const answers = await Promise.all(specs.map((spec, index) => make(index % 2 === 0 ? one : other, spec, 'fresh')))
      expect(answers.filter(({ answer }) => answer === 'created')).toHaveLength(1)
      expect(answers.filter(({ answer }) => answer === 'exists')).toHaveLength(5)
    })
  })
})
