import { BelfryError } from '../../core/error.ts'
import { metOthers, StepAgain } from '../statement.ts'
import { primaryCode, sqliteCode } from './driver.ts'

/** Replaces errors that a person can act on by a clear message; any other error is a defect and stays as it is. */
export function explained(error: unknown, place: string): unknown {
  switch (sqliteCode(error)) {
    case primaryCode.full:
      return new BelfryError('unavailable', `The disk of ${place} is full; nothing was written.`, {
        hint: 'Free some space; Belfry then continues by itself.',
        cause: error,
      })
    case primaryCode.busy:
    case primaryCode.locked:
      return new BelfryError('unavailable', `${place} is being written to by another process; nothing was written.`, {
        hint: "Begin your own transactions with 'begin immediate', or try again.",
        cause: error,
      })
    case primaryCode.readOnly:
      return new BelfryError('unavailable', `${place} is not writable.`, {
        hint: 'Give this user the right to write the file and its folder.',
        cause: error,
      })
    case primaryCode.ioError:
      return new BelfryError('unavailable', `The disk of ${place} reported an I/O error; nothing was written.`, {
        hint: 'Check the machine’s disk and its logs.',
        cause: error,
      })
    case primaryCode.corrupt:
    case primaryCode.notADatabase:
      return damaged(place, error)
    default:
      return error instanceof StepAgain ? metOthers(error.message, error) : error
  }
}

/** The file is damaged. `details` tells it from a store that is unreachable and may come back. */
function damaged(place: string, cause: unknown): BelfryError {
  return new BelfryError('unavailable', `${place} is damaged: ${(cause as Error).message}.`, {
    hint: 'Stop all workers, keep a copy of the file, and restore it from a backup.',
    details: { damaged: true },
    cause,
  })
}
