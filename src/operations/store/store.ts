import { doctor } from './doctor.ts'
import { importCrontab } from './import-crontab.ts'
import { importWorkflow } from './import-workflow.ts'

/** The verbs of a store. An editor shows these comments at `belfry.store`; a test holds them to what the verb says. */
export const storeOperations = {
  /** Looks for everything that may keep work from being done, and with fix mends what is safe to mend. */
  doctor,
  /** Takes over what cool-workflow has: its policy, its queue and its tasks; what cannot be had is listed. */
  importWorkflow,
  /** Takes over a crontab: each line becomes a schedule that starts its command, and what cannot be had is listed. */
  importCrontab,
}
