import type { Dials } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import { shownStoreUrl } from '../core/store-url.ts'
import { checkAll, checkInteger, checkText, invalid, nameLengthMax } from './check.ts'
import type { Database, DatabaseOptions } from './database-port.ts'
import { lockNamespaces, stopAsEverywhere } from './holds/stops-everywhere.ts'
import { migrationsOf, newestKnown } from './migrations/kernel-migrations.ts'
import { hasTables, migrate } from './migrations/migrate.ts'
import type { StorePart } from './part.ts'
import type { Store } from './port.ts'
import { SqlStore } from './sql-store.ts'
import { openSqliteFile, openSqliteMemory } from './sqlite/open.ts'
import { all, both, clockNow, freshIds, one, type Step } from './statement.ts'

export interface OpenOptions {
  readonly namespace?: string
  /** The PostgreSQL schema that holds Belfry's tables. */
  readonly schema?: string
  /** Replaces the store's own clock; for tests and simulation only. */
  readonly clock?: Dials
  /** PostgreSQL settings that may lose acknowledged work are refused unless this is set. */
  readonly allowNonDurable?: boolean
  readonly connectionsMax?: number
  /** The ceiling of the queue `default` when it is created. */
  readonly defaultMaxConcurrent?: number
  /** Refuses a missing store or namespace and does not create it: a read must not create a store. */
  readonly mustExist?: boolean
}

export interface OpenSettings extends OpenOptions {
  readonly parts: readonly StorePart[]
}

/**
 * Opens the store of a URL: `sqlite:PATH`, `memory:`, or `postgres://…`. Once it is open, the schema has this program's version
 * and every setting that could lose work has been checked.
 */
export async function openStore(url: string, { parts, ...options }: OpenSettings): Promise<Store> {
  const { namespace, schema, defaultMaxConcurrent, connectionsMax } = checkAll({
    namespace: () => checkText(options.namespace ?? 'default', 'namespace', nameLengthMax),
    schema: () => checkSchema(options.schema ?? 'belfry'),
    defaultMaxConcurrent: () => checkInteger(options.defaultMaxConcurrent ?? 5, 'defaultMaxConcurrent', 1, 1_000_000),
    connectionsMax: () => checkInteger(options.connectionsMax ?? 10, 'connectionsMax', 1, 1_000),
  })
  const database = await openDatabase(url, {
    schema,
    connectionsMax,
    allowNonDurable: options.allowNonDurable ?? false,
    clock: options.clock,
  })
  try {
    const { mustExist = false } = options
    if (mustExist) await refuseAbsent(database)
    await migrate(database, migrationsOf(parts), newestKnown(parts))
    const ns = (await knownNamespace(database, namespace)) ?? (await newNamespace(database, namespace, mustExist))
    return new SqlStore(database, { ns, namespace, defaultMaxConcurrent, parts })
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A name that PostgreSQL, its tools and its backups treat the same with and without quotes. */
function checkSchema(schema: unknown): string {
  if (typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return schema
  const is = typeof schema === 'string' ? JSON.stringify(schema.slice(0, 80)) : typeof schema
  throw invalid('schema', `is ${is}`, 'a letter or underscore, then at most 62 letters, digits and underscores')
}

async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  if (url === 'memory:') return openSqliteMemory(options.clock)
  if (/^postgres(ql)?:\/\//.test(url)) {
    // The driver takes longer to load than many commands take to run, and a program on SQLite never needs it.
    const { openPostgres } = await import('./postgres/open.ts')
    return openPostgres(url, options)
  }
  const [, path] = /^sqlite:(.+)$/.exec(url) ?? []
  // Two slashes would begin a host name; the user does not mean the root folder.
  if (path !== undefined && !/^\/\/[^/]/.test(path)) return openSqliteFile(path, options.clock)
  throw new BelfryError('invalid', `${JSON.stringify(shownStoreUrl(url))} does not name a store.`, {
    hint: 'Write sqlite:./.belfry/belfry.db, memory:, or postgres://user:password@host:5432/database.',
  })
}

const findNamespace = both('namespace find', 'select id from belfry.namespace where name = $1')
const insertNamespace = both(
  'namespace insert',
  'insert into belfry.namespace (id, name, created_at) values ($1, $2, $3) on conflict (name) do nothing',
)

export function* ensureNamespace(name: string): Step<number> {
  yield* lockNamespaces()
  const found = yield* one<{ id: number }>(findNamespace, name)
  if (found !== undefined) return found.id
  const [id = 0] = yield* freshIds(1)
  yield* one(insertNamespace, id, name, yield* clockNow())
  // Another process may have created it first; its row counts.
  const made = (yield* one<{ id: number }>(findNamespace, name))?.id as number
  if (made === id) yield* stopAsEverywhere(id)
  return made
}

async function refuseAbsent(database: Database): Promise<void> {
  if (await hasTables(database)) return
  throw new BelfryError('not-found', `There is no store at ${database.place}: it has no Belfry tables.`, {
    hint: 'Name another store, or create one with `belfry up` or `belfry schedule create`.',
    details: { place: database.place },
  })
}

const findNamespaces = both('namespaces find', 'select name from belfry.namespace order by name limit 1000')

async function knownNamespace(database: Database, name: string): Promise<number | undefined> {
  return (await database.read(() => one<{ id: number }>(findNamespace, name)))?.id
}

async function newNamespace(database: Database, name: string, mustExist: boolean): Promise<number> {
  // A new store has the default namespace before its first use.
  if (!mustExist || name === 'default') return database.write(() => ensureNamespace(name))
  const known = (await database.read(() => all<{ name: string }>(findNamespaces))).map((row) => row.name)
  throw new BelfryError('not-found', `There is no namespace ${JSON.stringify(name)} in ${database.place}.`, {
    hint: `There is ${known.join(', ') || 'none yet'}.`,
    details: { namespace: name },
  })
}
