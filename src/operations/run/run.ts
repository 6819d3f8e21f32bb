import { enqueue, enqueueMany } from './enqueue.ts'
import { explain } from './explain.ts'
import { attempts, get, list, output } from './look.ts'
import { cancel, reprioritise, reset, retry } from './steer.ts'
import { wait } from './wait.ts'

/** The verbs of a run. An editor shows these comments at `belfry.runs`; a test holds them to what the verb says. */
export const runOperations = {
  /** Takes work in, once for each idempotency key; other work under a key that was used is a conflict. */
  enqueue,
  /** Takes much work in at once: bad input refuses all of it, a conflict only its own item. */
  enqueueMany,
  /** Shows a run with all that was kept of it; with wait once it has ended or is parked. */
  get,
  /** Tells why a run was planned, what became of it, and what it waits for, by the functions that the engine asks. */
  explain,
  /** Lists runs by when they were made, newest first, a page at a time; ended and parked ones by when they ended or were parked, ready ones in the order in which they start. */
  list,
  /** Tells how the attempts of a run ended. */
  attempts,
  /** Shows what a run, or one attempt of it, has put out so far. */
  output,
  /** Answers with the run once it has ended or is parked. */
  wait,
  /** Ends a run that nobody has leased, and asks the worker of a leased one to end it. */
  cancel,
  /** Makes a new run of one that has ended; a parked one is reset. */
  retry,
  /** Gives a run that nobody has leased another place in its queue. */
  reprioritise,
  /** Gives a parked run its whole budget back, so that it goes on. */
  reset,
}
