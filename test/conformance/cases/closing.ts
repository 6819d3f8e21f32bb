import assert from 'node:assert/strict'
import { BelfryError, isPassing } from '../../../src/core/error.ts'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import type { Store } from '../../../src/store/port.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { clockNow } from '../../../src/store/statement.ts'
import { type Case, cannotShare, noop } from '../place.ts'

/** What can still be asked of a store that was closed: nothing, and whoever asks is told that for good. */
export const closing: Case[] = [
  {
    name: 'a store that was closed refuses every step as closed, and not as one that may answer again',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      await store.enqueue([noop(), noop({ dedupeKey: 'k' })])
      const ends = (await lease(2)).map((held) => ({ ...held, outcome: { kind: 'success' } as const }))
      await store.close()
      await store.close()
      const steps: ((closed: Store) => Promise<unknown>)[] = [
        (closed) => closed.look(clockNow),
        (closed) => closed.look(workAhead),
        (closed) => closed.enqueue([noop()]),
        (closed) => closed.settle(ends),
        (closed) => closed.settle(ends.map((end) => ({ ...end, result: 1 }))),
        (closed) => closed.look(leasesOf, 'claim'),
      ]
      for (const step of steps) await assert.rejects(step(store), isClosed)
    },
  },
  {
    name: 'a store that was closed takes no part in a caller’s own transaction, which goes on without it',
    skip: cannotShare,
    async run(stage) {
      const [store, other] = await stage.openMany(2)
      await (store as Store).close()
      const own = await stage.begin()
      await assert.rejects((store as Store).enqueue([noop()], { transaction: own.handle }), isClosed)
      await (other as Store).enqueue([noop()], { transaction: own.handle })
      await own.commit()
      assert.equal((await stage.sql('select count(*) as runs from belfry.run'))[0]?.runs, 1)
    },
  },
]

function isClosed(error: unknown): boolean {
  assert.ok(error instanceof BelfryError, String(error))
  assert.equal(error.code, 'unavailable')
  assert.match(error.message, /was closed/)
  assert.deepEqual([error.details, isPassing(error)], [{ closed: true }, false])
  return true
}
