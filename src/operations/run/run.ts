import { enqueue, enqueueMany } from './enqueue.ts'
import { explain } from './explain.ts'
import { attempts, get, list, output } from './look.ts'
import { cancel, reprioritise, reset, retry } from './steer.ts'
import { wait } from './wait.ts'

/** The verbs of a run. */
export const runOperations = {
  enqueue,
  enqueueMany,
  get,
  explain,
  list,
  attempts,
  output,
  wait,
  cancel,
  retry,
  reprioritise,
  reset,
}
