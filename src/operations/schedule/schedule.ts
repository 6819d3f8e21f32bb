import { backfill } from './backfill.ts'
import { explain } from './explain.ts'
import { get, hints, history, list, next, versions } from './look.ts'
import { clearHints, hint, pause, remove, reset, resume, run } from './steer.ts'
import { create, put, revert, update } from './write.ts'

/** The verbs of a schedule. An editor shows these comments at `belfry.schedules`; a test holds them to what the verb says. */
export const scheduleOperations = {
  /** Creates a schedule; the same again changes nothing, and a name that has another spec is refused. */
  create,
  /** Creates a schedule, or makes the one that has its name be like this; says what changed. */
  put,
  /** Changes what is named of a schedule: null takes a field away, and a new timing replaces the old one. */
  update,
  /** Makes a schedule say again what an earlier version of it said; by default the one before. */
  revert,
  /** Shows a schedule by its name, and a deleted one by its id. */
  get,
  /** Lists schedules by name, a page at a time; deleted ones by id. */
  list,
  /** Deletes a schedule, whose name is free at once; what is at work finishes unless it is to be cancelled. */
  delete: remove,
  /** Stops a schedule for a while, until an instant, or until it is resumed; what is at work finishes. */
  pause,
  /** Ends every pause of a schedule; what passed meanwhile is not made up for. */
  resume,
  /** Sets the failures in a row of a schedule to 0 and plans its next run at once; a pause stays. */
  reset,
  /** Makes a run of a schedule now, beside its occurrences; a live run is in its way as the overlap rule says. */
  run,
  /** Makes runs for the instants of a schedule in a stretch of the past, each of them once, beside its occurrences. */
  backfill,
  /** Shows the occurrences to come, by the function that the engine asks. */
  next,
  /** Tells why a schedule runs next when it does, or why it does not, by asking the governor again. */
  explain,
  /** Tells how the occurrences of a schedule ended, newest first. */
  history,
  /** Gives a schedule a hint that counts for a while, in place of the one of its kind. */
  hint,
  /** Takes hints away; the schedule goes on as if they had never been given. */
  clearHints,
  /** Lists the hints that a schedule was given, newest first. */
  hints,
  /** Tells what a schedule said, when and by whom, newest first. */
  versions,
}
