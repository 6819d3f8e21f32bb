import pg from 'pg'
import { BelfryError } from '../../core/error.ts'
import type { DatabaseOptions } from '../database.ts'
import { refuseUnfitServer } from './boot.ts'
import { PostgresDatabase, typeParsers } from './database.ts'

const connectMsMax = 10_000
/** A frozen server must not freeze us: whatever takes longer than this has failed. */
const queryMsMax = 30_000

/**
 * Every statement of the store is a handful of index probes, whatever the sizes of the tables. The planner knows those
 * sizes only from statistics, which small churning tables outrun, so the plans that read whole tables are ruled out.
 * Without bitmap scans each probe also marks the dead index entries it meets, and the next one passes them by; with them
 * a count of 500 leases read the remains of 100,000 earlier ones until vacuum came.
 */
const planOnlyIndexProbes = ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin'].map((plan) => `-c enable_${plan}=off`)

/** Opens a pool on a server that passes the checks a store people rely on must pass. */
export async function openPostgres(url: string, options: DatabaseOptions): Promise<PostgresDatabase> {
  const place = withoutPassword(url)
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connectionsMax,
    application_name: 'belfry',
    options: planOnlyIndexProbes.join(' '),
    types: typeParsers,
    keepAlive: true,
    connectionTimeoutMillis: connectMsMax,
    query_timeout: queryMsMax,
    statement_timeout: queryMsMax,
    idle_in_transaction_session_timeout: 2 * queryMsMax,
  })
  try {
    await refuseUnfitServer(pool, place, options)
  } catch (error) {
    await pool.end()
    throw error instanceof BelfryError ? error : unreachable(place, error)
  }
  return new PostgresDatabase(pool, { place: `${place} (schema ${options.schema})`, ...options })
}

/** A URL as it may be shown and logged. */
export function withoutPassword(url: string): string {
  try {
    const shown = new URL(url)
    shown.password = ''
    return shown.href
  } catch (error) {
    throw new BelfryError('invalid', 'The PostgreSQL URL cannot be read.', {
      hint: 'It looks like postgres://user:password@host:5432/database.',
      cause: error,
    })
  }
}

function unreachable(place: string, error: unknown): BelfryError {
  return new BelfryError('unavailable', `PostgreSQL at ${place} does not answer: ${(error as Error).message}.`, {
    hint: 'Look whether the server runs, and whether host, port, user and database are right.',
    cause: error,
  })
}
