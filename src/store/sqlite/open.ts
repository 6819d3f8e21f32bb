import { type Clock, systemClock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { checkIntegrity, configure, forgetOpenings, isUnreadable, noteOpening, prepareFile } from './boot.ts'
import { SqliteDatabase } from './database.ts'
import { isBusy, openHandle, type SqliteHandle } from './driver.ts'

const setUpTriesMax = 2_000
const setUpWaitMs = 5

/** Opens a file, with the checks that a store people rely on must pass; creates it where there is none. */
export async function openSqliteFile(path: string, clock: Clock = systemClock): Promise<SqliteDatabase> {
  const file = prepareFile(path)
  const handle = openHandle(file)
  try {
    await whenFree(() => configure(handle, file))
    const { mine, leftOpen } = await whenFree(() => inTransaction(handle, () => noteOpening(handle)))
    // Those that did not close the file stay on record until it has been found sound.
    if (leftOpen.length > 0) await checkIntegrity(file)
    await whenFree(() => inTransaction(handle, () => forgetOpenings(handle, leftOpen)))
    return new SqliteDatabase(handle, file, clock, () => forgetOpenings(handle, mine === null ? [] : [mine]))
  } catch (error) {
    handle.close()
    throw isUnreadable(error) ? unreadable(file, error) : error
  }
}

/** A store that lives as long as its process's handle to it. */
export function openSqliteMemory(clock: Clock = systemClock): SqliteDatabase {
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

/** Others may be opening, migrating or writing; all of them are quick. */
async function whenFree<Result>(attempt: () => Result): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || tries >= setUpTriesMax) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * setUpWaitMs))
  }
}

function unreadable(file: string, error: unknown): BelfryError {
  return new BelfryError('unavailable', `${file} is not a readable SQLite database: ${(error as Error).message}.`, {
    hint: 'Restore it from a backup, or name another store.',
    cause: error,
  })
}
