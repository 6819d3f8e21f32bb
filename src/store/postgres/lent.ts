import { BelfryError } from '../../core/error.ts'
import type { Row } from '../statement.ts'

/** Identifies a database, whatever address it was reached by. */
export const whichDatabase = `select current_database() as name, pg_postmaster_start_time()::text as since,
  (select oid::text from pg_database where datname = current_database()) as oid,
  host(inet_server_addr()) as host, inet_server_port() as port`

/** Another database may have tables of the same name: work would go there, and no worker of this store would execute it. */
export function refuseOtherDatabase(theirs: Row | undefined, ours: Row | undefined, place: string): void {
  const isSame = (['name', 'since', 'oid'] as const).every((part) => theirs?.[part] === ours?.[part])
  if (!isSame) throw otherDatabase(theirs, place)
}

/** A pool sends each statement to any of its clients, so no transaction holds them together. */
export function refusePool(given: object): void {
  if (typeof (given as { totalCount?: unknown }).totalCount !== 'number') return
  throw new BelfryError('invalid', 'The transaction is a pg pool, and a transaction is on one client of it.', {
    hint: "Take a client with `await pool.connect()`, call query('begin') on it, and pass that client.",
  })
}

function otherDatabase(theirs: Row | undefined, place: string): BelfryError {
  const at = theirs?.host == null ? 'over a local socket' : `at ${theirs.host}:${theirs.port}`
  const there = `database ${JSON.stringify(theirs?.name)} ${at}`
  return new BelfryError('invalid', `The transaction is on ${there}, and this store is ${place}.`, {
    hint: `Connect the client to ${place}.`,
    details: { transaction: there, store: place },
  })
}
