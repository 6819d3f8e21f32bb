import pg from 'pg'
import { ceiling, leaseMs, payload, tables, target } from './tables.mjs'

const insert = {
  wide: `insert into run(id, queue, state, priority, enq, schedule, occ, target, payload)
    select id, 1, 0, 100, $2, schedule, case when schedule is null then null else $2::bigint end, $4, $5
    from unnest($1::bigint[], $3::int[]) as i (id, schedule)`,
  live: `with r as (insert into run(id, queue, priority, enq, schedule, occ, target, payload)
      select id, 1, 100, $2, schedule, case when schedule is null then null else $2::bigint end, $4, $5
      from unnest($1::bigint[], $3::int[]) as i (id, schedule) returning id, enq)
    insert into live(run, queue, state, priority, enq) select id, 1, 0, 100, enq from r`,
  lines: `with r as (insert into run(id, queue, priority, enq, schedule, occ, target, payload)
      select id, 1, 100, $2, schedule, case when schedule is null then null else $2::bigint end, $4, $5
      from unnest($1::bigint[], $3::int[]) as i (id, schedule) returning id, enq)
    insert into ready select 1, 1, 100, enq, id, 0, 0 from r`,
}
const take = {
  wide: `with t as (select id from run where queue = 1 and state = 0 order by priority, enq, id
      limit least($3::int, ${ceiling} - (select count(*) from run where queue = 1 and state = 1)) for update skip locked)
    update run set state = 1, fence = fence + 1, claim = $1, worker = 1, expires = $2::bigint from t where run.id = t.id
    returning run.id, fence, target, payload`,
  live: `with t as (select run from live where queue = 1 and state = 0 order by priority, enq, run
      limit least($3::int, ${ceiling} - (select count(*) from live where queue = 1 and state = 1)) for update skip locked),
    u as (update live set state = 1, fence = fence + 1, claim = $1, worker = 1, started = $2::bigint, expires = $2::bigint
      from t where live.run = t.run returning live.run, fence)
    select u.run as id, fence, target, payload from u join run d on d.id = u.run`,
  lines: `with t as (select ctid from ready where queue = 1 and need = 1 order by priority, enq, run
      limit least($3::int, ${ceiling} - (select count(*) from lease where queue = 1)) for update skip locked),
    d as (delete from ready using t where ready.ctid = t.ctid returning ready.run, ready.fence + 1 as fence, ready.attempts),
    l as (insert into lease select run, 1, fence, attempts, $1, 1, $2::bigint, $2::bigint from d)
    select d.run as id, d.fence, r.target, r.payload from d join run r on r.id = d.run`,
}
const end = {
  wide: `with u as (update run set state = 2, ended = $3, claim = null from unnest($1::bigint[], $2::int[]) as s (id, fence)
      where run.id = s.id and run.fence = s.fence and state = 1 returning run.id, run.fence)
    insert into attempt select id, fence, $3, $3, 0 from u`,
  live: `with u as (delete from live using unnest($1::bigint[], $2::int[]) as s (id, fence)
      where live.run = s.id and live.fence = s.fence and state = 1 returning live.run, live.fence, started)
    insert into attempt select run, fence, started, $3, 0 from u`,
  lines: `with u as (delete from lease using unnest($1::bigint[], $2::int[]) as s (id, fence)
      where lease.run = s.id and lease.fence = s.fence returning lease.run, lease.fence, started)
    insert into attempt select run, fence, started, $3, 0 from u`,
}
const churning = { wide: ['run'], live: ['live'], lines: ['ready', 'lease'] }

/** One shape on PostgreSQL with the server's default settings, over two connections. */
export async function openPostgres(shape, url) {
  const options = '-c search_path=shapes -c enable_bitmapscan=off -c enable_seqscan=off -c enable_hashjoin=off'
  const clients = [1, 2].map(() => new pg.Client({ connectionString: url, options }))
  for (const client of clients) await client.connect()
  await clients[0].query(`drop schema if exists shapes cascade; create schema shapes;
    create table queue(id int primary key); insert into queue values (1); ${tables(shape, { big: 'bigint', clustered: '' })}`)
  for (const table of churning[shape]) {
    await clients[0].query(
      `alter table ${table} set (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05)`,
    )
  }
  const query = (client, name, text, values) => clients[client].query({ name, text, values })
  const transaction = async (client, work) => {
    await clients[client].query('begin')
    const result = await work()
    await clients[client].query('commit')
    return result
  }
  return {
    enqueue: (ids, now) => query(0, 'insert', insert[shape], [ids, now, ids.map(() => null), target, payload]),
    lease: (limit, now, client = 0) =>
      transaction(client, async () => {
        await query(client, 'lock', 'select id from queue where id = 1 for no key update')
        return (await query(client, 'take', take[shape], [`claim ${now}`, now + leaseMs, limit])).rows
      }),
    settle: (leases, now, client = 0) =>
      query(client, 'end', end[shape], [leases.map(({ id }) => id), leases.map(({ fence }) => fence), now]),
    schedules: (count) =>
      query(0, 'schedules', `insert into schedule select id, 1, 'schedule', $2 from generate_series(1, $1::int) id`, [
        count,
        target,
      ]),
    fire: (firstId, limit, now) =>
      transaction(0, async () => {
        const due = 'select id from schedule where next_at <= $1 order by next_at, id limit $2 for update skip locked'
        const { rows } = await query(0, 'due', due, [now, limit])
        const ids = rows.map((_, index) => firstId + index)
        const schedules = rows.map(({ id }) => id)
        await query(0, 'insert', insert[shape], [ids, now, schedules, target, payload])
        await query(0, 'next', 'update schedule set next_at = $2 where id = any ($1::int[])', [schedules, now + 60_000])
        return rows.length
      }),
    async walBytes() {
      const { rows } = await clients[0].query(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`)
      return Number(rows[0].bytes)
    },
    close: () => Promise.all(clients.map((client) => client.end())),
  }
}
