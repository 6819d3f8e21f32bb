import { fire } from './fire.ts'
import { events, get, list } from './look.ts'
import { create, disable, enable, remove } from './write.ts'

/** The verbs of a routine. */
export const routineOperations = {
  create,
  get,
  list,
  fire,
  events,
  delete: remove,
  enable,
  disable,
}
