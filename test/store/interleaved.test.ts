import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { migrations } from '../../src/open-store.ts'
import { applyConfig } from '../../src/parts/config/apply-config.ts'
import type { Database } from '../../src/store/database-port.ts'
import { lease } from '../../src/store/leases/lease.ts'
import { reclaim } from '../../src/store/leases/reclaim.ts'
import { renew } from '../../src/store/leases/renew.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { readOutput } from '../../src/store/reads/read-output.ts'
import { appendOutput } from '../../src/store/runs/append-output.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { pauseSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { both, one, type Row, type Step } from '../../src/store/statement.ts'
import { listTokens } from '../../src/store/tokens/find-token.ts'
import { createToken } from '../../src/store/tokens/write-token.ts'
import { actor, numberOf, Scene, startAt } from './scene.ts'

/** Interleavings that only a database with several writers at once can have; SQLite has one writer at a time. */
const clock = { now: startAt }
let server: Awaited<ReturnType<typeof startPostgres>>
let database: Database
let scene: Scene
let first: pg.Client
/** Who waits is seen anew only by somebody without a transaction: within one the server tells for ever what it told first. */
let looker: pg.Client

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off', deadlock_timeout: '10s' } })
  const source = { now: () => clock.now, monotonic: () => clock.now }
  const options = { schema: 'belfry', connectionsMax: 4, allowNonDurable: true, clock: source }
  database = await openPostgres(server.url, options)
  await migrate(database, migrations)
  first = new pg.Client({
    connectionString: server.url,
    types: { getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
  })
  await first.connect()
  looker = new pg.Client({ connectionString: server.url })
  await looker.connect()
})
afterAll(async () => {
  await first.end()
  await looker.end()
  await database.close()
  await server.stop()
})
beforeEach(async () => {
  scene = new Scene(database, clock)
  await scene.begin()
})

