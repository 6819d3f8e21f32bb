import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Place, Subject } from '../../dist/testing.js'
import { postgresUrl } from '../postgres.ts'
import { startCutter } from './cutter.ts'

export const memory: Subject = {
  name: 'memory:',
  dialect: 'sqlite',
  fresh: async () => ({ url: 'memory:', options: {}, isShared: false, dispose: async () => undefined }),
}

export const sqliteFile: Subject = {
  name: 'SQLite file',
  dialect: 'sqlite',
  async fresh() {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-conformance-'))
    const dispose = async () => rmSync(folder, { recursive: true, force: true })
    return { url: `sqlite:${join(folder, 'belfry.db')}`, options: {}, isShared: true, dispose }
  },
}

let places = 0

export const postgres: Subject = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  async fresh(): Promise<Place> {
    const schema = `conformance_${process.pid}_${++places}`
    const cutter = await startCutter(new URL(postgresUrl()))
    return {
      url: cutter.url,
      options: { schema, connectionsMax: 16 },
      isShared: true,
      cutNextCommit: (when) => cutter.cutNextCommit(when),
      async dispose() {
        await cutter.stop()
        const client = new pg.Client(postgresUrl())
        await client.connect()
        await client.query(`drop schema if exists ${pg.escapeIdentifier(schema)} cascade`)
        await client.end()
      },
    }
  },
}
