import assert from 'node:assert/strict'
import { BelfryError } from '../../../src/core/error.ts'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import type { Enqueued, Lease, NewRun, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findQueue, listQueues } from '../../../src/store/reads/find-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule, listLedger, listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { listAttempts } from '../../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { planInput } from '../../../src/store/reads/plan-input.ts'
import { readOutput } from '../../../src/store/reads/read-output.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { takeDuty } from '../../../src/store/workers/take-duty.ts'
import { listAudit } from '../../store/list-audit.ts'
import { actor, type Case, noop } from '../place.ts'
import { put } from './schedules.ts'

/** One of each: what a collation reorders, what takes four bytes, what is written from right to left, what combines. */
const odd = 'a"\'\\ %_ é e\u0301 😀 שלום مرحبا \u202e \ufeff \u0001 \r\n\t end'
const lone = { high: '\ud83d', low: '\ude00', swapped: '\ude00\ud83d' }

const payloads: readonly unknown[] = [
  { nul: 'a\u0000b', 'key\u0000': 1 },
  '\u0000',
  `\\u0000 is six characters here`,
  lone,
  [odd, { [odd]: odd }],
  9_007_199_254_740_991,
  -9_007_199_254_740_991,
  2 ** 60,
  -1e21,
  1e308,
  5e-324,
  0.1 + 0.2,
  null,
  '',
  false,
  { constructor: 'x', toString: 1 },
]

/** By bytes: capitals, then small letters, then what takes two bytes, three, four. */
const inByteOrder = ['A', 'B', 'Z', 'a', 'b', 'z', 'ä', 'é', 'ﬁ', '\uffee', '😀']
/** What JavaScript would sort otherwise: by code units the emoji comes before the last of the three-byte characters. */
const outOfOrder = ['z', 'é', '😀', 'a', 'Z', '\uffee', 'ä', 'B', 'ﬁ', 'b', 'A']

export const texts: Case[] = [
  {
    name: 'payloads, options and results come back as they went in: NUL, lone surrogates, huge numbers',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 100 })
      const { lease } = await stage.lessor(store)
      const answers = await store.enqueue(payloads.map((payload) => noop({ payload, options: { kept: payload } })))
      const held = await lease(100)
      assert.deepEqual(
        held.map(({ payload }) => payload),
        payloads,
      )
      const outcome = { kind: 'success' } as const
      await store.settle(held.map((one) => ({ ...one, outcome, result: one.payload })))
      for (const [index, { id }] of answers.entries()) {
        const run = await store.look(findRun, id)
        assert.deepEqual([run?.payload, run?.options], [payloads[index], { kept: payloads[index] }])
        assert.deepEqual(run?.result, { value: payloads[index], truncated: false })
      }
      await put(store, { name: 's', timing: { everyMs: 60_000 }, payload: payloads })
      assert.deepEqual((await store.look(findSchedule, 's'))?.spec.payload, payloads)
    },
  },
  {
    name: 'names and keys may hold any character but NUL and half a surrogate pair, and are found by exactly themselves',
    async run(stage) {
      const store = await stage.open()
      const twins = [odd, odd.normalize('NFC'), odd.normalize('NFD'), `${odd} `, odd.toUpperCase()]
      const distinct = [...new Set(twins)]
      assert.ok(distinct.length >= 4)
      const runs = distinct.map((text) =>
        noop({ queue: text, concurrencyKey: text, dedupeKey: text, idempotencyKey: text }),
      )
      const answers = await store.enqueue(runs)
      assert.ok(
        answers.every(({ created }) => created),
        'texts that differ were taken for the same',
      )
      for (const [index, { id }] of (await store.enqueue(runs)).entries()) assert.equal(id, answers[index]?.id)
      for (const [index, text] of distinct.entries()) {
        const run = await store.look(findRun, answers[index]?.id as string)
        assert.deepEqual(
          [run?.queue, run?.concurrencyKey, run?.dedupeKey, run?.idempotencyKey],
          [text, text, text, text],
        )
        await put(store, { name: text, timing: { everyMs: 60_000 } })
        assert.equal((await store.look(findSchedule, text))?.spec.name, text)
      }
      assert.equal((await store.look(listSchedules)).length, distinct.length)
      const handler = noop({ queue: 'handlers', target: { handler: odd } })
      await store.enqueue([handler])
      const { lease } = await stage.lessor(store, { queue: 'handlers', can: { kinds: [], handlers: [odd] } })
      assert.deepEqual((await lease(1))[0]?.target, { handler: odd })
    },
  },
  {
    name: 'names are listed by their bytes, whatever the database would think of their language',
    async run(stage) {
      const store = await stage.open()
      for (const name of outOfOrder) {
        await put(store, { name, timing: { everyMs: 60_000 } })
        await store.do(setQueue, name, { policy: { maxConcurrent: 1 }, actor })
      }
      const named = (await store.look(listSchedules)).map(({ spec }) => spec.name)
      assert.deepEqual(named, inByteOrder)
      const pages = [
        await store.look(listSchedules, { limit: 4 }),
        await store.look(listSchedules, { after: 'a', limit: 4 }),
      ]
      assert.deepEqual(
        pages.map((page) => page.map(({ spec }) => spec.name)),
        [inByteOrder.slice(0, 4), inByteOrder.slice(4, 8)],
      )
      const queues = (await store.look(listQueues)).map(({ name }) => name).filter((name) => name !== 'default')
      assert.deepEqual(queues, inByteOrder)
    },
  },
  {
    name: 'NUL and half a surrogate pair are refused in every name and key, with an error that names the field',
    run: refuseNames,
  },
  {
    name: 'what programs say is kept and readable: in reasons and output NUL becomes a mark, half a pair the replacement',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 1 })
      const { lease } = await stage.lessor(store)
      const said = `nul \u0000 ${lone.high} and ${lone.low} ${odd}`
      const kept = `nul \u2400 \ufffd and \ufffd ${odd}`
      const [failed] = (await store.enqueue([noop()])) as [Enqueued]
      const [held] = (await lease(1)) as [Lease]
      for (const piece of [said, '😀'.slice(0, 1), '😀'.slice(1)]) await store.appendOutput(held, piece)
      await store.settle([{ ...held, outcome: { kind: 'failed', reason: said } }])
      assert.equal((await store.look(readOutput, failed.id))?.text, `${kept}\ufffd\ufffd`)
      assert.equal((await store.look(findRun, failed.id))?.parked?.reason, `${kept} (attempt 1/1)`)
      assert.equal((await store.look(listAttempts, failed.id))[0]?.reason, `${kept} (attempt 1/1)`)

      await store.enqueue([noop()])
      const [skipped] = (await lease(1)) as [Lease]
      await store.settle([{ ...skipped, outcome: { kind: 'skipped', reason: said } }])
      assert.equal((await store.look(findRun, skipped.runId))?.end?.reason, kept)
    },
  },
]

