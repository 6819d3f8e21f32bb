import { BelfryError } from '../core/error.ts'

/** Whether an error is meant for the caller, who can act on it. */
export function isForeseen(thrown: unknown): thrown is BelfryError {
  return thrown instanceof BelfryError && thrown.code !== 'failure'
}

/** An error as it may leave the machine. An unexpected error is replaced: its text may contain anything. */
export function forStrangers(thrown: unknown): BelfryError {
  if (isForeseen(thrown)) return thrown
  return new BelfryError('failure', 'An unexpected error occurred; see the log of the server.', {
    cause: thrown,
  })
}
