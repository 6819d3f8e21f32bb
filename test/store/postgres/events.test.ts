import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import type { EventPage } from '../../../src/store/event-view.ts'
import type { Store } from '../../../src/store/port.ts'
import { listEvents } from '../../../src/store/reads/list-events.ts'
import { postgresUrl } from '../../postgres.ts'

/** A database of its own: how far events are told depends on everybody who has a transaction open in it. */
const database = `events_${process.pid}`
const gate = 4_747

/**
 * In the place of the server's own list of who is connected stands one that waits at a gate before it looks. So a test can let a
 * writer commit just when it hurts: after the snapshot of the statement was taken, and before the list is read.
 */
const slowList = `
  create schema slow;
  create function slow.activity() returns setof pg_catalog.pg_stat_activity language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${gate});
      return query select * from pg_catalog.pg_stat_activity;
    end
  $$;
  create view slow.pg_stat_activity as select * from slow.activity()`

function urlOf(options?: string): string {
  const url = new URL(postgresUrl())
  url.pathname = `/${database}`
  if (options !== undefined) url.searchParams.set('options', options)
  return url.href
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

async function onServer(url: string, text: string): Promise<void> {
  const client = await connected(url)
  await client.query(text)
  await client.end()
}

let store: Store
let writer: pg.Client
let keeper: pg.Client

beforeAll(async () => {
  await onServer(postgresUrl(), `create database ${database}`)
  await onServer(urlOf(), slowList)
})
afterAll(() => onServer(postgresUrl(), `drop database ${database} with (force)`))

beforeEach(async () => {
  store = await openStore(urlOf('-c search_path=slow,pg_catalog'), { allowNonDurable: true })
  writer = await connected(urlOf())
  keeper = await connected(urlOf())
})
afterEach(async () => {
  await store.close()
  await Promise.all([writer, keeper].map((client) => client.end()))
})

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** A change that is written and not committed; the clock has gone on when it answers. */
async function writeChange(id: number): Promise<void> {
  await writer.query('begin')
  const text = `insert into belfry.audit (id, ns, at, actor, door, verb, subject)
    select $1::bigint, id, ${clock}, 'somebody', 'test', 'schedule.pause', 'schedule ' || $2::text from belfry.namespace returning at`
  const { at } = (await writer.query(text, [id, String(id)])).rows[0]
  for (;;) {
    const { now } = (await writer.query(`select ${clock} as now`)).rows[0]
    if (Number(now) > Number(at)) return
  }
}

/** Comes when somebody stands at the gate. */
async function atGate(): Promise<void> {
  const text = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`
  for (let isThere = false; !isThere; ) isThere = (await keeper.query(text)).rowCount !== 0
}

function subjectsIn({ events }: EventPage): unknown[] {
  return events.map(({ happened }) => (happened.kind === 'changed' ? happened.subject : happened.kind))
}

test('a change that is committed between the snapshot of a look and its list of open transactions is told', async () => {
  const { place } = await store.look(listEvents, null, 1)
  await writeChange(1)
  await keeper.query('select pg_advisory_lock($1)', [gate])
  const looking = store.look(listEvents, place, 100)
  await atGate()
  await writer.query('commit')
  await keeper.query('select pg_advisory_unlock($1)', [gate])
  const page = await looking
  const next = await store.look(listEvents, page.place, 100)
  expect([subjectsIn(page), subjectsIn(next)]).toEqual([['schedule 1'], []])
})

test('a change that is committed after a look at the events of later instants is told by the next', async () => {
  const { place } = await store.look(listEvents, null, 1)
  await writeChange(2)
  const before = await store.look(listEvents, place, 100)
  expect(subjectsIn(before)).toEqual([])
  await writer.query('commit')
  expect(subjectsIn(await store.look(listEvents, before.place, 100))).toEqual(['schedule 2'])
})
