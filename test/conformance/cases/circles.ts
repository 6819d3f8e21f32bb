import assert from 'node:assert/strict'
import type { AttemptEnd, Lease, Store } from '../../../src/store/port.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { type Case, noop, type Stage, seeded } from '../place.ts'
import { assertEachRunStandsOnce } from '../record.ts'

const rounds = 12
const runsMax = 24

/** Steps that want the same rows and gates at once: nobody may wait for somebody who waits for him. */
export const circles: Case[] = [
  {
    name: 'renewing, settling and cancelling the same keyed leases at once, nobody waits in a circle, and all of them end',
    async run(stage) {
      const [holder, other, third] = (await stage.openMany(3)) as [Store, Store, Store]
      await stage.setPolicy(holder, { maxConcurrent: 100, maxConcurrentPerKey: 30, backoffBaseMs: 0, backoffCapMs: 0 })
      const { lease } = await stage.lessor(holder)
      const random = seeded(11)
      const before = await deadlocks(stage)
      for (let round = 0; round < rounds; round++) {
        const leases = await leasesOfMixedFences(holder, lease, random)
        const shuffled = leases.toSorted(() => random(3) - 1)
        await Promise.all([
          holder.renew(leases, 30_000),
          other.settle(shuffled.map((one) => endOf(one, random))),
          holder.renew(shuffled, 30_000),
          ...leases.slice(0, 3).map(({ runId }) => third.do(cancelRun, runId, 'not wanted')),
          third.enqueue([noop({ concurrencyKey: 'k1' }), noop({ concurrencyKey: 'k0' })]),
        ])
        await drain(holder, lease)
      }
      assert.equal(await deadlocks(stage), before, 'the server had to break a circle')
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'a caller’s open transaction with a run of a key holds up neither its settle nor a lease',
    skip: (subject) =>
      subject.dialect === 'sqlite' ? 'an open write transaction holds up every other writer' : undefined,
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1 })
      const { lease } = await stage.lessor(store)
      await store.enqueue([noop({ concurrencyKey: 'k' }), noop({ concurrencyKey: 'k' })])
      const [first] = (await lease(1)) as [Lease]
      const own = await stage.begin()
      const [lent] = await store.enqueue([noop({ concurrencyKey: 'k' })], { transaction: own.handle })
      await store.settle([{ ...first, outcome: { kind: 'success' } }])
      const [second] = (await lease(1)) as [Lease]
      assert.notEqual(second.runId, lent?.id)
      await own.commit()
      assert.deepEqual(await lease(10), [], 'a run that came by another’s transaction passed its full key')
      await store.settle([{ ...second, outcome: { kind: 'success' } }])
      assert.equal((await lease(10))[0]?.runId, lent?.id)
    },
  },
  {
    name: 'of several enqueues at once in one transaction of the caller’s, those refused undo nothing of the others',
    skip: (subject) => (subject.isShared ? undefined : 'it lives in one handle of one process'),
    async run(stage) {
      const store = await stage.open()
      await refuseLate(stage)
      const own = await stage.begin()
      const answers = await Promise.allSettled(
        [1, 2, 3, 4, 5, 6].map((number) => {
          const run = noop({ priority: number % 2 === 0 ? 100 : refusedPriority })
          return store.enqueue([run], { transaction: own.handle })
        }),
      )
      await own.commit()
      const kept = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      assert.equal(kept.length, 3)
      for (const { id } of kept)
        assert.equal((await store.look(findRun, id))?.status, 'ready', 'an accepted run is gone')
    },
  },
]

const refusedPriority = 666

/** Makes the database itself refuse some runs, in the middle of their steps. */
async function refuseLate(stage: Stage): Promise<void> {
  if (stage.subject.dialect === 'sqlite') {
    await stage.sql(`create trigger refuse before insert on belfry.run when new.priority = ${refusedPriority}
      begin select raise(abort, 'refused'); end`)
    return
  }
  await stage.sql(`create function belfry.refuse() returns trigger language plpgsql as
    $refuse$ begin raise exception 'refused'; end $refuse$`)
  await stage.sql(`create trigger refuse before insert on belfry.run for each row
    when (new.priority = ${refusedPriority}) execute function belfry.refuse()`)
}

/** Runs of several keys, some for the first time and some given back before, so that their fences differ. */
async function leasesOfMixedFences(
  store: Store,
  lease: (limit: number) => Promise<Lease[]>,
  random: (below: number) => number,
): Promise<Lease[]> {
  await store.enqueue(
    Array.from({ length: runsMax }, (_, index) => noop(index % 3 === 0 ? {} : { concurrencyKey: `k${index % 4}` })),
  )
  const first = await lease(100)
  const back = first.filter(() => random(2) === 0)
  await store.settle(back.map((one) => ({ ...one, outcome: { kind: 'released' } })))
  return [...first.filter((one) => !back.includes(one)), ...(await lease(100))]
}

function endOf(lease: Lease, random: (below: number) => number): AttemptEnd {
  const outcomes = [{ kind: 'success' }, { kind: 'success' }, { kind: 'released' }] as const
  return { ...lease, outcome: outcomes[random(outcomes.length)] ?? { kind: 'success' } }
}

async function drain(store: Store, lease: (limit: number) => Promise<Lease[]>): Promise<void> {
  for (let leases = await lease(100); leases.length > 0; leases = await lease(100)) {
    await store.settle(leases.map((one) => ({ ...one, outcome: { kind: 'success' } })))
  }
}

async function deadlocks(stage: Stage): Promise<number> {
  if (stage.subject.dialect === 'sqlite') return 0
  const [row] = await stage.sql('select deadlocks from pg_stat_database where datname = current_database()')
  return Number(row?.deadlocks)
}
