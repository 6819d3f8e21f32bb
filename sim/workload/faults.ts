import type { Worker } from '../worker.ts'
import type { World } from '../world.ts'

/** How often each befalls a worker, the clock or all of them, against all others. */
const weights = {
  crash: 5,
  'short freeze': 3,
  'freeze past the lease': 6,
  'graceful stop': 4,
  'hasty stop': 3,
  deaf: 3,
  'store away': 3,
  'clock forwards': 3,
  'clock back': 3,
  'nobody for long': 1,
  'one more worker': 2,
} as const

type Fault = keyof typeof weights

const minuteMs = 60_000

/** What goes wrong besides single calls. */
export class Faults {
  readonly #world: World
  readonly #weights: Readonly<Record<Fault, number>>

  constructor(world: World) {
    this.#world = world
    this.#weights = world.random.swarm(weights)
  }

  begin(): void {
    const { random, scenery, timeline } = this.#world
    timeline.add(1 + random.waitMs(scenery.faultMs), null, 'fault', () => {
      if (this.#world.isCalm) return
      this.#befall(random.weighted(this.#weights))
      this.begin()
    })
  }

  #befall(fault: Fault): void {
    const { random, scenery, luck, timeline } = this.#world
    switch (fault) {
      case 'store away':
        this.#told(fault)
        luck.awayUntil = timeline.now + random.between(50, random.pick([500, 3 * scenery.settings.leaseMs]))
        break
      case 'clock forwards':
        this.#setClock(fault, 1)
        break
      case 'clock back':
        this.#setClock(fault, -1)
        break
      case 'nobody for long':
        this.#nobodyForLong()
        break
      case 'one more worker':
        this.#told(fault)
        this.#world.replace(0)
        break
      default:
        this.#befallWorker(fault)
        break
    }
  }

  #befallWorker(fault: Exclude<Fault, 'store away' | `clock ${string}` | 'nobody for long' | 'one more worker'>): void {
    const { random, scenery } = this.#world
    const { leaseMs } = scenery.settings
    const victim = this.#victim()
    if (victim === undefined) return
    this.#told(fault)
    switch (fault) {
      case 'crash':
        this.#world.crash(victim, 'all of a sudden')
        break
      case 'short freeze':
        this.#freeze(victim, random.between(10, leaseMs / 2))
        break
      case 'freeze past the lease':
        this.#freeze(victim, random.between(leaseMs / 2, 4 * leaseMs))
        break
      case 'graceful stop':
        victim.stop(this.#world, random.between(100, 2 * leaseMs))
        break
      case 'hasty stop':
        victim.stop(this.#world, random.pick([0, 0, 50]))
        break
      case 'deaf':
        this.#deafen(victim)
        break
    }
  }

  #told(fault: Fault): void {
    this.#world.history.count(`fault: ${fault}`)
    this.#world.history.note(fault)
  }

  /** Whoever is at work has more to lose. */
  #victim(): Worker | undefined {
    const { random, witness, workers, timeline } = this.#world
    const awake = workers.filter(({ frozenUntil }) => frozenUntil <= timeline.now)
    if (awake.length === 0) return undefined
    const busy = new Set(witness.running().map(({ process }) => process))
    const atWork = awake.filter((worker) => busy.has(worker))
    return random.pick(atWork.length > 0 && random.chance(0.8) ? atWork : awake)
  }

  #setClock(fault: Fault, direction: 1 | -1): void {
    const { random, scenery, clock, books } = this.#world
    if (!scenery.clockJumps) return
    this.#told(fault)
    const ms = random.pick([700, 5_000, scenery.settings.leaseMs, 90_000, random.between(1, 180) * minuteMs])
    clock.jump(direction * ms)
    books.clockWasSet(clock.now())
    for (const process of this.#world.processes) {
      if (process.unseenJumpMs !== null) process.unseenJumpMs += direction * ms
    }
    this.#world.history.note(`by ${direction * ms} ms`)
  }

  #freeze(worker: Worker, ms: number): void {
    this.#world.note(worker, `is frozen for ${ms} ms`)
    worker.frozenUntil = this.#world.timeline.now + ms
    worker.troubledAt = worker.frozenUntil
  }

  #deafen(worker: Worker): void {
    const { random, timeline } = this.#world
    worker.isDeaf = true
    worker.knowsItIsDeaf = random.chance(0.5)
    timeline.add(random.between(500, 10_000), worker, 'hears again', () => {
      worker.isDeaf = false
    })
  }

  /** Everybody is gone, and for so long that occurrences are missed. */
  #nobodyForLong(): void {
    const { workers, random } = this.#world
    if (workers.length === 0) return
    this.#told('nobody for long')
    const forMs = random.pick([random.between(1, 90) * 1_000, random.between(2, 60) * minuteMs])
    for (const worker of workers) this.#world.crash(worker, 'with all others', forMs)
  }
}
