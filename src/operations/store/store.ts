import { doctor } from './doctor.ts'
import { importCrontab } from './import-crontab.ts'
import { importWorkflow } from './import-workflow.ts'
import { notices, notify, notifyTest } from './notify.ts'

/** The verbs of a store. An editor shows these comments at `belfry.store`; a test holds them to what the verb says. */
export const storeOperations = {
  /** Looks for everything that may keep work from being done, and with fix mends what is safe to mend. */
  doctor,
  /** Takes over what cool-workflow has: its policy, its queue and its tasks; what cannot be had is listed. */
  importWorkflow,
  /** Takes over a crontab: each line becomes a schedule that starts its command, and what cannot be had is listed. */
  importCrontab,
  /** Says who is told of what fails in the whole namespace, where no schedule or queue says it; null takes one away. */
  notify,
  /** Sends a test notification for each event that has a receiver, to check that it arrives. */
  notifyTest,
  /** Shows who is told of what fails in the whole namespace, and what was told last of each schedule and queue, a page at a time. */
  notices,
}
