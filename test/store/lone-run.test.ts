import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { openStore } from '../../src/open-store.ts'
import { leasesOf } from '../../src/store/leases/lease.ts'
import type { LeaseAnswer, LeaseRequest, NewRun, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { postgresUrl } from '../postgres.ts'

const report = { target: { handler: 'report' } } as const
const can = { kinds: [], handlers: ['report'] }
const schema = `lone_${process.pid}`
const opened: Store[] = []
let folder: string
let others: pg.Client
let names = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-lone-'))
  others = new pg.Client(postgresUrl())
  await others.connect()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

afterAll(async () => {
  await others.query(`drop schema ${schema} cascade`)
  await others.end()
  rmSync(folder, { recursive: true, force: true })
})

type Kind = 'file' | 'memory' | 'postgres'

/** A namespace of its own. */
async function openOn(kind: Kind): Promise<Store> {
  const url = { file: `sqlite:${join(folder, 'belfry.db')}`, memory: 'memory:', postgres: postgresUrl() }[kind]
  const store = await openStore(url, { schema, namespace: `lone ${++names}`, allowNonDurable: true })
  opened.push(store)
  return store
}

/** A worker that asks for its lease as soon as it is told that something comes, and what it and others were told. */
async function sleeper(store: Store, asks: Partial<LeaseRequest> = {}) {
  const workerId = await store.do(registerWorker, { name: 'sleeper', host: 'here', can, beatMs: 60_000 })
  const told: string[] = []
  const leased: Promise<LeaseAnswer>[] = []
  let claims = 0
  const ask = (queue: string) => {
    const request = { queue, workerId, claimId: `claim ${++claims}`, can, limit: 10, leaseMs: 30_000, ...asks }
    const answer = store.lease(request)
    answer.catch(() => undefined)
    leased.push(answer)
  }
  const stop = store.listen(
    ({ from, what }) => from === 'here' && told.push(what),
    (queue) => queueMicrotask(() => ask(queue)),
  )
  return { told, leased, ask, stop }
}

/** How many transactions `work` takes. */
async function transactions(store: Store, work: () => Promise<unknown>): Promise<number> {
  const database = databaseOf(store)
  const { write } = database
  let count = 0
  database.write = (verb) => {
    count++
    return write.call(database, verb) as never
  }
  await work()
  database.write = write
  return count
}

describe.each<Kind>(['file', 'memory', 'postgres'])('a lone run (%s)', (kind) => {
  const open = () => openOn(kind)

  test('is leased in the transaction that takes it in, and nobody is told to look for it', async () => {
    const store = await open()
    await store.enqueue([report])
    const { told, leased, ask } = await sleeper(store)
    ask('default')
    await leased[0]
    const count = await transactions(store, async () => {
      const [made] = await store.enqueue([report])
      expect((await leased[1])?.leases.map(({ runId, fence }) => [runId, fence])).toEqual([[made?.id, 1]])
    })
    expect([count, told]).toEqual([1, []])
  })

  test('is known to whoever enqueued it before it can begin', async () => {
    const store = await open()
    await store.enqueue([report])
    const { leased } = await sleeper(store)
    const order: string[] = []
    const enqueued = store.enqueue([report]).then(async () => {
      for (let hops = 0; hops < 50; hops++) await null
      order.push('enqueued')
    })
    await turnUntil(() => leased.length > 0)
    await leased[0]?.then(() => order.push('leased'))
    await enqueued
    expect(order).toEqual(['enqueued', 'leased'])
  })

  test('that finds the queue full is taken in and told of like any other', async () => {
    const store = await open()
    await store.do(setQueue, 'default', { policy: { maxConcurrent: 1 }, actor: { name: 'tester', door: 'test' } })
    await store.enqueue([report])
    const { told, leased, ask } = await sleeper(store)
    ask('default')
    await leased[0]
    await store.enqueue([report])
    expect(await leased[1]).toMatchObject({ leases: [], full: true, inFlight: 1 })
    expect(told).toEqual(['work'])
  })

  test('waits behind what ranks before it', async () => {
    const store = await open()
    const [first] = await store.enqueue([{ ...report, priority: 1 }])
    const { told, leased } = await sleeper(store, { limit: 1 })
    await store.enqueue([report])
    expect((await leased[0])?.leases.map(({ runId }) => runId)).toEqual([first?.id])
    expect(told).toEqual(['work'])
  })

  test('that is refused takes nobody’s lease with it', async () => {
    const store = await open()
    const [waiting] = await store.enqueue([report])
    const { leased } = await sleeper(store)
    await expect(store.enqueue([{ ...report, priority: 'high' } as unknown as NewRun])).rejects.toThrow('priority')
    expect((await leased[0])?.leases.map(({ runId }) => runId)).toEqual([waiting?.id])
  })

  test('is taken in when the lease that came with it is refused', async () => {
    const store = await open()
    await store.enqueue([report])
    const { told, leased } = await sleeper(store, { workerId: 'nobody' })
    const [made] = await store.enqueue([report])
    expect(made?.created).toBe(true)
    await expect(leased[0]).rejects.toThrow('workerId')
    expect(await store.look(findRun, made?.id ?? '')).toMatchObject({ status: 'ready' })
    expect(told).toEqual(['work'])
  })

  test('whose commit broke off is done once, and both who asked are told that nobody knows', async () => {
    const store = await open()
    await store.enqueue([report])
    const { leased } = await sleeper(store)
    const database = databaseOf(store)
    const { write } = database
    database.write = async (verb) => {
      await write.call(database, verb)
      throw new BelfryError('commit-unknown', 'The commit broke off.')
    }
    await expect(store.enqueue([report])).rejects.toMatchObject({ code: 'commit-unknown' })
    await expect(leased[0]).rejects.toMatchObject({ code: 'commit-unknown' })
    database.write = write
    expect(await store.look(leasesOf, 'claim 1')).toHaveLength(2)
    expect((await store.look(listRuns, { limit: 10 })).runs).toHaveLength(2)
  })

  test('that failed before it began keeps no lease waiting for it', async () => {
    const store = await open()
    const [waiting] = await store.enqueue([report])
    const { leased, ask, stop } = await sleeper(store)
    stop()
    store.listen(
      () => undefined,
      () => undefined,
    )
    const database = databaseOf(store)
    const { write } = database
    database.write = () => Promise.reject(new BelfryError('unavailable', 'No connection.'))
    await expect(store.enqueue([report])).rejects.toThrow('No connection')
    database.write = write
    ask('default')
    expect((await leased[0])?.leases.map(({ runId }) => runId)).toEqual([waiting?.id])
  })

  test.each<[string, readonly NewRun[]]>([
    ['several', [report, report]],
    ['one that waits for an instant', [{ ...report, notBefore: 9e12 }]],
    ['one with a key', [{ ...report, idempotencyKey: 'k' }]],
  ])('is not %s: no lease is asked for with them', async (_what, runs) => {
    const store = await open()
    const { told, leased } = await sleeper(store)
    await store.enqueue(runs)
    expect([told, leased]).toEqual([['work'], []])
  })
})

test.each([
  ['first seen', false],
  ['known', true],
])(
  'whoever enqueues waits for nobody who has locked the queue (%s), and the lease that was asked for comes after him',
  async (_, isKnown) => {
    const store = await openOn('postgres')
    await store.enqueue([report])
    const { leased } = await sleeper(store)
    if (isKnown) await store.lease({ queue: 'default', workerId: 'w-11', claimId: 'to know it', can, limit: 0 })
    await others.query('begin')
    await others.query(`select 1 from ${schema}.queue for no key update`)
    const [made] = await store.enqueue([report])
    expect(await store.look(findRun, made?.id ?? '')).toMatchObject({ status: 'ready' })
    await others.query('rollback')
    expect((await leased[0])?.leases).toHaveLength(2)
  },
)

test('whoever waits for a lane that a caller’s own transaction is making does not keep others from the queue', async () => {
  const store = await openOn('postgres')
  const [waiting] = await store.enqueue([report])
  const { leased } = await sleeper(store)
  const fresh = { target: { handler: 'fresh' } } as const
  await others.query('begin')
  await store.enqueue([fresh], { transaction: others })
  const enqueued = store.enqueue([fresh])
  // What a transaction once saw of the others it sees until its end, so somebody else looks.
  const onlooker = new pg.Client(postgresUrl())
  await onlooker.connect()
  const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}%need%'`
  while ((await onlooker.query(blocked)).rows.length === 0) await turn()
  await onlooker.end()
  expect((await leased[0])?.leases.map(({ runId }) => runId)).toEqual([waiting?.id])
  await others.query('rollback')
  const [made] = await enqueued
  expect(await store.look(findRun, made?.id ?? '')).toMatchObject({ status: 'ready' })
})

async function turnUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}
