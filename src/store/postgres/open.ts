import { BelfryError } from '../../core/error.ts'
import type { DatabaseOptions } from '../database-port.ts'
import { refuseUnfitServer } from './boot.ts'
import { PostgresDatabase, typeParsers } from './database.ts'
import { Pool } from './pool.ts'

const connectMsMax = 10_000
/** A frozen server must not freeze this process: a query that takes longer has failed. */
const queryMsMax = 30_000
/**
 * A process that stops in the middle of a step, as on a paused machine, keeps its locks, and all others wait for the lock of a
 * queue. A step is a few statements in quick succession, so the server may time out soon; an aborted step wrote nothing and is
 * repeated. A process whose event loop is blocked for that long loses its session too.
 */
const silenceMsMax = 1_000
/** Work done once a minute finds its connection with its prepared statements; a new connection costs tens of ms. */
const idleMsMax = 600_000

/**
 * Every statement of the store is a handful of index probes, whatever the table sizes. The planner knows those sizes only from
 * statistics, which lag behind small churning tables, so plans that read whole tables are disabled. Without bitmap scans each
 * probe also marks the dead index entries it meets, so that the next one skips them; with bitmap scans a count of 500 leases
 * read the dead entries of 100,000 earlier leases until vacuum ran. No statement probes the same row twice, so memoizing
 * probes has only costs.
 */
const planOnlyIndexProbes = ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize'].map(
  (plan) => `-c enable_${plan}=off`,
)
/** Only one plan is left for each statement, so the server need not plan every call. */
const planOnce = '-c plan_cache_mode=force_generic_plan'
/**
 * Before PostgreSQL 18 a plan that must use a disabled method has an enormous estimated cost, and the server may JIT-compile it
 * at each call, which takes longer than the call.
 */
const compileNothing = '-c jit=off'
/** Sets the isolation level of single-statement transactions, whatever the server's default is. */
const readCommitted = '-c default_transaction_isolation=read\\ committed'

/** Opens a pool on a server that passes the durability checks. */
export async function openPostgres(url: string, options: DatabaseOptions): Promise<PostgresDatabase> {
  const place = withoutPassword(url)
  const pool = new Pool({
    connectionString: url,
    max: options.connectionsMax,
    application_name: 'belfry',
    options: [...planOnlyIndexProbes, planOnce, compileNothing, readCommitted].join(' '),
    types: typeParsers,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectMsMax,
    idleTimeoutMillis: idleMsMax,
    query_timeout: queryMsMax,
    statement_timeout: queryMsMax,
    idle_in_transaction_session_timeout: silenceMsMax,
  })
  try {
    await refuseUnfitServer(pool, place, options)
  } catch (error) {
    await pool.close(Promise.resolve())
    throw error instanceof BelfryError ? error : unreachable(place, error)
  }
  return new PostgresDatabase(pool, { place: `${place} (schema ${options.schema})`, ...options })
}

/** A URL that may be shown and logged. */
export function withoutPassword(url: string): string {
  // The parser's error would contain the URL, and with it the password.
  const shown = URL.canParse(url) ? new URL(url) : undefined
  if (shown === undefined || hidesUser(shown)) {
    throw new BelfryError('invalid', 'The PostgreSQL URL cannot be read.', {
      hint: 'It looks like postgres://user:password@host:5432/database; write #, /, ? and @ in a password as %23, %2F, %3F and %40.',
    })
  }
  shown.password = ''
  shown.searchParams.delete('password')
  return shown.href
}

/**
 * A bare slash in a password ends the host for every parser, and the rest of the password would be shown
 * as part of the path.
 */
function hidesUser({ username, searchParams, href }: URL): boolean {
  return username === '' && !searchParams.has('user') && href.includes('@')
}

const refusals: Readonly<Record<string, string>> = {
  '3D000': 'Create the database, or name another one at the end of the URL.',
  '28000': 'Name a user that the server accepts from this machine.',
  '28P01': 'Check the user and the password in the URL.',
  '53300': 'The server has no connection left; raise max_connections or lower connectionsMax.',
}

/** A server that refuses is running, and the message says so. */
export function unreachable(place: string, error: unknown): BelfryError {
  const [reason = error as Error] = error instanceof AggregateError ? (error.errors as Error[]) : []
  const { code, severity, message } = reason as Error & { code?: string; severity?: string }
  if (severity !== undefined) {
    return new BelfryError('unavailable', `PostgreSQL at ${place} refuses the connection: ${message}.`, {
      hint: refusals[code ?? ''] ?? 'Check the user and the database, and read the server’s log.',
      cause: error,
    })
  }
  return new BelfryError('unavailable', `PostgreSQL at ${place} does not answer: ${message}.`, {
    hint: 'Check that the server runs, and that host and port are right.',
    cause: error,
  })
}
