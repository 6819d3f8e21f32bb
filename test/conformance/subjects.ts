import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { postgresUrl } from '../postgres.ts'
import { startCutter } from './cutter.ts'
import type { Place, Subject } from './place.ts'

export const memory: Subject = {
  name: 'memory:',
  dialect: 'sqlite',
  isShared: false,
  fresh: async () => ({ url: 'memory:', options: {}, dispose: async () => undefined }),
}

export const sqliteFile: Subject = {
  name: 'SQLite file',
  dialect: 'sqlite',
  isShared: true,
  async fresh() {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-conformance-'))
    const dispose = async () => rmSync(folder, { recursive: true, force: true })
    const file = join(folder, 'belfry.db')
    const transaction = async () => {
      const handle = new DatabaseSync(file)
      handle.exec('begin immediate')
      return { handle, commit: async () => handle.exec('commit'), rollBack: async () => handle.exec('rollback') }
    }
    return { url: `sqlite:${file}`, options: {}, transaction, dispose }
  },
}

export const postgres: Subject = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  isShared: true,
  async fresh(): Promise<Place> {
    const schema = lendSchema()
    const cutter = await startCutter(new URL(postgresUrl()))
    return {
      url: postgresUrl(),
      options: { schema, connectionsMax: 16 },
      fragile: cutter,
      async transaction() {
        const handle = new pg.Client(postgresUrl())
        await handle.connect()
        await handle.query('begin')
        const end = async (how: 'commit' | 'rollback') => {
          await handle.query(how)
          await handle.end()
        }
        return { handle, commit: () => end('commit'), rollBack: () => end('rollback') }
      },
      async dispose() {
        await cutter.stop()
        await returnSchema(schema)
      },
    }
  },
}
