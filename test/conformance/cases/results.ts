import assert from 'node:assert/strict'
import type { Lease, Store } from '../../../src/store/port.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { type Case, enqueueMany, noop } from '../place.ts'

const resultBytesMax = 100 * 1024
const success = { kind: 'success' } as const

export const results: Case[] = [
  {
    name: 'a result is kept as it was given, up to 100 KB; a longer one is cut at a character and marked',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      const keep = async (result: unknown) => {
        const [id] = (await enqueueMany(store, 1, () => noop())) as [string]
        const [held] = (await lease(1)) as [Lease]
        await store.settle([{ ...held, outcome: success, result }])
        return (await store.look(findRun, id))?.result
      }
      for (const value of [null, 0, '', [], { a: [1, { b: 'c' }] }, 'x'.repeat(resultBytesMax - 2)]) {
        assert.deepEqual(await keep(value), { value, truncated: false })
      }
      const dated = await keep({ at: new Date(0) })
      assert.deepEqual(dated, { value: { at: '1970-01-01T00:00:00.000Z' }, truncated: false })
      const longer = await keep('x'.repeat(resultBytesMax - 1))
      assert.equal(longer?.truncated, true)
      // Two bytes a character and one quotation mark: the cut falls into the middle of a character.
      const cut = await keep('é'.repeat(resultBytesMax))
      assert.equal(cut?.truncated, true)
      assert.equal(cut?.value, `"${'é'.repeat(resultBytesMax / 2 - 1)}`)
    },
  },
  {
    name: 'of several attempts that answered something the newest answer is kept, and one without an answer takes none away',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 9, backoffBaseMs: 0, backoffCapMs: 0 })
      const [id] = (await enqueueMany(store, 1, () => noop())) as [string]
      const { lease } = await stage.lessor(store)
      const fail = async (result?: unknown) => {
        const [held] = (await lease(1)) as [Lease]
        const outcome = { kind: 'failed', reason: 'no' } as const
        await store.settle([{ ...held, outcome, ...(result !== undefined && { result }) }])
        return resultOf(store, id)
      }
      assert.equal(await fail(), undefined)
      assert.equal(await fail('first'), 'first')
      assert.equal(await fail('second'), 'second')
      assert.equal(await fail(), 'second')
    },
  },
]

async function resultOf(store: Store, id: string): Promise<unknown> {
  return (await store.look(findRun, id))?.result?.value
}
