import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresUrl } from '../../postgres.ts'
import { Terminal } from './terminal.ts'

describe('a store that is not there', () => {
  let terminal: Terminal
  let schema: string

  beforeEach(() => {
    terminal = new Terminal()
    schema = `open_${randomUUID().replaceAll('-', '')}`
  })

  afterEach(() => terminal.remove())

  const at = (command: string) => [...command.split(' '), '--store', postgresUrl(), '--schema', schema]

  async function hasSchema(): Promise<boolean> {
    const client = new pg.Client({ connectionString: postgresUrl() })
    await client.connect()
    const { rowCount } = await client.query('select 1 from pg_namespace where nspname = $1', [schema])
    await client.end()
    return rowCount === 1
  }

  it('is not made on PostgreSQL by whoever only looks, rehearses, or is refused', async () => {
    expect(await terminal.belfry(at('schedule list'))).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('it has no Belfry tables'),
    })
    const rehearsal = await terminal.belfry(at('schedule create a --every 1h --handler h --dry-run'))
    expect(rehearsal).toMatchObject({ exit: 0, stdout: expect.stringContaining('would create a in postgres') })
    expect((await terminal.belfry(at('schedule create a --every 1 --handler h'))).exit).toBe(2)
    expect(await hasSchema()).toBe(false)
  })

  it('is made on PostgreSQL by the first thing that is written', async () => {
    expect((await terminal.belfry(at('schedule create a --every 1h --handler h'))).exit).toBe(0)
    expect(await hasSchema()).toBe(true)
    expect(await terminal.json(at('schedule list'))).toMatchObject([{ name: 'a' }])
  })

  it('may be a namespace: a misspelt one is refused where it is looked at, and made where it is written to', async () => {
    await terminal.belfry('schedule create a --every 1h --handler h --namespace team')
    const said = await terminal.belfry('schedule list --namespace tema')
    expect(said).toMatchObject({ exit: 3, stdout: '', stderr: expect.stringContaining('team') })
    expect(await terminal.json('schedule list --namespace team')).toMatchObject([{ name: 'a' }])
    expect(await terminal.json('schedule list')).toEqual([])
  })

  it('leaves the folder as it is', async () => {
    for (const command of ['schedule list', 'schedule create a --every 1 --handler h', 'doctor', 'run show r-11']) {
      expect((await terminal.belfry(command)).exit).not.toBe(0)
    }
    expect(readdirSync(terminal.folder)).toEqual([])
  })
})

it('times of a schedule are told by its own clock, whoever reads them', async () => {
  const terminal = new Terminal({ BELFRY_ZONE: 'UTC' })
  const line = ['schedule', 'create', 'a', '--cron', '0 2 * * *', '--zone', 'Asia/Tokyo', '--handler', 'h']
  await terminal.belfry(line)
  const { id } = await terminal.json<{ id: string }>('schedule run a')
  for (const command of ['schedule show a', 'schedule next a', `run show ${id}`, 'schedule versions a']) {
    expect((await terminal.belfry(command)).stdout, command).toContain('Asia/Tokyo')
  }
  terminal.remove()
})
