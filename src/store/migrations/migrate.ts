import { BelfryError } from '../../core/error.ts'
import type { Database } from '../database-port.ts'
import { all, both, clockNow, dialects, one, type Step } from '../statement.ts'
import { applyToEmpty } from './empty-store.ts'
import { type Dialect, type Migration, spelled } from './migration.ts'

// SQLite has one writer at a time; PostgreSQL needs a lock, held until the commit.
const lockMigrations = dialects('migrate lock', {
  sqlite: null,
  postgres: `select pg_advisory_xact_lock(hashtextextended('belfry migrations', 0))`,
})
const createSchema = dialects('migrate create schema', {
  sqlite: null,
  postgres: 'create schema if not exists "belfry"',
})
const createTable = both(
  'migrate create table',
  'create table if not exists belfry.migration (version integer primary key, name text not null, applied_at bigint not null)',
)
const findTable = dialects('migrate find table', {
  sqlite: `select 1 as found from sqlite_master where type = 'table' and name = 'migration'`,
  postgres: `select 1 as found where to_regclass('belfry.migration') is not null`,
})
const findVersions = both('migrate find versions', 'select version from belfry.migration order by version')
const recordVersion = both(
  'migrate record version',
  'insert into belfry.migration (version, name, applied_at) values ($1, $2, $3)',
)

/**
 * Brings the schema to this program's version in one transaction: a killed process leaves the old schema, and of several
 * programs that start at once, one migrates while the others wait.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  known = newestVersion(migrations),
): Promise<void> {
  // Nearly always the schema is current, and then no lock is taken and nothing is written.
  const found = new Set(await database.read(versionsFound))
  if (missing(migrations, found).length === 0 && isKnown(found, known)) return
  await database.write(() => apply(database, migrations, known))
}

/** A program with fewer parts may have skipped migrations of parts that this program has. */
function missing(migrations: readonly Migration[], found: ReadonlySet<number>): readonly Migration[] {
  return migrations.filter(({ version }) => !found.has(version))
}

function isKnown(found: ReadonlySet<number>, known: number): boolean {
  return Math.max(0, ...found) <= known
}

/** The number of the newest migration: the version of the schema. */
export function newestVersion(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map(({ version }) => version))
}

export async function hasTables(database: Database): Promise<boolean> {
  return (await database.read(() => one(findTable))) !== undefined
}

function* versionsFound(): Step<number[]> {
  if ((yield* one(findTable)) === undefined) return []
  return (yield* all<{ version: number }>(findVersions)).map(({ version }) => version)
}

function* apply({ dialect, place }: Database, migrations: readonly Migration[], known: number): Step<void> {
  yield* one(lockMigrations)
  yield* one(createSchema)
  yield* one(createTable)
  const found = new Set(yield* versionsFound())
  if (!isKnown(found, known)) throw newerSchema(place, Math.max(...found), known)
  const now = yield* clockNow()
  const due = missing(migrations, found)
  if (dialect === 'sqlite' && found.size === 0) yield* applyToEmpty(due)
  else for (const migration of due) yield* applyOne(migration, dialect)
  for (const { version, name } of due) yield* one(recordVersion, version, name, now)
}

function* applyOne({ version, statements }: Migration, dialect: Dialect): Step<void> {
  for (const [index, statement] of statements.entries()) {
    yield* all(both(`migration ${version} ${index}`, spelled(statement, dialect)))
  }
}

function newerSchema(place: string, found: number, known: number): BelfryError {
  return new BelfryError(
    'unavailable',
    `${place} has schema version ${found}; this Belfry knows versions up to ${known} and would misread it.`,
    { hint: 'Start the newer Belfry that wrote it, or open another store.', details: { found, known } },
  )
}
