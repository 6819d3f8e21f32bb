import { explain } from './explain-schedule.ts'
import { clearHints, hint } from './hint-operations.ts'
import { pause, remove, reset, resume, run, test } from './schedule-control.ts'
import { get, hints, history, list, next, versions } from './schedule-reads.ts'
import { create, put, revert, update } from './schedule-writes.ts'

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
  test,
  next,
  explain,
  history,
  hint,
  clearHints,
  hints,
  versions,
}
