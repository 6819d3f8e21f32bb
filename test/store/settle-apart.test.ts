import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { openStore } from '../../src/open-store.ts'
import type { Database } from '../../src/store/database-port.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { postgresUrl } from '../postgres.ts'

const target = { handler: 'noop' }
const can = { kinds: ['handler'] }

/** The database goes away after this many writes, once. */
function goesAwayAfter(database: Database, writes: number): void {
  const write = database.write.bind(database)
  let left = writes
  database.write = async (verb) => {
    if (left-- === 0) throw new BelfryError('unavailable', 'It is away; nothing was written.')
    return write(verb)
  }
}

test('a settle of which one part is written and another is not does not say that nothing was written', async () => {
  const store = await openStore(postgresUrl(), { schema: `s${randomUUID().replaceAll('-', '')}` })
  const workerId = await store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
  await store.enqueue([{ target }, { target, dedupeKey: 'd' }])
  const { leases } = await store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 2, leaseMs: 60_000 })
  const ends = leases.map((lease) => ({ ...lease, outcome: { kind: 'success' } as const }))
  goesAwayAfter(databaseOf(store), 1)
  await expect(store.settle(ends)).rejects.toMatchObject({ code: 'commit-unknown' })
  const answers = (await store.settle(ends)).map(({ answer }) => answer)
  expect(answers).toEqual(['already-written', 'written'])

  await store.enqueue([{ target, dedupeKey: 'e' }])
  const [held] = (await store.lease({ queue: 'default', workerId, claimId: 'e', can, limit: 1, leaseMs: 60_000 }))
    .leases
  goesAwayAfter(databaseOf(store), 0)
  const asked = store.settle([{ ...(held as (typeof leases)[number]), outcome: { kind: 'success' } }])
  await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  await store.close()
})
