import type { PolicyPatch } from '../../src/store/port.ts'
import type { Random } from '../random.ts'

export const queueNames = ['default', 'narrow', 'wide'] as const

/** Small ceilings, short waits and short memories: where something happens all the time. */
export function drawQueueChange(random: Random): PolicyPatch {
  const backoffBaseMs = random.pick([0, 0, 50, 1_000])
  return {
    maxConcurrent: random.between(1, 4),
    maxConcurrentPerKey: random.chance(0.5) ? random.between(1, 2) : null,
    maxAttempts: random.pick([1, 2, 3, 5, 8]),
    backoffBaseMs,
    backoffFactor: random.pick([1, 2]),
    backoffCapMs: backoffBaseMs + random.pick([0, 500, 4_000]),
    rateLimit: random.chance(0.2) ? { startsMax: random.between(1, 5), perMs: random.between(200, 2_000) } : null,
    onExhausted: random.pick(['park', 'fail', null]),
    retention: {
      completedMs: random.pick([0, 1_000, 60_000, 86_400_000]),
      failedMs: random.pick([0, 1_000, 60_000, 86_400_000]),
      ledgerMs: random.pick([0, 10_000, 86_400_000]),
      endedRunsMax: random.pick([0, 5, 1_000]),
      parkedMs: random.pick([null, null, 5_000]),
    },
  }
}
