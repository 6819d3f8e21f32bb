import assert from 'node:assert/strict'
import { BelfryError } from '../../../src/core/error.ts'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import { backfillSchedule } from '../../../src/parts/backfill/backfill-schedule.ts'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import type { PutOptions, Store } from '../../../src/store/port.ts'
import { deleteQueue } from '../../../src/store/queues/delete-queue.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule } from '../../../src/store/reads/find-schedule.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { repair } from '../../../src/store/schedules/repair.ts'
import { resetSchedule } from '../../../src/store/schedules/reset-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { clearHints } from '../../../src/store/schedules/set-hint.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import type { Row } from '../../../src/store/statement.ts'
import { clockNow } from '../../../src/store/statement.ts'
import { takeDuty } from '../../../src/store/workers/take-duty.ts'
import { actor, type Case, cannotShare, noop, type Stage } from '../place.ts'
import { count } from '../record.ts'
import { put } from './schedules.ts'

const minute = 60_000
const hour = 60 * minute
const daily: ScheduleSpec = { name: 'daily', timing: { cron: '0 9 * * *', zone: 'UTC' }, target: { handler: 'noop' } }

type Write = (store: Store) => Promise<unknown>

function putting(spec: Partial<ScheduleSpec>, options: Partial<PutOptions> = {}): Write {
  return (store) => store.do(putSchedule, { ...daily, ...spec }, { mode: 'put', actor, ...options })
}

function backfilling(name: string): Write {
  return async (store) => {
    const now = await store.look(clockNow)
    return store.do(backfillSchedule, name, { from: now - 10 * minute, to: now })
  }
}

/** Every way in which a write that can be rehearsed answers, in an order in which each finds what it needs. */
const writes: readonly (readonly [string, Write])[] = [
  ['a schedule in a queue that nobody has named', putting({ queue: 'fresh' })],
  ['a schedule that is as it was', putting({ queue: 'fresh' })],
  ['a name that has another spec', putting({}, { mode: 'create' })],
  ['another version than was seen', putting({ priority: 1 }, { ifVersion: 7 })],
  ['an edit', putting({ priority: 1 }, { reason: 'because' })],
  ['a backfill', backfilling('due')],
  ['a backfill of what was made before', backfilling('due')],
  ['a backfill of a schedule without instants', backfilling('busy')],
  ['a backfill of nothing', backfilling('nobody')],
  ['an edit of the timing, with an occurrence due', putting({ name: 'due', timing: { everyMs: hour, from: 'start' } })],
  ['a queue', (store) => store.do(setQueue, 'new', { policy: { maxConcurrent: 7 }, actor })],
  ['a queue that is as it was', (store) => store.do(setQueue, 'new', { policy: { maxConcurrent: 7 }, actor })],
  ['another version of a queue', (store) => store.do(setQueue, 'new', { policy: {}, ifVersion: 9, actor })],
  ['a higher ceiling of keys', (store) => store.do(setQueue, 'keyed', { policy: { maxConcurrentPerKey: 5 }, actor })],
  ['a pause of a queue', (store) => store.do(setQueue, 'new', { paused: { reason: 'r' }, actor })],
  ['work', (store) => store.enqueue([noop(), noop({ queue: 'other', idempotencyKey: 'i', dedupeKey: 'd' })])],
  ['work that came before', (store) => store.enqueue([noop({ queue: 'other', idempotencyKey: 'i', dedupeKey: 'd' })])],
  ['other work under a key', (store) => store.enqueue([noop({ idempotencyKey: 'i' })])],
  ['work whose dedupe key is taken', (store) => store.enqueue([noop({ dedupeKey: 'd' })])],
  ['a deletion of a queue', (store) => store.do(deleteQueue, 'new', { actor })],
  ['a deletion of a queue in use', (store) => store.do(deleteQueue, 'other', { actor })],
  ['a deletion', (store) => store.do(deleteSchedule, 'busy', { cancelLeased: true, actor })],
  ['a deletion of nothing', (store) => store.do(deleteSchedule, 'nobody')],
]

