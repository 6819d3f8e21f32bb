import type { Part } from '../../part.ts'
import { drain } from './drain-queue.ts'
import { complete, park, release } from './end-lease.ts'
import { lease, reclaim } from './lease-runs.ts'
import { plan } from './plan-runs.ts'
import { renew, renewMany } from './renew-leases.ts'
import { reset } from './reset-runs.ts'
import { sweepClaims } from './sweep-claims.ts'

/** Outside hosts: programs that lease runs through a door, execute them and report how they ended. Its tables are the kernel's, whose rows name them. */
export const hosts = {
  name: 'hosts',
  sweeps: [sweepClaims],
  nouns: {
    sched: {
      says: 'Outside hosts: programs that are not workers and lease work through a door.',
      plural: 'sched',
      operations: { plan, lease, renew, renewMany, complete, release, park, reclaim, reset },
    },
    queue: { operations: { drain } },
  },
} as const satisfies Part
