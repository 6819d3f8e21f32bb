import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'

/**
 * The one place that picks the SQLite implementation: `@photostructure/sqlite`, whose binaries lie inside the package
 * and whose interface is that of `node:sqlite`, so that the built-in module can replace it here once every supported
 * Node carries a SQLite without the write-ahead-log defect (see `versionMin` in boot.ts).
 */
export type SqliteHandle = DatabaseSyncInstance
export type SqliteStatement = StatementSyncInstance

export interface SqliteError extends Error {
  readonly errcode: number
}

/** The low byte of an extended code is the primary one. */
export const primaryCode = {
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const

export function openHandle(path: string, { readOnly = false }: { readOnly?: boolean } = {}): SqliteHandle {
  // A long busy timeout would block the event loop; waiting is done asynchronously, in database.ts.
  return new DatabaseSync(path, { timeout: 0, readOnly, enableForeignKeyConstraints: false })
}

export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null
  return Number((error as SqliteError).errcode) & 0xff
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === primaryCode.busy || code === primaryCode.locked
}