export const rehearsals: Case[] = [
  {
    name: 'a rehearsed write answers what the write answers, and leaves every row of every table as it was',
    async run(stage) {
      const store = await stage.open()
      await prepare(stage, store)
      const rehearsal = store.rehearsal()
      for (const [what, write] of writes) {
        const before = await everyRow(stage)
        const rehearsed = await write(rehearsal)
        assert.deepEqual(await everyRow(stage), before, `the rehearsal of ${what} left something behind`)
        const real = await write(store)
        assert.deepEqual(withoutFreshIds(rehearsed), withoutFreshIds(real), `${what} was answered otherwise`)
        // PostgreSQL hands its processes blocks of ids that no rollback gives back.
        if (stage.subject.dialect === 'sqlite') assert.deepEqual(rehearsed, real, `${what} had another id`)
      }
    },
  },
  {
    name: 'a rehearsal wakes nobody, neither here nor elsewhere',
    async run(stage) {
      const store = await stage.open()
      await prepare(stage, store)
      const rehearsal = store.rehearsal()
      const heard: string[] = []
      for (const one of [store, rehearsal]) one.listen(({ what }) => heard.push(what))
      const database = databaseOf(store)
      const { wakeOthers } = database
      let notifications = 0
      database.wakeOthers = (news) => {
        notifications++
        wakeOthers.call(database, news)
      }
      for (const [what, write] of writes) {
        heard.length = 0
        notifications = 0
        await write(rehearsal)
        assert.deepEqual([heard, notifications], [[], 0], `the rehearsal of ${what} woke somebody`)
        await write(store)
      }
      rehearsal.wakeOthers()
      await store.enqueue([noop()])
      assert.deepEqual([heard, notifications], [['work', 'work'], 1], 'the store itself was silent afterwards')
    },
  },
  {
    name: 'another process does not see that a file was rehearsed on',
    skip: ({ dialect, isShared }) => (dialect === 'sqlite' && isShared ? undefined : 'there is no file to look at'),
    async run(stage) {
      const [mine, theirs] = (await stage.openMany(2)) as [Store, Store]
      await prepare(stage, mine)
      await putting({ queue: 'fresh' })(mine)
      const mark = databaseOf(theirs).changeMark()
      for (const [, write] of writes) await write(mine.rehearsal())
      assert.equal(databaseOf(theirs).changeMark(), mark)
      await mine.enqueue([noop()])
      assert.notEqual(databaseOf(theirs).changeMark(), mark, 'the mark says nothing')
    },
  },
  {
    name: 'rehearsals hold up nobody after them, however many there were and whatever they were refused for',
    async run(stage) {
      const [mine, theirs] = (await stage.openMany(2)) as [Store, Store]
      await prepare(stage, mine)
      await putting({ queue: 'fresh' })(mine)
      const rehearsal = mine.rehearsal()
      const bad = { ...daily, queue: '' }
      for (let round = 0; round < 3; round++) {
        await Promise.all(writes.map(([, write]) => write(rehearsal)))
        await assert.rejects(rehearsal.do(putSchedule, bad, { mode: 'put', actor }), isInvalid)
        await assert.rejects(rehearsal.enqueue([noop({ queue: '' })]), isInvalid)
      }
      for (const [, write] of writes) await write(theirs)
      assert.equal((await theirs.look(findSchedule, 'daily'))?.version, 2)
      assert.equal((await mine.enqueue([noop()]))[0]?.created, true)
    },
  },
  {
    name: 'rehearsals among writes of the same thing: each write happens once, and no rehearsal does',
    async run(stage) {
      const stores = await stage.openMany(2)
      const steps = Array.from({ length: 20 }, (_, index) => {
        const store = stores[index % 2] as Store
        const runs = [noop({ queue: 'raced', dedupeKey: `d${index}` })]
        return [store.rehearsal().enqueue(runs), store.enqueue(runs), putting({ queue: 'raced' })(store.rehearsal())]
      })
      await Promise.all(steps.flat())
      assert.equal(await count(stage, 'belfry.run'), 20)
      assert.equal(await count(stage, 'belfry.schedule'), 0)
      assert.equal(await count(stage, "belfry.queue where name = 'raced'"), 1)
    },
  },
  {
    name: 'what cannot be rehearsed is refused, and does nothing',
    async run(stage) {
      const store = await stage.open()
      const { runId, lease } = await prepare(stage, store)
      const rehearsal = store.rehearsal().rehearsal()
      const before = await everyRow(stage)
      const asks = [
        () => rehearsal.do(cancelRun, runId, 'r'),
        () => rehearsal.do(resetRun, runId),
        () => rehearsal.do(retryRun, runId),
        () => rehearsal.settle([{ ...lease, outcome: { kind: 'success' } }]),
        () => rehearsal.renew([lease], minute),
        () => rehearsal.appendOutput(lease, 'text'),
        () => rehearsal.reclaim({ limit: 1 }),
        () => rehearsal.do(pauseSchedule, 'due', { reason: 'r' }),
        () => rehearsal.do(resumeSchedule, 'due'),
        () => rehearsal.do(resetSchedule, 'due'),
        () => rehearsal.do(runNow, 'due'),
        () => rehearsal.do(clearHints, 'due', ['interval']),
        () => rehearsal.fireDue({ limit: 1 }),
        () => rehearsal.do(repair, { limit: 1 }),
        () => rehearsal.prune({ limit: 1 }),
        () => rehearsal.beat([lease.workerId]),
        () => rehearsal.do(takeDuty, { name: 'd', workerId: lease.workerId, forMs: minute }),
      ]
      for (const ask of asks) await assert.rejects(ask, isInvalid, String(ask))
      assert.deepEqual(await everyRow(stage), before)
      assert.equal((await rehearsal.look(findRun, runId))?.status, 'leased')
      assert.equal((await rehearsal.look(leasesOf, lease.claimId)).length, 1)
    },
  },
  {
    name: 'work in a caller’s own transaction is not rehearsed, for only the caller can take it back',
    skip: cannotShare,
    async run(stage) {
      const store = await stage.open()
      const own = await stage.begin()
      await assert.rejects(store.rehearsal().enqueue([noop()], { transaction: own.handle }), isInvalid)
      await own.commit()
      assert.equal(await count(stage, 'belfry.run'), 0)
    },
  },
]

