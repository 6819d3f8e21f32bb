import { explain } from './explain.ts'
import { get, hints, history, list, next, versions } from './look.ts'
import { clearHints, hint, pause, remove, reset, resume, run } from './steer.ts'
import { create, put, revert, update } from './write.ts'

/** The verbs of a schedule. */
export const scheduleOperations = {
  create,
  put,
  update,
  revert,
  get,
  list,
  delete: remove,
  pause,
  resume,
  reset,
  run,
  next,
  explain,
  history,
  hint,
  clearHints,
  hints,
  versions,
}
