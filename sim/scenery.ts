import type { EngineSettings } from '../src/engine/engine.ts'
import type { Random } from './random.ts'

/** What kind of world a seed makes: how large, how fast, and what goes wrong in it how often. */
export interface Scenery {
  readonly workersMax: number
  readonly settings: Partial<EngineSettings> & { readonly leaseMs: number }
  /** How long after one act of a person, and after one fault, the next one follows, on average. */
  readonly actMs: number
  readonly faultMs: number
  /** How many of a thousand calls of a worker meet each of these. */
  readonly callFaults: {
    readonly refused: number
    readonly unknown: number
    readonly dies: number
    readonly slow: number
  }
  /** The share of what is enqueued that comes from a program with a worker in it. */
  readonly enqueuedByWorkers: number
  readonly wakeLoss: number
  readonly wakeDoubling: number
  /** Others see writes as on a SQLite file, rather than being told as on PostgreSQL. */
  readonly isFileWatched: boolean
  /** What one process asks for happens in the order in which it asks, as on one SQLite connection. */
  readonly keepsOrder: boolean
  /** Whether dead workers can be proven dead, as on one machine. */
  readonly deathsAreSeen: boolean
  readonly clockJumps: boolean
  readonly schedulesMax: number
  readonly targetLengths: Readonly<Record<'instant' | 'short' | 'long' | 'endless', number>>
}

export function sceneryOf(random: Random): Scenery {
  const leaseMs = random.pick([1_000, 1_000, 1_000, 1_500, 1_500, 3_000, 10_000])
  const isRough = random.chance(0.5)
  const perThousand = (most: number) => (random.chance(0.7) ? random.between(0, isRough ? most : most / 4) : 0)
  return {
    workersMax: random.pick([1, 2, 2, 3, 3, 4, 5]),
    settings: {
      leaseMs,
      beatMs: random.pick([5_000, 20_000, 60_000]),
      pollMs: random.pick([1_000, 3_000, 10_000]),
      localDeathsMs: random.pick([2_000, 5_000]),
      reconcileMs: random.pick([5_000, 60_000]),
      leaveAfterMs: random.pick([100, 1_000, 5_000]),
    },
    actMs: leaseMs * random.pick([0.06, 0.15, 0.3, 0.6]),
    faultMs: leaseMs * random.pick([0.4, 1, 3]),
    callFaults: {
      refused: perThousand(60),
      unknown: perThousand(80),
      dies: perThousand(12),
      slow: perThousand(90),
    },
    enqueuedByWorkers: random.pick([0, 0.5, 1]),
    wakeLoss: random.pick([0, 0, 0.1, 0.5, 1]),
    wakeDoubling: random.pick([0, 0.1, 0.5]),
    isFileWatched: random.chance(0.5),
    keepsOrder: random.chance(0.5),
    deathsAreSeen: random.chance(0.5),
    clockJumps: random.chance(0.4),
    schedulesMax: random.pick([0, 1, 3, 6]),
    targetLengths: { ...random.swarm({ instant: 3, short: 3, long: 4, endless: 0.5 }), short: 2 },
  }
}
