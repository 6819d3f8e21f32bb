import { enqueue, enqueueMany } from './enqueue-runs.ts'
import { explain } from './explain-run.ts'
import { cancel, reprioritise, reset, retry } from './run-control.ts'
import { attempts, get, list, output } from './run-reads.ts'
import { wait } from './wait.ts'

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
