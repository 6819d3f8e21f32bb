import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { cancel } from '../../src/store/cancel.ts'
import type { Database } from '../../src/store/database.ts'
import { lease } from '../../src/store/lease.ts'
import { migrate } from '../../src/store/migrate.ts'
import { appendOutput } from '../../src/store/output.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { output } from '../../src/store/reads/output.ts'
import { reclaim } from '../../src/store/reclaim.ts'
import { reset } from '../../src/store/reset.ts'
import type { Step } from '../../src/store/statement.ts'
import { numberOf, Scene, startAt } from './scene.ts'

/** Interleavings that only a database with several writers at once can have; SQLite has one writer at a time. */
const clock = { now: startAt }
let server: Awaited<ReturnType<typeof startPostgres>>
let database: Database
let scene: Scene
let first: pg.Client

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off', deadlock_timeout: '10s' } })
  const source = { now: () => clock.now, monotonic: () => clock.now }
  const options = { schema: 'belfry', connectionsMax: 4, allowNonDurable: true, clock: source }
  database = await openPostgres(server.url, options)
  await migrate(database)
  first = new pg.Client({
    connectionString: server.url,
    types: { getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
  })
  await first.connect()
})
afterAll(async () => {
  await first.end()
  await database.close()
  await server.stop()
})
beforeEach(async () => {
  scene = new Scene(database, clock)
  await scene.begin()
})

/** Lets `second` run until it waits for a lock that the open transaction of `first` holds, then commits that one. */
async function interleave<Result>(held: () => Step<unknown>, second: () => Promise<Result>): Promise<Result> {
  await first.query('begin')
  await database.within(first, held)
  let isDone = false
  const answer = second().finally(() => {
    isDone = true
  })
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid()`
  while (!isDone && (await first.query(waiting)).rows.length === 0) await Promise.resolve()
  await first.query('commit')
  return answer
}

const request = { queue: 'default', workerId: 'w-11', can: { kinds: [], host: true }, limit: 10 }

test('a run that is put in line while it is being cancelled is met at its new place', async () => {
  const id = await scene.enqueue({ notBefore: startAt + 5 })
  clock.now += 10
  await scene.setQueue('default', { policy: { rateLimit: { startsMax: 1, perMs: 60_000 } } })
  await scene.enqueue({ priority: 1 })
  const promoting = () => lease(scene.context, { ...request, claimId: `c ${id}` })
  const answer = await interleave(promoting, () => scene.write((context) => cancel(context, id, 'x')))
  expect(answer).toBe('cancelled')
  expect((await scene.show(id))?.status).toBe('cancelled')
})

test('a run that is leased while it is being cancelled is asked for from its holder', async () => {
  const id = await scene.enqueue()
  const leasing = () => lease(scene.context, { ...request, claimId: `c ${id}` })
  const answer = await interleave(leasing, () => scene.write((context) => cancel(context, id, 'x')))
  expect(answer).toBe('cancel-requested')
})

test('output that arrives while its lease is being taken back is not written', async () => {
  const id = await scene.enqueue()
  const held = await scene.leaseOf(id)
  clock.now += 600_000
  const answer = await interleave(
    () => reclaim(scene.context, { limit: 10 }),
    () => scene.write((context) => appendOutput(context, held, 'late')),
  )
  expect(answer).toBe('lease-lost')
  expect(await scene.read((context) => output(context, id))).toBeNull()
})

test('a lease whose output is being written is not taken back in the middle of it', async () => {
  const id = await scene.enqueue()
  const held = await scene.leaseOf(id)
  clock.now += 600_000
  const taken = await interleave(
    () => appendOutput(scene.context, held, 'mine'),
    () => scene.reclaim(),
  )
  expect(taken).toEqual([])
  expect(await scene.read((context) => output(context, id))).toMatchObject({ text: 'mine' })
  expect(await scene.reclaim()).toMatchObject([{ runId: id }])
})

test('a parked run that is being cancelled is not reset', async () => {
  const id = await scene.parked()
  const answer = await interleave(
    () => cancel(scene.context, id, 'x'),
    () => scene.write((context) => reset(context, id)),
  )
  expect(answer).toBe('not-parked')
  const live = await scene.sql('select run_id from belfry.ready where run_id = $1', numberOf(id))
  expect(live).toEqual([])
})

test('two who work at one key, one cancelling and one ending its runs, do not wait in a circle', async () => {
  await scene.setQueue('default', { policy: { maxConcurrentPerKey: 2 } })
  const ids: string[] = []
  for (let run = 0; run < 40; run++) ids.push(await scene.enqueue({ concurrencyKey: 'k' }))
  for (let round = 0; round < 10; round++) {
    const held = await scene.lease()
    const victims = ids.splice(-2)
    const ends = held.map((one) => scene.end(one))
    await Promise.all([...ends, ...victims.map((id) => scene.write((context) => cancel(context, id, 'x')))])
  }
  const deadlocks = `select deadlocks from pg_stat_database where datname = current_database()`
  await first.query('select pg_stat_force_next_flush()')
  expect((await first.query(deadlocks)).rows).toEqual([{ deadlocks: 0 }])
})
