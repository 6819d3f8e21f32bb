import assert from 'node:assert/strict'
import { BelfryError } from '../../../src/core/error.ts'
import { parseId } from '../../../src/core/id.ts'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import type { Enqueued, Lease, NewRun, Store } from '../../../src/store/port.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { type Case, cannotShare, enqueueMany, noop, type Stage, seeded } from '../place.ts'
import { assertEachRunStandsOnce, count, inBatches, shuffled, statusOf } from '../record.ts'

const keysMax = 60
const racersMax = 8

export const enqueueing: Case[] = [
  {
    name: 'eight callers with the same idempotency keys at once: one run a key, and everybody is given its id',
    async run(stage) {
      const stores = await stage.openMany(racersMax)
      const random = seeded(88)
      const keys = Array.from({ length: keysMax }, (_, index) => `key-${index}`)
      const given = new Map<string, Enqueued[]>(keys.map((key) => [key, []]))
      const caller = async (store: Store) => {
        for (const batch of inBatches(shuffled(keys, random), 1 + random(12))) {
          const runs = batch.map((idempotencyKey) => noop({ idempotencyKey, payload: { for: idempotencyKey } }))
          for (const [index, answer] of (await store.enqueue(runs)).entries()) {
            given.get(batch[index] as string)?.push(answer)
          }
        }
      }
      await Promise.all(stores.map(caller))
      for (const [key, answers] of given) {
        assert.equal(answers.length, racersMax)
        assert.equal(new Set(answers.map(({ id }) => id)).size, 1, `${key} has several runs`)
        assert.equal(
          answers.filter(({ created }) => created).length,
          1,
          `${key} was created by several callers, or none`,
        )
      }
      assert.equal(await count(stage, 'belfry.run'), keysMax)
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'an idempotency key answers with its first run whatever became of it; with other input it is a conflict, alone',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      const run = noop({ idempotencyKey: 'k', payload: { a: 1, b: [2] }, priority: 7 })
      const [first, twin] = (await store.enqueue([run, run])) as [Enqueued, Enqueued]
      assert.deepEqual([first.created, twin.created, twin.id], [true, false, first.id])
      await store.settle((await lease(1)).map((one) => ({ ...one, outcome: { kind: 'success' } })))
      const reordered = { ...run, payload: { b: [2], a: 1 } }
      assert.deepEqual(await store.enqueue([reordered]), [{ created: false, id: first.id, because: 'idempotency-key' }])

      const others: NewRun[] = [
        { ...run, payload: { a: 2 } },
        { ...run, priority: 8 },
        { ...run, queue: 'elsewhere' },
      ]
      const [fresh, ...conflicts] = await store.enqueue([noop(), ...others])
      assert.equal(fresh?.created, true)
      for (const answer of conflicts) {
        assert.deepEqual(answer, { created: false, id: first.id, because: 'conflict', key: 'k' })
      }
      assert.equal(await count(stage, 'belfry.run'), 2)
    },
  },
  {
    name: 'a dedupe key holds while its run is live, wherever it stands, and is free at every end',
    run: holdDedupeKeys,
  },
  {
    name: 'callers who enqueue and end runs of one dedupe key at once never have two of them live',
    run: raceDedupeKey,
  },
  {
    name: 'a holder of a dedupe key that ends at any statement of an enqueue: who is created has the key, nobody else',
    skip: ({ dialect }) => (dialect === 'postgres' ? undefined : 'it has one writer at a time'),
    run: endHolderInBetween,
  },
  {
    name: 'work enqueued in the caller’s own transaction is there when that commits, and leaves nothing when it rolls back',
    skip: cannotShare,
    async run(stage) {
      const store = await stage.open()
      const runs = [
        noop({ idempotencyKey: 'i', dedupeKey: 'd' }),
        noop({ concurrencyKey: 'k', queue: 'made-by-it' }),
        noop({ notBefore: stage.clock.now() + 1_000 }),
      ]
      const rolledBack = await stage.begin()
      const answers = await store.enqueue(runs, { transaction: rolledBack.handle })
      assert.deepEqual(
        answers.map(({ created }) => created),
        [true, true, true],
      )
      await rolledBack.rollBack()
      for (const table of ['run', 'ready', 'aside', 'idempotency', 'dedupe', 'queue']) {
        assert.equal(
          await count(stage, `belfry.${table}`),
          0,
          `${table} kept something of a transaction that never was`,
        )
      }

      const committed = await stage.begin()
      const made = await store.enqueue(runs, { transaction: committed.handle })
      const again = await store.enqueue(runs.slice(0, 1), { transaction: committed.handle })
      assert.deepEqual(again, [{ created: false, id: made[0]?.id, because: 'idempotency-key' }])
      if (stage.subject.dialect === 'postgres')
        assert.equal(await count(stage, 'belfry.run'), 0, 'seen before its commit')
      await committed.commit()
      for (const { id } of made) assert.equal(await statusOf(store, id), 'ready')
      assert.equal((await store.enqueue(runs.slice(0, 1)))[0]?.id, made[0]?.id)
      const { lease } = await stage.lessor(store)
      assert.deepEqual(
        (await lease(10)).map(({ runId }) => runId),
        [made[0]?.id],
      )
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'an enqueue that is refused inside the caller’s own transaction leaves nothing of itself to be committed',
    skip: cannotShare,
    async run(stage) {
      const store = await stage.open()
      const own = await stage.begin()
      const kept = await store.enqueue([noop({ idempotencyKey: 'kept' })], { transaction: own.handle })
      const runs = [noop({ idempotencyKey: 'i', dedupeKey: 'd' }), noop({ payload: 'x'.repeat(300_000) })]
      await assert.rejects(store.enqueue(runs, { transaction: own.handle }), isInvalid('payload'))
      await own.commit()
      assert.equal(await count(stage, 'belfry.run'), 1)
      assert.equal(await statusOf(store, kept[0]?.id as string), 'ready')
      const [answer] = await store.enqueue(runs.slice(0, 1))
      assert.equal(answer?.created, true, 'the keys of a refused run were kept')
      await assert.rejects(store.enqueue([noop()], { transaction: {} }), isInvalid('transaction'))
    },
  },
]

function isInvalid(word: string): (error: unknown) => boolean {
  return (error) => error instanceof BelfryError && error.code === 'invalid' && error.message.includes(word)
}

async function holdDedupeKeys(stage: Stage): Promise<void> {
  const store = await stage.open()
  await stage.setPolicy(store, { maxAttempts: 2, backoffBaseMs: 1_000 })
  const { lease } = await stage.lessor(store, { leaseMs: 1_000 })
  const run = (extra: Partial<NewRun>) => noop({ dedupeKey: 'd', ...extra })
  const assertHeld = async (id: string, where: string) => {
    assert.deepEqual(await store.enqueue([run({})]), [{ created: false, id, because: 'dedupe-key' }], where)
  }
  const endBy = (outcome: Outcome) => async () => {
    await store.settle((await lease(1)).map((one) => ({ ...one, outcome })))
  }
  const loseTwice = async () => {
    for (const _ of [1, 2]) {
      assert.equal((await lease(1)).length, 1)
      stage.clock.advance(1_000)
      await store.reclaim({ limit: 1 })
      stage.clock.advance(1_000)
    }
  }
  const comeTooLate = async () => {
    stage.clock.advance(3_600_000)
    assert.deepEqual(await lease(1), [])
  }
  const ways: [string, Partial<NewRun>, (id: string) => Promise<unknown>][] = [
    ['completed', {}, endBy({ kind: 'success' })],
    ['failed', { onExhausted: 'fail' }, endBy({ kind: 'failed', reason: 'x', retryable: false })],
    ['parked', {}, endBy({ kind: 'failed', reason: 'x', retryable: false })],
    ['parked', {}, loseTwice],
    ['cancelled', {}, endBy({ kind: 'cancelled' })],
    ['cancelled', {}, (id) => store.do(cancelRun, id, 'no')],
    ['cancelled', { notBefore: stage.clock.now() + 3_600_000 }, (id) => store.do(cancelRun, id, 'no')],
    ['skipped', {}, endBy({ kind: 'skipped', reason: 'guard' })],
    ['skipped', { deadline: stage.clock.now() + 3_600_000 }, comeTooLate],
  ]
  for (const [status, extra, end] of ways) {
    const [made] = (await store.enqueue([run(extra)])) as [Enqueued]
    assert.equal(made.created, true, `the key was not free before the one that ends ${status}`)
    await assertHeld(made.id, 'before its end')
    await end(made.id)
    assert.equal(await statusOf(store, made.id), status)
  }
  const [id] = (await enqueueMany(store, 1, () => run({}))) as [string]
  const [held] = (await lease(1)) as [Lease]
  await assertHeld(id, 'leased')
  await store.settle([{ ...held, outcome: { kind: 'failed', reason: 'once' } }])
  await assertHeld(id, 'in backoff')
}

/** Each caller ends its own run only, so that the key must be its own for as long as it has not. */
async function raceDedupeKey(stage: Stage): Promise<void> {
  const stores = await stage.openMany(4)
  let created = 0
  const caller = async (store: Store, index: number) => {
    const queue = `of-${index}`
    const { lease } = await stage.lessor(store, { queue })
    // Where ends take longer than refusals, the others use up their turns while one caller holds the key.
    for (let turn = 0; turn < 15 || (created < stores.length && turn < 2_000); turn++) {
      const [answer] = (await store.enqueue([noop({ dedupeKey: 'd', queue })])) as [Enqueued]
      await new Promise((resolve) => setImmediate(resolve))
      if (!answer.created) continue
      created++
      const [again] = (await store.enqueue([noop({ dedupeKey: 'd', queue })])) as [Enqueued]
      assert.deepEqual(
        [again.created, again.id],
        [false, answer.id],
        'the key was not held by the run that was created',
      )
      await store.settle((await lease(1)).map((one) => ({ ...one, outcome: { kind: 'success' } })))
    }
  }
  await Promise.all(stores.map(caller))
  assert.ok(created >= stores.length)
  assert.equal(await count(stage, 'belfry.dedupe'), 0)
}

/** Statement by statement, the holder ends just before the next one; an enqueue has fewer than these. */
const statementsMax = 12

async function endHolderInBetween(stage: Stage): Promise<void> {
  const [store, other] = (await stage.openMany(2)) as [Store, Store]
  const { lease } = await stage.lessor(other)
  const run = noop({ dedupeKey: 'd' })
  for (let nth = 1; nth <= statementsMax; nth++) {
    const [holder] = (await other.enqueue([run])) as [Enqueued]
    const held = await lease(1)
    const own = await stage.begin()
    const driver = own.handle as { query(config: unknown): Promise<unknown> }
    let statements = 0
    const query = async (config: unknown) => {
      if (++statements === nth) await other.settle(held.map((one) => ({ ...one, outcome: { kind: 'success' } })))
      return driver.query(config)
    }
    const [answer] = (await store.enqueue([run], { transaction: { query } })) as [Enqueued]
    await own.commit()
    const [row] = await stage.sql('select run_id from belfry.dedupe')
    if (answer.created) assert.equal(row?.run_id, parseId('run', answer.id), `ended before statement ${nth}`)
    else assert.equal(answer.id, holder.id)
    for (const { id } of (await other.look(listRuns, { limit: 9, status: 'ready' })).runs)
      await other.do(cancelRun, id, 'next')
    if (statements < nth) await other.settle(held.map((one) => ({ ...one, outcome: { kind: 'success' } })))
  }
}
