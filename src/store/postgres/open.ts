import { BelfryError } from '../../core/error.ts'
import type { DatabaseOptions } from '../database-port.ts'
import { refuseUnfitServer } from './boot.ts'
import { PostgresDatabase, typeParsers } from './database.ts'
import { Pool } from './pool.ts'

const connectMsMax = 10_000
/** A frozen server must not freeze us: whatever takes longer than this has failed. */
const queryMsMax = 30_000
/**
 * A process that stops in the middle of a step, as on a machine that is paused, keeps its locks, and all others wait for the
 * lock of a queue. A step is a few statements, one right after the other, so the server need not be patient; what it
 * breaks off was not written and is tried again. The same happens to a process whose event loop is blocked for as long.
 */
const silenceMsMax = 1_000
/** What happens once a minute finds its connection, with all that was prepared on it; a new one costs tens of ms. */
const idleMsMax = 600_000

/**
 * Every statement of the store is a handful of index probes, whatever the sizes of the tables. The planner knows those
 * sizes only from statistics, which small churning tables outrun, so the plans that read whole tables are ruled out.
 * Without bitmap scans each probe also marks the dead index entries it meets, and the next one passes them by; with them
 * a count of 500 leases read the remains of 100,000 earlier ones until vacuum came. No row is probed for twice in one
 * statement, so that remembering probes only costs.
 */
const planOnlyIndexProbes = ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize'].map(
  (plan) => `-c enable_${plan}=off`,
)
/** There is one plan for each of them then, so the server need not look for a better one with every call. */
const planOnce = '-c plan_cache_mode=force_generic_plan'
/**
 * Before PostgreSQL 18 a plan that has no choice but to use what is ruled out is taken for enormous, and the server may
 * compile it to machine code for each of its calls, which takes longer than any of them.
 */
const compileNothing = '-c jit=off'
/** For the statements that are a transaction by themselves, whatever the server's own default is. */
const readCommitted = '-c default_transaction_isolation=read\\ committed'

/** Opens a pool on a server that passes the checks a store people rely on must pass. */
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

/** A URL as it may be shown and logged. */
export function withoutPassword(url: string): string {
  // The error of the parser would hold the URL, and with it the password.
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

/** A bare slash in a password ends the host for every parser, and what follows would be shown as if it were the path. */
function hidesUser({ username, searchParams, href }: URL): boolean {
  return username === '' && !searchParams.has('user') && href.includes('@')
}

const refusals: Readonly<Record<string, string>> = {
  '3D000': 'Create the database, or name another one at the end of the URL.',
  '28000': 'Name a user whom the server lets in from this machine.',
  '28P01': 'Look at the user and the password in the URL.',
  '53300': 'The server has no connection left; raise max_connections or lower connectionsMax.',
}

/** A server that says no is running, and that tells people where to look. */
export function unreachable(place: string, error: unknown): BelfryError {
  const [reason = error as Error] = error instanceof AggregateError ? (error.errors as Error[]) : []
  const { code, severity, message } = reason as Error & { code?: string; severity?: string }
  if (severity !== undefined) {
    return new BelfryError('unavailable', `PostgreSQL at ${place} refuses the connection: ${message}.`, {
      hint: refusals[code ?? ''] ?? 'Look whether user and database are right, and at the log of the server.',
      cause: error,
    })
  }
  return new BelfryError('unavailable', `PostgreSQL at ${place} does not answer: ${message}.`, {
    hint: 'Look whether the server runs, and whether host and port are right.',
    cause: error,
  })
}