const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid()`

/**
 * Lets `second` run until it is done or waits for a lock of the open transaction of `first`, then commits that one. What
 * is to happen while both are under way happens before that.
 */
async function meet<Result>(
  held: () => Step<unknown>,
  second: () => Promise<Result>,
  meanwhile: () => Promise<unknown> = async () => undefined,
) {
  await first.query('begin')
  await database.within(first, held)
  let isDone = false
  const answer = second().finally(() => {
    isDone = true
  })
  while (!isDone && (await looker.query(waiting)).rows.length === 0) await Promise.resolve()
  const waited = !isDone
  await meanwhile()
  await first.query('commit')
  return { waited, answer: await answer }
}

async function interleave<Result>(held: () => Step<unknown>, second: () => Promise<Result>): Promise<Result> {
  return (await meet(held, second)).answer
}

const request = { queue: 'default', workerId: 'w-11', can: { kinds: [], host: true }, limit: 10 }

test('a run that is put in line while it is being cancelled is met at its new place', async () => {
  const id = await scene.enqueue({ notBefore: startAt + 5 })
  clock.now += 10
  await scene.setQueue('default', { policy: { rateLimit: { startsMax: 1, perMs: 60_000 } } })
  await scene.enqueue({ priority: 1 })
  const promoting = () => lease(scene.context, { ...request, claimId: `c ${id}` })
  const answer = await interleave(promoting, () => scene.write((context) => cancelRun(context, id, 'x')))
  expect(answer).toBe('cancelled')
  expect((await scene.show(id))?.status).toBe('cancelled')
})

test('a run that is leased while it is being cancelled is asked for from its holder', async () => {
  const id = await scene.enqueue()
  const leasing = () => lease(scene.context, { ...request, claimId: `c ${id}` })
  const answer = await interleave(leasing, () => scene.write((context) => cancelRun(context, id, 'x')))
  expect(answer).toBe('cancel-requested')
})

test('law 3: two who ask for a queue while it is being made do not both take from it', async () => {
  const stopSurveys = both('test stop surveys', 'lock table belfry.need in access exclusive mode')
  const claim = (claimId: string) =>
    scene.write((context) => lease(context, { ...request, queue: 'new', claimId, limit: 1 }))
  const { answer } = await meet(
    () => one(stopSurveys),
    () => Promise.all([claim(`a ${scene.context.ns}`), claim(`b ${scene.context.ns}`)]),
    async () => {
      while ((await looker.query(waiting)).rows.length < 2) await Promise.resolve()
      await database.within(first, () => enqueue(scene.context, [{ queue: 'new' }, { queue: 'new' }]))
    },
  )
  expect(answer.flatMap(({ leases }) => leases).length).toBeLessThanOrEqual(1)
  expect((await claim(`c ${scene.context.ns}`)).inFlight).toBeLessThanOrEqual(1)
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
  expect(await scene.read((context) => readOutput(context, id))).toBeNull()
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
  expect(await scene.read((context) => readOutput(context, id))).toMatchObject({ text: 'mine' })
  expect(await scene.reclaim()).toMatchObject([{ runId: id }])
})

test('a parked run that is being cancelled is not reset', async () => {
  const id = await scene.parked()
  const answer = await interleave(
    () => cancelRun(scene.context, id, 'x'),
    () => scene.write((context) => resetRun(context, id)),
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
    await Promise.all([...ends, ...victims.map((id) => scene.write((context) => cancelRun(context, id, 'x')))])
  }
  const deadlocks = `select deadlocks from pg_stat_database where datname = current_database()`
  await first.query('select pg_stat_force_next_flush()')
  expect((await first.query(deadlocks)).rows).toEqual([{ deadlocks: 0 }])
})

test('a claim passes by a run that somebody else is moving, and waits for nobody', async () => {
  const [moved, next] = [await scene.enqueue(), await scene.enqueue()]
  const met = await meet(
    () => cancelRun(scene.context, moved, 'x'),
    () => scene.lease({ limit: 1 }),
  )
  expect(met).toMatchObject({ waited: false, answer: [{ runId: next }] })
})

test('a fire passes by a schedule that somebody else is changing, and waits for nobody', async () => {
  for (const name of ['changed', 'next']) {
    const spec = { name, timing: { everyMs: 60_000 }, target: { handler: 'h' }, startNow: true }
    await scene.write((context) => putSchedule(context, spec, { mode: 'create', actor }))
  }
  const met = await meet(
    () => pauseSchedule(scene.context, 'changed', { reason: 'x' }),
    () => scene.write((context) => fireDue(context, { limit: 10 })),
  )
  expect(met).toMatchObject({ waited: false, answer: { runs: [{ schedule: 'next' }] } })
})

test('a run that comes to its key while the last one of it ends is let through by one of the two', async () => {
  await scene.setQueue('default', { policy: { maxConcurrentPerKey: 1 } })
  const held = await scene.leaseOf(await scene.enqueue({ concurrencyKey: 'k' }))
  let next = ''
  const coming = function* () {
    const [answer] = yield* enqueue(scene.context, [{ concurrencyKey: 'k' }])
    next = answer?.id ?? ''
  }
  await interleave(coming, () => scene.end(held))
  expect(await scene.lease()).toMatchObject([{ runId: next }])
})

const lock = () => one(both('test lock', 'select pg_advisory_xact_lock(42)'))

test('all that one look shows is of one moment, though others write meanwhile', async () => {
  const counted = function* (context: Scene['context']) {
    const text = 'select count(*) as runs from belfry.run where ns = $1'
    return (yield* one<{ runs: number }>(both('test count', text), context.ns))?.runs
  }
  const look = function* (context: Scene['context']) {
    const before = yield* counted(context)
    yield* lock()
    return [before, yield* counted(context)]
  }
  const met = await meet(
    lock,
    () => scene.read(look),
    () => scene.enqueue(),
  )
  expect(met).toEqual({ waited: true, answer: [0, 0] })
})

test('a lease that is renewed between the look of a reclaim and its taking stays with its holder', async () => {
  const held = await scene.leaseOf(await scene.enqueue())
  clock.now += 600_000
  const taking = function* (step: ReturnType<typeof reclaim>): ReturnType<typeof reclaim> {
    let turn = step.next()
    while (!turn.done) {
      const rows: Row[] = yield turn.value
      if ('statement' in turn.value && turn.value.statement.name === 'reclaim find') yield* lock()
      turn = step.next(rows)
    }
    return turn.value
  }
  const met = await meet(
    lock,
    () => scene.write((context) => taking(reclaim(context, { limit: 10 }))),
    () => scene.write((context) => renew(context, [held], 60_000)),
  )
  expect(met.waited).toBe(true)
  expect(met.answer.map(({ runId }) => runId)).not.toContain(held.runId)
  expect(await scene.end(held)).toMatchObject({ answer: 'written' })
})

describe('a token that is made while a file is applied that says its scope', () => {
  const file = { source: 's', hash: 'h', file: 'f', queues: [], schedules: [], tokens: [{ name: 'ci', scope: 'read' }] }
  const applying = () => applyConfig(scene.context, file, { actor })
  const making = (scope: string) => createToken(scene.context, { name: 'ci', hash: 'h', scope }, { actor })
  const token = async () => (await scene.read((context) => listTokens(context, {})))[0]

  test('is refused with another scope, once the file is applied', async () => {
    const refused = () => scene.write(() => making('admin')).catch((error: unknown) => error)
    const met = await meet(applying, refused)
    expect(met).toMatchObject({ waited: true, answer: { code: 'conflict' } })
    expect(await token()).toBeUndefined()
  })

  test('has the scope of the file, where it was made before', async () => {
    const met = await meet(
      () => making('admin'),
      () => scene.write(applying),
    )
    expect(met).toMatchObject({ waited: true, answer: { tokens: [{ name: 'ci', answer: 'set', was: 'admin' }] } })
    expect(await token()).toMatchObject({ scope: 'read', managedBy: 's' })
  })
})
