import pg from 'pg'
import { onTestFinished } from 'vitest'
import { both, run, type Step } from '../src/store/statement.ts'
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

/**
 * Runs a step that stays open at `pauses` until `second` is done or waits for it. SQLite has one writer at a time: there the second
 * follows the first.
 */
export async function meet<First, Second>(
  kind: 'SQLite' | 'PostgreSQL',
  first: (pauses?: () => Step<void>) => Promise<First>,
  second: () => Promise<Second>,
): Promise<readonly [First, Second]> {
  if (kind === 'SQLite') return [await first(), await second()]
  const gate = await openGate()
  const opened = first(() => run(gate.waitsAt))
  let opener: number | undefined
  while (opener === undefined) opener = await gate.waiterOf(gate.pid)
  let isDone = false
  const following = second().finally(() => {
    isDone = true
  })
  while (!isDone && (await gate.waiterOf(opener)) === undefined);
  await gate.open()
  return [await opened, await following]
}
