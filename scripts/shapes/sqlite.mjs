import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { ceiling, leaseMs, payload, tables, target } from './tables.mjs'

/** One shape on a SQLite file with durable settings. */
export function openSqlite(shape) {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-shapes-'))
  const db = new DatabaseSync(join(folder, 'shape.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32768')
  db.exec(tables(shape, { big: 'integer', clustered: ' without rowid' }))
  const transaction = (work) => {
    db.exec('begin immediate')
    const result = work()
    db.exec('commit')
    return result
  }
  const verbs = { wide, live, lines }[shape](db)
  const setNext = db.prepare('update schedule set next_at = ? where id = ?')
  const due = db.prepare('select id from schedule where next_at <= ? order by next_at, id limit ?')
  const addSchedule = db.prepare('insert into schedule values (?, ?, ?, ?)')
  return {
    enqueue: (ids, now) =>
      transaction(() => {
        for (const id of ids) verbs.add(id, now, null, null)
      }),
    lease: (limit, now) => transaction(() => verbs.lease(limit, now)),
    settle: (leases, now) => transaction(() => verbs.settle(leases, now)),
    schedules: (count) =>
      transaction(() => {
        for (let id = 1; id <= count; id++) addSchedule.run(id, 1, `schedule ${id}`, target)
      }),
    fire: (firstId, limit, now) =>
      transaction(() => {
        const rows = due.all(now, limit)
        rows.forEach(({ id }, index) => {
          verbs.add(firstId + index, now, id, now)
          setNext.run(now + 60_000, id)
        })
        return rows.length
      }),
    walBytes: () => 0,
    close() {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function wide(db) {
  const add = db.prepare(`insert into run(id, queue, state, priority, enq, schedule, occ, target, payload)
    values (?, 1, 0, 100, ?, ?, ?, ?, ?)`)
  const count = db.prepare('select count(*) n from run where queue = 1 and state = 1')
  const take = db.prepare(`update run set state = 1, fence = fence + 1, claim = ?, worker = 1, expires = ? where id in
    (select id from run where queue = 1 and state = 0 order by priority, enq, id limit ?)
    returning id, fence, target, payload`)
  const end = db.prepare('update run set state = 2, ended = ? where id = ? and fence = ? and state = 1 returning id')
  const attempt = db.prepare('insert into attempt values (?, ?, ?, ?, 0)')
  return {
    add: (id, now, schedule, occurrence) => add.run(id, now, schedule, occurrence, target, payload),
    lease(limit, now) {
      const free = Math.min(limit, ceiling - count.get().n)
      return free > 0 ? take.all(`claim ${now}`, now + leaseMs, free) : []
    },
    settle(leases, now) {
      for (const { id, fence } of leases) if (end.get(now, id, fence)) attempt.run(id, fence, now, now)
    },
  }
}

function live(db) {
  const addRun = db.prepare(`insert into run(id, queue, priority, enq, schedule, occ, target, payload)
    values (?, 1, 100, ?, ?, ?, ?, ?)`)
  const addLive = db.prepare('insert into live(run, queue, state, priority, enq) values (?, 1, 0, 100, ?)')
  const count = db.prepare('select count(*) n from live where queue = 1 and state = 1')
  const take = db.prepare(`update live set state = 1, fence = fence + 1, claim = ?, worker = 1, started = ?, expires = ?
    where run in (select run from live where queue = 1 and state = 0 order by priority, enq, run limit ?)
    returning run as id, fence`)
  const definition = db.prepare('select target, payload from run where id = ?')
  const end = db.prepare('delete from live where run = ? and fence = ? and state = 1 returning started')
  const attempt = db.prepare('insert into attempt values (?, ?, ?, ?, 0)')
  return {
    add(id, now, schedule, occurrence) {
      addRun.run(id, now, schedule, occurrence, target, payload)
      addLive.run(id, now)
    },
    lease(limit, now) {
      const free = Math.min(limit, ceiling - count.get().n)
      if (free <= 0) return []
      return take.all(`claim ${now}`, now, now + leaseMs, free).map((row) => ({ ...row, ...definition.get(row.id) }))
    },
    settle(leases, now) {
      for (const { id, fence } of leases) {
        const row = end.get(id, fence)
        if (row) attempt.run(id, fence, row.started, now)
      }
    },
  }
}

function lines(db) {
  const addRun = db.prepare(`insert into run(id, queue, priority, enq, schedule, occ, target, payload)
    values (?, 1, 100, ?, ?, ?, ?, ?)`)
  const addReady = db.prepare('insert into ready values (1, 1, 100, ?, ?, 0, 0)')
  const count = db.prepare('select count(*) n from lease where queue = 1')
  const head = db.prepare(`select r.priority, r.enq, r.run as id, r.fence + 1 as fence, r.attempts, d.target, d.payload
    from ready r join run d on d.id = r.run where r.queue = 1 and r.need = 1 order by r.priority, r.enq, r.run limit ?`)
  const leave = db.prepare('delete from ready where queue = 1 and need = 1 and priority = ? and enq = ? and run = ?')
  const addLease = db.prepare('insert into lease values (?, 1, ?, ?, ?, 1, ?, ?)')
  const end = db.prepare('delete from lease where run = ? and fence = ? returning started')
  const attempt = db.prepare('insert into attempt values (?, ?, ?, ?, 0)')
  return {
    add(id, now, schedule, occurrence) {
      addRun.run(id, now, schedule, occurrence, target, payload)
      addReady.run(now, id)
    },
    lease(limit, now) {
      const free = Math.min(limit, ceiling - count.get().n)
      const rows = free > 0 ? head.all(free) : []
      for (const row of rows) {
        leave.run(row.priority, row.enq, row.id)
        addLease.run(row.id, row.fence, row.attempts, `claim ${now}`, now, now + leaseMs)
      }
      return rows
    },
    settle(leases, now) {
      for (const { id, fence } of leases) {
        const row = end.get(id, fence)
        if (row) attempt.run(id, fence, row.started, now)
      }
    },
  }
}
