import { complete, park, release } from './end.ts'
import { lease, reclaim } from './lease.ts'
import { plan } from './plan.ts'
import { renew, renewMany } from './renew.ts'
import { reset } from './reset.ts'

/** The verbs of outside hosts. An editor shows these comments at `belfry.sched`; a test holds them to what the verb says. */
export const schedOperations = {
  /** Tells who would be handed out now, and why the others would not; changes nothing. */
  plan,
  /** Hands out the next runs of a queue to an outside host, never past its ceilings. */
  lease,
  /** Makes a lease last for its whole time from now, and tells whether its end was asked for. */
  renew,
  /** Renews many leases at once; each has its own answer. */
  renewMany,
  /** Ends a lease: the run is done. */
  complete,
  /** Gives a run back: cleanly, for anybody to take at once, or as failed. */
  release,
  /** Sets a run aside for a person; it goes on when somebody resets it. */
  park,
  /** Takes back leases of a queue that have expired; their runs are tried again, or park. */
  reclaim,
  /** Gives parked runs their whole budget back: those named, or those of a queue, a schedule or a reason. */
  reset,
}
