import pg from 'pg'
import { onTestFinished } from 'vitest'
import { both } from '../src/store/statement.ts'
import { postgresUrl } from './postgres.ts'

/** A session past the store, which holds up others by a lock and sees who waits. */
export async function openGate() {
  const client = new pg.Client(postgresUrl())
  await client.connect()
  onTestFinished(() => client.end())
  const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
  await client.query(`select pg_advisory_lock(${pid})`)
  const waiting = `select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))`
  return {
    pid,
    waitsAt: both(`test wait at gate ${pid}`, `select pg_advisory_xact_lock(${pid})`),
    /** The session that waits for another one, once there is one. */
    waiterOf: async (other: number) => (await client.query(waiting, [other])).rows[0]?.pid as number | undefined,
    open: () => client.query(`select pg_advisory_unlock(${pid})`),
  }
}
