import { type Dials, pause, systemClock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { checkIntegrity, configure, forgetOpenings, noteOpening, prepareFile, unwritable } from './boot.ts'
import { SqliteDatabase } from './database.ts'
import { isBusy, openHandle, primaryCode, type SqliteHandle, sqliteCode } from './driver.ts'
import { markIfNew } from './mark.ts'

const setUpTriesMax = 2_000
const setUpWaitMs = 5

/** Opens a file with the durability checks; creates it where there is none. */
export async function openSqliteFile(path: string, clock: Dials = systemClock): Promise<SqliteDatabase> {
  const file = prepareFile(path)
  let handle: SqliteHandle | undefined
  try {
    handle = openHandle(file)
    return await setUp(handle, file, clock)
  } catch (error) {
    handle?.close()
    throw explained(file, error)
  }
}

async function setUp(handle: SqliteHandle, file: string, clock: Dials): Promise<SqliteDatabase> {
  await whenFree(() => configure(handle, file))
  const { mine, leftOpen } = await whenFree(() => inTransaction(handle, () => opened(handle, file)))
  // Processes that did not close the file stay recorded until it has been found sound.
  if (leftOpen.length > 0) {
    await checkIntegrity(file)
    await whenFree(() => inTransaction(handle, () => forgetOpenings(handle, leftOpen)))
  }
  return new SqliteDatabase(handle, file, clock, () => forgetOpenings(handle, mine === null ? [] : [mine]))
}

function opened(handle: SqliteHandle, file: string): ReturnType<typeof noteOpening> {
  markIfNew(handle, file)
  return noteOpening(handle)
}

/** A store that lives as long as its handle in this process. */
export function openSqliteMemory(clock: Dials = systemClock): SqliteDatabase {
  const handle = openHandle(':memory:')
  configure(handle, 'memory:')
  return new SqliteDatabase(handle, 'memory:', clock)
}

function inTransaction<Result>(handle: SqliteHandle, work: () => Result): Result {
  handle.exec('begin immediate')
  try {
    const result = work()
    handle.exec('commit')
    return result
  } catch (error) {
    if (handle.isTransaction) handle.exec('rollback')
    throw error
  }
}

/** Other processes may be opening, migrating or writing; all of them are quick. */
async function whenFree<Result>(attempt: () => Result): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || tries >= setUpTriesMax) throw error
    }
    await pause(systemClock, Math.random() * setUpWaitMs)
  }
}

/** Replaces errors that a person can act on by a clear message; any other error is a defect and stays as it is. */
function explained(file: string, error: unknown): unknown {
  switch (sqliteCode(error)) {
    case primaryCode.corrupt:
    case primaryCode.notADatabase:
      return new BelfryError('unavailable', `${file} is not a readable SQLite database: ${(error as Error).message}.`, {
        hint: 'Restore it from a backup, or name another store.',
        details: { damaged: true },
        cause: error,
      })
    case primaryCode.permission:
    case primaryCode.readOnly:
    case primaryCode.ioError:
    case primaryCode.full:
    case primaryCode.cannotOpen:
      return unwritable(file, error as Error)
    case primaryCode.busy:
    case primaryCode.locked:
      return new BelfryError('unavailable', `${file} stayed locked by another process while it was being opened.`, {
        hint: 'A program that keeps a write transaction open on this file must finish first.',
        cause: error,
      })
    default:
      return error
  }
}
