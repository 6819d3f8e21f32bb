import { all, both, type Statement, type Step } from '../statement.ts'
import { type Migration, spelled } from './migration.ts'

/**
 * The result of the migrations of an empty database: the statements that create its tables, indexes and first
 * rows, in order.
 */
interface Made {
  readonly migrations: readonly Migration[]
  readonly statements: readonly Statement[]
}

/** Cached results: a process has one set of parts, and tests have a few more. */
const madeMax = 8
const made: Made[] = []

const findSchema = both(
  'migrate find schema',
  `select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite!_%' escape '!' order by rowid`,
)
const findColumns = both('migrate find columns', 'select name from pragma_table_info($1) order by cid')

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly sql: string
}

/**
 * Applies migrations to an empty SQLite database. SQLite parses its whole schema again after each change, so applying all
 * migrations takes eight times as long as creating their result. The first store of a process goes through the migrations, and
 * later stores get the result: a program under test opens many stores in memory.
 */
export function* applyToEmpty(migrations: readonly Migration[]): Step<void> {
  const known = made.find((one) => isSame(one.migrations, migrations))
  if (known !== undefined) {
    for (const statement of known.statements) yield* all(statement)
    return
  }
  // A file is marked before its tables are made.
  const before = new Set((yield* schema()).map(({ name }) => name))
  for (const { version, statements } of migrations) {
    for (const [index, statement] of statements.entries()) {
      yield* all(both(`migration ${version} ${index}`, spelled(statement, 'sqlite')))
    }
  }
  const after = (yield* schema()).filter(({ name }) => !before.has(name))
  const texts = after.map(({ sql }) => sql)
  for (const { type, name } of after) if (type === 'table') texts.push(...(yield* firstRows(name)))
  const statements = texts.map((text, index) => both(`make schema ${index}`, text))
  if (made.length < madeMax) made.push({ migrations, statements })
}

function schema(): Step<SchemaRow[]> {
  return all<SchemaRow>(findSchema)
}

/** The statements that insert the first rows of a new table. */
function* firstRows(table: string): Step<string[]> {
  const columns = (yield* all<{ name: string }>(findColumns, table)).map(({ name }) => quoted(name))
  const values = columns.map((column) => `quote(${column})`).join(` || ', ' || `)
  const rows = yield* all<{ found: string }>(
    both('migrate find rows', `select ${values} as found from ${quoted(table)}`),
  )
  return rows.map(({ found }) => `insert into ${quoted(table)} (${columns.join(', ')}) values (${found})`)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function isSame(some: readonly Migration[], others: readonly Migration[]): boolean {
  return some.length === others.length && some.every((migration, index) => migration === others[index])
}
