import { doctor } from './doctor.ts'

/** The verbs of a store. An editor shows these comments at `belfry.store`; a test holds them to what the verb says. */
export const storeOperations = {
  /** Looks for everything that may keep work from being done, and with fix mends what is safe to mend. */
  doctor,
}
