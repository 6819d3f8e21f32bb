import { events, get, list } from './routine-reads.ts'
import { create, disable, enable, remove } from './routine-writes.ts'
import { fire } from './take-event.ts'

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
