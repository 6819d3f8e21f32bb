import assert from 'node:assert/strict'
import type { Capabilities } from '../../../src/core/queue/plan-leases.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { brokenParts } from '../../../src/store/reads/health/broken-parts.ts'
import { lanesBeyond } from '../../../src/store/reads/health/lanes-beyond.ts'
import { parkedRuns } from '../../../src/store/reads/health/parked-runs.ts'
import { scheduleHealth } from '../../../src/store/reads/health/schedule-health.ts'
import { troubledLeases } from '../../../src/store/reads/health/troubled-leases.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { repair } from '../../../src/store/schedules/repair.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { actor, type Case, cannotShare, noop } from '../place.ts'
import { snapshot } from '../record.ts'
import { put } from './schedules.ts'

const minute = 60_000
const hour = 60 * minute
const look = { longMs: hour, cancelMs: minute, limit: 10 }

/** What a request for a diagnosis reads. */
export const health: Case[] = [
  {
    name: 'the store tells which schema it found, and what its database promises',
    async run(stage) {
      const store = await stage.open()
      const { database, schema } = await store.condition()
      assert.equal(database.kind, stage.subject.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL')
      assert.match(database.version, /^\d+\.\d+/)
      assert.deepEqual(database.risks, [])
      assert.equal(database.isEphemeral, !stage.subject.isShared)
      assert.equal(database.file !== null, stage.subject.isShared && stage.subject.dialect === 'sqlite')
      assert.deepEqual(schema.found, schema.known)
      assert.equal(await store.damage(), null)
      await stage.sql(`insert into belfry.migration (version, name, applied_at) values (99, 'later', 0)`)
      const after = await store.condition()
      assert.deepEqual(after.schema, { found: 99, known: schema.known })
    },
  },
  {
    name: 'leases in trouble are those that expired, are held for long, or were to be cancelled long ago; no others',
    async run(stage) {
      const store = await stage.open()
      const { lease, workerId } = await stage.lessor(store)
      await store.enqueue([noop(), noop(), noop(), noop()])
      const names: (string | undefined)[] = []
      for (const leaseMs of [2 * hour, minute, 3 * hour, 4 * hour]) names.push((await lease(1, { leaseMs }))[0]?.runId)
      const [long, expired, cancelled] = names
      await store.do(cancelRun, cancelled ?? '', 'enough')
      const found = async () => (await store.look(troubledLeases, look)).map(({ runId }) => runId)
      assert.deepEqual(await found(), [])
      stage.clock.advance(minute)
      assert.deepEqual(await found(), [expired, cancelled])
      const leasedAt = stage.clock.now() - minute
      const [first] = await store.look(troubledLeases, { ...look, limit: 1 })
      assert.deepEqual(first, {
        runId: expired,
        fence: 1,
        queue: 'default',
        workerId,
        leasedAt,
        expiresAt: leasedAt + minute,
        cancelRequestedAt: null,
      })
      stage.clock.advance(hour - minute)
      assert.deepEqual(await found(), [expired, long, cancelled, names[3]])
    },
  },
  {
    name: 'parked runs are counted by queue and reason, each queue for itself and no further than asked for',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      await store.enqueue([noop(), noop(), noop(), noop({ queue: 'other' })])
      for (const queue of ['default', 'other']) {
        await stage.setPolicy(store, { maxAttempts: 1, onExhausted: 'park' }, queue)
        for (const [index, held] of (await lease(9, { queue })).entries()) {
          const outcome = { kind: 'failed', reason: index === 2 ? 'late' : 'broken' } as const
          await store.settle([{ ...held, outcome }])
          stage.clock.advance(1)
        }
      }
      const told = async (limit: number) => {
        const groups = await store.look(parkedRuns, limit)
        return groups.map(({ queue, reason, count, countIsAtLeast }) => [queue, reason, count, countIsAtLeast])
      }
      const all = await told(3)
      assert.deepEqual(
        all.map(([queue, , count, isAtLeast]) => [queue, count, isAtLeast]),
        [
          ['default', 2, false],
          ['default', 1, false],
          ['other', 1, false],
        ],
      )
      assert.deepEqual(await told(1), [
        ['default', all[0]?.[1], 1, true],
        ['other', all[2]?.[1], 1, false],
      ])
      const [oldest] = await store.look(parkedRuns, 3)
      const run = await store.look(findRun, oldest?.oldest.runId ?? '')
      assert.deepEqual(run?.parked, { at: oldest?.oldest.at, reason: oldest?.reason })
    },
  },
  {
    name: 'what repair would mend is found and left as it is: broken chains, gates that nobody opened, and nothing else',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      await stage.setPolicy(store, { maxConcurrentPerKey: 1, maxConcurrent: 9 })
      for (const name of ['sound', 'asleep', 'disabled', 'paused', 'behind']) {
        await put(store, { name, timing: { everyMs: hour }, overlap: 'queue' })
      }
      await store.do(runNow, 'behind')
      await store.do(pauseSchedule, 'disabled', { reason: 'r' })
      await store.do(pauseSchedule, 'paused', { reason: 'r', until: stage.clock.now() + hour })
      await store.enqueue([noop({ concurrencyKey: 'k' }), noop({ concurrencyKey: 'k' })])
      await lease(9)
      assert.deepEqual((await store.do(runNow, 'behind')).answer, 'created')
      assert.deepEqual(await store.look(brokenParts, 10), [])

      await stage.sql(`update belfry.schedule set wake_at = null where name in ('asleep', 'disabled', 'paused')`)
      await stage.sql(`delete from belfry.lease`)
      await stage.sql(`delete from belfry.schedule_run
        where run_id not in (select run_id from belfry.aside where kind = 'overlap')`)
      const before = await snapshot(stage)
      const found = await store.look(brokenParts, 10)
      assert.deepEqual(
        found.map(({ what, subject }) => [what, subject]),
        [
          ['chain', 'asleep'],
          ['overlap-gate', 'behind'],
          ['key-gate', 'default'],
        ],
      )
      assert.equal((await store.look(brokenParts, 1)).length, 1)
      assert.deepEqual(await snapshot(stage), before)
      const mended = (await store.do(repair, { limit: 10 })).map(({ what, subject }) => [what, subject])
      assert.deepEqual(
        mended,
        found.map(({ what, subject }) => [what, subject]),
      )
      assert.deepEqual(await store.look(brokenParts, 10), [])
    },
  },
  {
    name: 'lanes beyond what somebody can execute are told with what they need, and counted no further than a thousand',
    async run(stage) {
      const store = await stage.open()
      await store.enqueue([
        noop(),
        { target: { handler: 'mail' }, queue: 'post' },
        { target: { handler: 'mail' }, queue: 'post' },
        { target: { http: { url: 'https://example.org' } } },
        { payload: 1 },
      ])
      const beyond = (can: Capabilities, limit = 10) => {
        return store.look(lanesBeyond, can, limit)
      }
      const one = { count: 1, countIsAtLeast: false }
      assert.deepEqual(await beyond({ kinds: [], handlers: ['noop'] }), [
        { queue: 'default', kind: 'http', name: null, ...one },
        { queue: 'default', kind: null, name: null, ...one },
        { queue: 'post', kind: 'handler', name: 'mail', count: 2, countIsAtLeast: false },
      ])
      assert.equal((await beyond({ kinds: [] }, 2)).length, 2)
      assert.deepEqual(await beyond({ kinds: ['http', 'handler'], host: true }), [])
      for (let made = 0; made < 1_000; made += 500) {
        await store.enqueue(Array.from({ length: 500 }, () => noop({ queue: 'many' })))
      }
      const many = { queue: 'many', kind: 'handler', name: 'noop', count: 1_000 }
      const rest = { kinds: ['http'], handlers: ['mail'], host: true }
      assert.deepEqual((await beyond(rest)).at(-1), { ...many, countIsAtLeast: false })
      await store.enqueue([noop({ queue: 'many' })])
      assert.deepEqual((await beyond(rest)).at(-1), { ...many, countIsAtLeast: true })
    },
  },
  {
    name: 'a damaged schedule is told among the others, page by page, with what is wrong with it',
    async run(stage) {
      const store = await stage.open()
      for (const name of ['a', 'b', 'c', 'd', 'gone']) await put(store, { name, timing: { everyMs: hour } })
      await store.do(deleteSchedule, 'gone')
      await store.do(pauseSchedule, 'd', { reason: 'r' })
      await stage.sql(`update belfry.schedule set spec = '{' where name = 'b'`)
      await stage.sql(`update belfry.schedule set spec = 'null' where name = 'c'`)
      await stage.sql(`update belfry.schedule set failure_count = 4, is_done = 1 where name = 'a'`)
      const all = await store.look(scheduleHealth, { limit: 10 })
      assert.deepEqual(
        all.map(({ name, spec, problem }) => [name, spec?.name ?? null, problem !== null]),
        [
          ['a', 'a', false],
          ['b', null, true],
          ['c', null, true],
          ['d', 'd', false],
        ],
      )
      assert.deepEqual(
        all.map(({ failureCount, disabled, isDone }) => [failureCount, disabled?.reason ?? null, isDone]),
        [
          [4, null, true],
          [0, null, false],
          [0, null, false],
          [0, 'r', false],
        ],
      )
      assert.deepEqual(await store.look(scheduleHealth, { after: 'a', limit: 2 }), all.slice(1, 3))
    },
  },
  {
    name: 'the health of one namespace tells nothing of another',
    skip: cannotShare,
    async run(stage) {
      const [ours, theirs] = [await stage.open(), await stage.open({ namespace: 'theirs' })]
      const { lease } = await stage.lessor(theirs)
      await theirs.do(setQueue, 'default', { policy: { maxAttempts: 1, maxConcurrentPerKey: 1 }, actor })
      await put(theirs, { name: 's', timing: { everyMs: hour } })
      await theirs.enqueue([noop(), ...['k', 'k', 'gate', 'gate'].map((concurrencyKey) => noop({ concurrencyKey }))])
      const [parked] = await lease(1)
      if (parked !== undefined) await theirs.settle([{ ...parked, outcome: { kind: 'failed', reason: 'r' } }])
      await lease(2, { leaseMs: 1_000 })
      await stage.sql(`delete from belfry.lease where concurrency_key = 'gate'`)
      await stage.sql('update belfry.schedule set wake_at = null')
      stage.clock.advance(hour)
      const seen = async (store: typeof ours) => [
        await store.look(troubledLeases, look),
        await store.look(parkedRuns, 10),
        await store.look(brokenParts, 10),
        await store.look(lanesBeyond, { kinds: [] }, 10),
        await store.look(scheduleHealth, { limit: 10 }),
      ]
      assert.deepEqual(await seen(ours), [[], [], [], [], []])
      await theirs.enqueue([noop()])
      const counts = (await seen(theirs)).map((rows) => rows.length)
      assert.deepEqual(counts, [1, 1, 2, 1, 1])
    },
  },
]
