import { BelfryError } from '../../core/error.ts'
import { metOthers, StepAgain } from '../statement.ts'
import { primaryCode, sqliteCode } from './driver.ts'

/** Gives the errors a person can act on a sentence; what is left is a defect and stays as it is. */
export function explained(error: unknown, place: string): unknown {
  switch (sqliteCode(error)) {
    case primaryCode.full:
      return new BelfryError('unavailable', `The disk of ${place} is full; nothing was written.`, {
        hint: 'Free some space; work goes on by itself.',
        cause: error,
      })
    case primaryCode.busy:
    case primaryCode.locked:
      return new BelfryError('unavailable', `${place} is being written to by another process; nothing was written.`, {
        hint: "Begin your own transactions with 'begin immediate', or try again.",
        cause: error,
      })
    case primaryCode.readOnly:
      return new BelfryError('unavailable', `${place} may not be written to.`, {
        hint: 'Give this user the right to write the file and its folder.',
        cause: error,
      })
    case primaryCode.ioError:
      return new BelfryError('unavailable', `The disk of ${place} did not do what it was asked; nothing was written.`, {
        hint: 'Look at the machine’s disk and its logs.',
        cause: error,
      })
    case primaryCode.corrupt:
    case primaryCode.notADatabase:
      return damaged(place, error)
    default:
      return error instanceof StepAgain ? metOthers(error.message, error) : error
  }
}

/** What was read cannot be what was written. `details` tells it from a store that is away and may come back. */
function damaged(place: string, cause: unknown): BelfryError {
  return new BelfryError('unavailable', `${place} is damaged: ${(cause as Error).message}.`, {
    hint: 'Stop all workers, keep a copy of the file, and restore it from a backup.',
    details: { damaged: true },
    cause,
  })
}
