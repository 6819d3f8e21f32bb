import { fire } from './fire.ts'
import { events, get, list } from './look.ts'
import { create, disable, enable, remove } from './write.ts'

/** The verbs of a routine. An editor shows these comments at `belfry.routines`; a test holds them to what the verb says. */
export const routineOperations = {
  /** Makes a routine; the same again changes nothing, and a name that has another spec is refused. */
  create,
  /** Shows a routine. */
  get,
  /** Lists routines by name, a page at a time. */
  list,
  /** Takes an event in for a routine, as if it had been sent; what it says is handed on as data. */
  fire,
  /** Tells what came in for a routine and what became of it, newest first, a page at a time. */
  events,
  /** Deletes a routine, whose name is free at once; the runs that it made go on. */
  delete: remove,
  /** Lets a routine take events again; those that came meanwhile are not made up for. */
  enable,
  /** Keeps a routine from making anything of events until it is enabled; they are written down all the same. */
  disable,
}
