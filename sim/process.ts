import type { Clock } from '../src/core/clock.ts'
import type { Listener } from '../src/store/news.ts'
import type { Store, Wake } from '../src/store/port.ts'
import { ProcessClock } from './clock.ts'
import { type Call, faultyStore } from './faulty-store.ts'
import type { Owner } from './timeline.ts'
import type { World } from './world.ts'

/**
 * A process of this world: it has clocks of its own and sees the store through a wrapper that can fail it. When it is
 * gone nothing answers it any more; while it is frozen all that comes for it waits.
 */
export class Process implements Owner {
  readonly name: string
  readonly clock: Clock
  readonly store: Store
  /** The ids under which it is or was known to the store as a worker. */
  readonly workerIds = new Set<number>()
  /** Calls that were made and not answered. */
  readonly calls = new Set<Call>()
  readonly ears = new Set<Listener>()
  /** A lone run that it asked for in this turn of the event loop. */
  arrival: Call | null = null
  isGone = false
  frozenUntil = 0
  /** Wake-ups do not reach it; whether it knows that is another matter. */
  isDeaf = false
  knowsItIsDeaf = false
  /** When it was last frozen, or a call that its leases hang on went wrong or took long. */
  troubledAt = Number.NEGATIVE_INFINITY
  /** How far the store's clock was set since it last heard what time it is; nothing before it first did. */
  unseenJumpMs: number | null = null
  /** When it last heard a time that nobody can take for the next one. */
  jumpSeenAt = Number.NEGATIVE_INFINITY
  /** When the last of its calls takes effect. */
  lastEffectAt = 0
  /** A wake-up is on its way to it. */
  isCalled = false

  constructor(world: World, name: string) {
    this.name = name
    this.clock = new ProcessClock(world.timeline, world.random, this)
    this.store = faultyStore(world, this)
  }

  hear(wake: Wake): void {
    for (const { heard } of [...this.ears]) heard(wake)
  }

  get awaitsArrivals(): boolean {
    return [...this.ears].some(({ coming }) => coming !== undefined)
  }

  hearComing(queue: string): void {
    for (const { coming } of [...this.ears]) coming?.(queue)
  }

  /** From here on nothing answers it. What it asked of the store may still take effect there. */
  die(): void {
    this.isGone = true
    this.ears.clear()
    this.calls.clear()
    this.arrival = null
  }
}
