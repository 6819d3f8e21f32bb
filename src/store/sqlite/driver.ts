import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'

/**
 * The one place that picks the SQLite implementation: `@photostructure/sqlite`, which ships its binaries and has the interface of
 * `node:sqlite`, so that the built-in module can replace it here once every supported Node has a SQLite without the
 * write-ahead-log defect (see `versionMin` in boot.ts).
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
  // A long busy timeout would block the event loop; database.ts waits asynchronously.
  return new DatabaseSync(path, { timeout: 0, readOnly, enableForeignKeyConstraints: false })
}

/** The driver's `all` throws without a code; SQLite's message for each code is always the same. */
const codeOfSentence: ReadonlyMap<string, number> = new Map([
  ['access permission denied', primaryCode.permission],
  ['database is locked', primaryCode.busy],
  ['database table is locked', primaryCode.locked],
  ['attempt to write a readonly database', primaryCode.readOnly],
  ['disk I/O error', primaryCode.ioError],
  ['database disk image is malformed', primaryCode.corrupt],
  ['database or disk is full', primaryCode.full],
  ['unable to open database file', primaryCode.cannotOpen],
  ['file is not a database', primaryCode.notADatabase],
])

export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if ('errcode' in error) return Number((error as SqliteError).errcode) & 0xff
  return codeOfSentence.get(error.message) ?? null
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === primaryCode.busy || code === primaryCode.locked
}
