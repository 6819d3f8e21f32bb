import { doctor } from './doctor.ts'

/** The verbs of a store. */
export const storeOperations = {
  doctor,
}
