import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { migrations } from '../../../src/open-store.ts'
import type { Database } from '../../../src/store/database-port.ts'
import { lease, leaseTried } from '../../../src/store/leases/lease.ts'
import { type Leased, leaseAtOnce } from '../../../src/store/leases/lease-at-once.ts'
import { setApart, type Unread } from '../../../src/store/leases/lease-unfit.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { capabilityLists } from '../../../src/store/runs/lane-row.ts'
import { reprioritiseRun } from '../../../src/store/runs/reprioritise-run.ts'
import { SqlStore } from '../../../src/store/sql-store.ts'
import { ahead, both, one, type Row, type Step } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'
import { actor, numberOf, Scene, startAt } from '../scene.ts'

const clock = { now: startAt }
const schema = `at_once_${process.pid}`
const work = { target: { handler: 'a' }, payload: 1 }
let database: Database
let scene: Scene
let others: pg.Client

beforeAll(async () => {
  const source = { now: () => clock.now, monotonic: () => clock.now }
  database = await openPostgres(postgresUrl(), { schema, connectionsMax: 4, allowNonDurable: true, clock: source })
  await migrate(database, migrations)
  others = new pg.Client(postgresUrl())
  await others.connect()
})
afterAll(async () => {
  await others.query(`drop schema ${schema} cascade`)
  await others.end()
  await database.close()
})
beforeEach(async () => {
  scene = new Scene(database, clock, { knowsQueues: true })
  await scene.begin()
})

const asked = { queue: 'default', workerId: 'w-11', claimId: 'c', can: { kinds: ['handler'] }, limit: 10 }
const asking = (): Step<Leased> => lease(scene.context, { ...asked, claimId: `c ${scene.context.ns}` })

/** Does something else right before the statement of this name. */
function* before<Result>(name: string, other: () => Step<unknown>, step: Step<Result>): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value && turn.value.statement.name === name) yield* other()
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

const settingNow = both('test setting', `select current_setting('synchronous_commit') as setting`)

/** Whether the commit of this step would wait for the disk. */
async function waitsForDisk(step: () => Step<unknown>): Promise<boolean> {
  await scene.write(asking)
  return database.rehearse(function* () {
    yield* step()
    return (yield* one(settingNow))?.setting === 'on'
  })
}

test('waits for the disk where it handed something out, and not where there was nothing', async () => {
  await scene.setQueue('default', {})
  expect(await waitsForDisk(asking)).toBe(false)
  await scene.enqueue(work)
  expect(
    await database.rehearse(function* () {
      yield* asking()
      return (yield* one(settingNow))?.setting
    }),
  ).toBe('on')
})

test('waits for it also where there was nothing, when the same transaction has taken something in', async () => {
  await scene.setQueue('default', {})
  const tried = both('test tried', `select set_config('belfry_step.locked_queue', id::text, true) from belfry.queue`)
  expect(
    await waitsForDisk(function* () {
      yield* leaseTried(scene.context, asked, yield* ahead(tried))
    }),
  ).toBe(true)
})

async function withUnreadable(): Promise<{ good: string; odd: string; unread: Unread[] }> {
  const [good, odd] = [await scene.enqueue(work), await scene.enqueue(work)]
  await scene.sql('update belfry.run set payload = $2 where id = $1', numberOf(odd), '{')
  const answer = await scene.write(asking)
  expect(answer.leases.map(({ runId }) => runId)).toEqual([good])
  return { good, odd, unread: [...(answer.unread ?? [])] }
}

const settingApart = (unread: readonly Unread[]) =>
  scene.write((context) => setApart(context, `c ${context.ns}`, unread))

test('ends a run that cannot be read as cancelled where that was asked for meanwhile', async () => {
  const { odd, unread } = await withUnreadable()
  await scene.sql('update belfry.lease set cancel_requested_at = 1 where run_id = $1', numberOf(odd))
  expect(await settingApart(unread)).toEqual([])
  expect(await scene.show(odd)).toMatchObject({ status: 'cancelled', attempts: 0 })
})

test('leaves a run alone that somebody else has leased since', async () => {
  const { odd, unread } = await withUnreadable()
  await scene.sql(`update belfry.lease set claim_id = 'another', fence = 2 where run_id = $1`, numberOf(odd))
  expect(await settingApart(unread)).toEqual([])
  expect(await scene.show(odd)).toMatchObject({ status: 'leased', fence: 2 })
})

test('grants nothing where the queue was not locked in the same transaction', async () => {
  await scene.enqueue(work)
  const request = { ...asked, workerNumber: 1, lists: capabilityLists(asked.can) }
  await scene.write(() => leaseAtOnce(scene.context, { ...request, limit: 0 }, { isJoined: false }))
  expect(await scene.write((context) => leaseAtOnce(context, request, { isJoined: false }))).toBe(null)
})

test('whose unreadable run cannot be parked hands out the others all the same', async () => {
  const [good, odd] = [await scene.enqueue(work), await scene.enqueue(work)]
  await scene.sql('update belfry.run set payload = $2 where id = $1', numberOf(odd), '{')
  const store = new SqlStore(failingAt('conclude insert attempts'), scene.context)
  await store.lease({ ...asked, limit: 0 })
  expect(await store.lease(asked)).toMatchObject({ leases: [{ runId: good }], broken: [], more: true })
})

/** The database, whose disk is full for one statement. */
function failingAt(name: string): Database {
  const write: Database['write'] = (verb) => database.write(() => before(name, fullDisk, verb()))
  return new Proxy(database, {
    get(of, key) {
      const value: unknown = key === 'write' ? write : Reflect.get(of, key)
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
}

function fullDisk(): never {
  throw new BelfryError('unavailable', 'The disk is full.')
}

/** Puts a view in the place of a table that a claim reads, at which the claim waits until the lock is free. */
const door = `alter table ${schema}.need rename to all_needs;
  create function ${schema}.pass() returns boolean language plpgsql volatile as
    'begin perform pg_advisory_xact_lock_shared(4747); return true; end';
  create view ${schema}.need as select * from ${schema}.all_needs where ${schema}.pass()`
const noDoor = `drop view ${schema}.need; drop function ${schema}.pass();
  alter table ${schema}.all_needs rename to need`
const atTheDoor = `select 1 from pg_locks where locktype = 'advisory' and not granted and objid = 4747`

test('law 3: a run that gets another priority between the look and the lock is leased or in line, and never both', async () => {
  await scene.setQueue('default', {})
  await scene.write(asking)
  const id = await scene.enqueue(work)
  await others.query(door)
  await others.query('select pg_advisory_lock(4747)')
  const leasing = scene.write(asking)
  while ((await others.query(atTheDoor)).rows.length === 0) await Promise.resolve()
  await scene.write((context) => reprioritiseRun(context, id, 5, { actor }))
  await others.query('select pg_advisory_unlock(4747)')
  const { leases } = await leasing
  await others.query(noDoor)
  const inLine = await scene.sql('select run_id from belfry.ready where run_id = $1', numberOf(id))
  expect([...leases, ...inLine]).toHaveLength(1)
})
