import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { schemaVersion } from '../src/open-store.ts'
import { postgresUrl } from './postgres.ts'

/**
 * Schemas that others have used and left clean. To make one costs PostgreSQL a tenth of a second, to clear one a few
 * milliseconds, and most sentences need one of their own. Only what is as new is lent again.
 */
const clean: string[] = []

let pool: pg.Pool | undefined

/** The name of a schema in which nothing is but, perhaps, the tables of this version. */
export function lendSchema(): string {
  return clean.pop() ?? `lent_${randomUUID().replaceAll('-', '')}`
}

const clearing = `select
  (select string_agg(format('delete from %I.%I', schemaname, tablename), ';') from pg_tables
    where schemaname = $1 and tablename <> 'migration') as tables,
  (select string_agg(format('select setval(%L, 1, false)', format('%I.%I', schemaname, sequencename)), ';') from pg_sequences
    where schemaname = $1) as sequences,
  exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and not t.tgisinternal) as has_triggers`

/** Takes a schema back from somebody who has closed everything in it. One in which more than rows was changed is not lent again. */
export async function returnSchema(schema: string): Promise<void> {
  pool ??= new pg.Pool({ connectionString: postgresUrl(), max: 2, allowExitOnIdle: true })
  const client = await pool.connect()
  try {
    const { tables, sequences, has_triggers } = (await client.query(clearing, [schema])).rows[0]
    if (tables === null) return
    const named = pg.escapeIdentifier(schema)
    const { version } = (await client.query(`select max(version) as version from ${named}.migration`)).rows[0]
    if (has_triggers || version !== schemaVersion) {
      await client.query(`drop schema ${named} cascade`)
      return
    }
    await client.query(`begin; ${tables}; ${sequences}; commit`)
    clean.push(schema)
  } finally {
    client.release()
  }
}
