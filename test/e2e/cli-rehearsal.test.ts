import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { openHandle } from '../../src/store/sqlite/driver.ts'
import { postgresUrl } from '../postgres.ts'
import { Shell } from './belfry-process.ts'

type Tables = Readonly<Record<string, unknown[]>>

/** Everything that a store holds, but for who has it open. */
async function everything(shell: Shell): Promise<Tables> {
  return shell.store.length === 0 ? ofSqlite(shell) : ofPostgres(String(shell.store.at(-1)))
}

function ofSqlite(shell: Shell): Tables {
  const handle = openHandle(`${shell.folder}/.belfry/belfry.db`, { readOnly: true })
  const names = handle.prepare("select name from sqlite_master where type = 'table' and name <> 'opener'").all()
  const tables = (names as { name: string }[]).map(({ name }) => [
    name,
    handle.prepare(`select * from "${name}"`).all(),
  ])
  handle.close()
  return Object.fromEntries(tables) as Tables
}

async function ofPostgres(schema: string): Promise<Tables> {
  const client = new pg.Client(postgresUrl())
  await client.connect()
  const { rows } = await client.query('select table_name from information_schema.tables where table_schema = $1', [
    schema,
  ])
  const tables: [string, unknown[]][] = []
  for (const { table_name: name } of rows as { table_name: string }[]) {
    tables.push([name, (await client.query(`select * from "${schema}"."${name}" as t order by t::text`)).rows])
  }
  await client.end()
  return Object.fromEntries(tables)
}

const rehearsals = [
  'schedule create new --every 1h --start-now --handler h',
  'schedule put old --every 2h --handler h',
  'schedule put new --cron @daily --handler h',
  'schedule update old --priority 4 --reason x',
  'schedule delete old',
  'queue set old --max-concurrent 9',
  'queue set new --max-concurrent 9',
  'run enqueue --queue new --command true --idempotency-key k --dedupe-key d',
  'run enqueue --queue old --command true --idempotency-key used',
  'schedule create old --every 3h --handler h',
]

describe.each(['sqlite', 'postgres'] as const)('a rehearsal on %s', (database) => {
  it('leaves everything in the store as it was, whatever it rehearses', async () => {
    const shell = new Shell(database)
    await shell.belfry('schedule create old --every 1h --start-now --handler h')
    await shell.belfry('queue set old --max-concurrent 2')
    await shell.belfry('schedule run old --force')
    await shell.belfry('run enqueue --queue old --command true --idempotency-key used')
    const before = await everything(shell)
    expect(Object.values(before).flat().length).toBeGreaterThan(10)
    for (const words of rehearsals) {
      const { exit } = await shell.belfry(`${words} --dry-run`)
      expect({ words, exit }).toEqual({ words, exit: words.startsWith('schedule create old') ? 4 : 0 })
      expect({ words, holds: await everything(shell) }).toEqual({ words, holds: before })
    }
    await shell.belfry('schedule delete old --yes')
    expect(await everything(shell)).not.toEqual(before)
  })
})