async function refuseNames(stage: Parameters<Case['run']>[0]): Promise<void> {
  const store = await stage.open()
  const { workerId } = await stage.lessor(store)
  const [run] = (await store.enqueue([noop()])) as [Enqueued]
  await put(store, { name: 's', timing: { everyMs: 60_000 } })
  const runWith = (extra: Partial<NewRun>) => () => store.enqueue([noop(), noop(extra)])
  const timing = { everyMs: 60_000 }
  for (const bad of ['a\u0000b', `a${lone.high}b`, lone.swapped]) {
    const asked: [string, () => Promise<unknown>][] = [
      ['queue', runWith({ queue: bad })],
      ['runs[1].concurrencyKey', runWith({ concurrencyKey: bad })],
      ['runs[1].idempotencyKey', runWith({ idempotencyKey: bad })],
      ['runs[1].dedupeKey', runWith({ dedupeKey: bad })],
      ['runs[1].target', runWith({ target: { handler: bad } })],
      ['name', () => put(store, { name: bad, timing })],
      ['queue', () => put(store, { name: 'x', timing, queue: bad })],
      ['concurrencyKey', () => put(store, { name: 'x', timing, concurrencyKey: bad })],
      ['description', () => put(store, { name: 'x', timing, description: bad })],
      ['reason', () => store.do(cancelRun, run.id, bad)],
      ['reason', () => store.do(pauseSchedule, 's', { reason: bad })],
      ['queue', () => store.do(setQueue, bad, { policy: {}, actor })],
      ['name', () => store.do(registerWorker, { name: bad, host: 'h', can: { kinds: [] }, beatMs: 1_000 })],
      ['name', () => store.do(takeDuty, { name: bad, workerId, forMs: 1_000 })],
      ['actor', () => store.do(putSchedule, { name: 'x', timing }, { mode: 'put', actor: { name: bad, door: 'd' } })],
    ]
    for (const [field, ask] of asked) {
      await assert.rejects(ask, (error) => isRefusal(error, field), `${field} took ${JSON.stringify(bad)}`)
    }
    await askWithBadNames(store, workerId, bad)
  }
  assert.equal((await store.look(listRuns, { limit: 10 })).runs.length, 1, 'a refused batch left something behind')
}

function isRefusal(error: unknown, field: string): boolean {
  assert.ok(error instanceof BelfryError, `not a BelfryError but ${error}`)
  assert.equal(error.code, 'invalid')
  assert.match(error.message, /NUL|surrogate/)
  assert.ok(error.message.includes(field), error.message)
  return true
}

/** Nothing has such a name, so looking for it finds nothing; it is no reason for the database to complain. */
async function askWithBadNames(store: Store, workerId: string, bad: string): Promise<void> {
  const replaced = bad.toWellFormed()
  if (!replaced.includes('\0')) await put(store, { name: replaced, timing: { everyMs: 60_000 } })
  assert.equal(await store.look(findSchedule, bad), null)
  assert.deepEqual(await store.look(listLedger, bad), [])
  assert.equal(await store.look(findQueue, bad), null)
  assert.deepEqual(await store.look(listAudit, bad), [])
  assert.equal(await store.do(deleteSchedule, bad), 'not-found', 'a name that cannot be was taken for another')
  assert.deepEqual(await store.do(runNow, bad), { answer: 'not-found' })
  assert.deepEqual(await store.look(leasesOf, bad), [])
  await assert.rejects(store.look(planInput, bad, 10), BelfryError)
  await assert.rejects(store.look(listRuns, { limit: 1, schedule: bad }), BelfryError)
  const request = { workerId, claimId: 'c', can: { kinds: [bad], handlers: [bad] }, limit: 1 }
  assert.equal((await store.lease({ ...request, queue: bad })).stopped, 'no-queue')
  assert.deepEqual((await store.lease({ ...request, queue: 'default' })).leases, [])
  await assert.rejects(store.lease({ ...request, queue: 'default', claimId: bad }), BelfryError)
}
