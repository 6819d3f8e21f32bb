import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asked, PostgresCluster } from './postgres-cluster.ts'

export type DatabaseKind = 'sqlite' | 'postgres'

/** Where the store of one round is, and the folder of its witness, which is always another place. */
export interface House {
  readonly store: string
  /** Where the store is one file. */
  readonly file?: string
  readonly schema: string
  readonly folder: string
  close(): Promise<void>
}

/** A database that rounds are played on, each in a house of its own. */
export interface Place {
  readonly kind: DatabaseKind
  /** The server, where there is one to be stopped and frozen. */
  readonly cluster: PostgresCluster | null
  readonly version: string
  house(): Promise<House>
  close(): Promise<void>
}

export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'belfry-faults-'))
}

export async function openPlace(kind: DatabaseKind): Promise<Place> {
  return kind === 'sqlite' ? sqlitePlace() : postgresPlace()
}

function sqlitePlace(): Place {
  return {
    kind: 'sqlite',
    cluster: null,
    version: 'SQLite, WAL, synchronous=FULL',
    async house() {
      const folder = freshFolder()
      return {
        folder,
        store: `sqlite:${join(folder, 'belfry.db')}`,
        file: join(folder, 'belfry.db'),
        schema: 'belfry',
        close: async () => rmSync(folder, { recursive: true, force: true }),
      }
    },
    close: async () => undefined,
  }
}

async function postgresPlace(): Promise<Place> {
  const cluster = await PostgresCluster.start()
  const [row] = await asked(cluster.url, 'show server_version')
  return {
    kind: 'postgres',
    cluster,
    version: `PostgreSQL ${String(row?.server_version)}, default settings`,
    async house() {
      const folder = freshFolder()
      const schema = `f${randomUUID().replaceAll('-', '')}`
      return {
        folder,
        store: cluster.url,
        schema,
        close: async () => {
          rmSync(folder, { recursive: true, force: true })
          await asked(cluster.url, `drop schema if exists ${schema} cascade`)
        },
      }
    },
    close: () => cluster.stop(),
  }
}
