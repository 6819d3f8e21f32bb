import { BelfryError } from '../core/error.ts'

/** Whether an error was meant for whoever asked: he can do something about it. */
export function isForeseen(thrown: unknown): thrown is BelfryError {
  return thrown instanceof BelfryError && thrown.code !== 'failure'
}

/** What was thrown, as it may leave the machine. What nobody foresaw says no more than that: what it says may be anybody's. */
export function forStrangers(thrown: unknown): BelfryError {
  if (isForeseen(thrown)) return thrown
  return new BelfryError('failure', 'Something went wrong that nobody foresaw; the log of the server tells what.', {
    cause: thrown,
  })
}