function isInvalid(error: unknown): boolean {
  return error instanceof BelfryError && error.code === 'invalid'
}

/** A schedule with an occurrence that is due, one with a leased and a ready run, and runs behind the gate of a key. */
async function prepare(stage: Stage, store: Store) {
  await stage.setPolicy(store, { maxConcurrentPerKey: 1 }, 'keyed')
  await store.enqueue([1, 2, 3].map(() => noop({ queue: 'keyed', concurrencyKey: 'k' })))
  await put(store, { name: 'busy', timing: { everyMs: hour }, startNow: true, overlap: 'allow' })
  await store.fireDue({ limit: 10 })
  const { workerId, lease } = await stage.lessor(store)
  const [held] = await lease(1)
  assert.ok(held !== undefined)
  await store.do(runNow, 'busy')
  await put(store, { name: 'due', timing: { cron: '* * * * *', zone: 'UTC' } })
  stage.clock.advance(minute)
  return { runId: held.runId, lease: { ...held, workerId } }
}

const tablesOf = {
  sqlite: `select name from sqlite_master where type = 'table'`,
  postgres: `select relname as name from pg_class where relkind = 'r'
    and relnamespace = (select relnamespace from pg_class where oid = 'belfry.run'::regclass)`,
}

/** Every row of every table, those included that nobody thought of. */
async function everyRow(stage: Stage): Promise<Record<string, Row[]>> {
  const found: Record<string, Row[]> = {}
  for (const { name } of await stage.sql(tablesOf[stage.subject.dialect])) {
    const rows = await stage.sql(`select * from belfry.${name}`)
    found[String(name)] = rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  assert.ok('run' in found && 'audit' in found, 'the tables were not found')
  return found
}

/** An answer without the ids of what it says was created. */
function withoutFreshIds(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutFreshIds)
  if (typeof answer !== 'object' || answer === null) return answer
  const said = answer as { created?: unknown; answer?: unknown; schedule?: { id?: unknown }; made?: { at: number }[] }
  if (said.created === true) return { ...said, id: 'fresh' }
  if (said.made !== undefined) return { ...said, made: said.made.map(({ at }) => at) }
  return said.answer === 'created' && said.schedule ? { ...said, schedule: { ...said.schedule, id: 'fresh' } } : said
}
