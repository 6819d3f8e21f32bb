import type { Wake } from '../src/store/port.ts'
import type { Call } from './faulty-store.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/**
 * How wake-ups travel. A process hears of its own writes with their answers. Others hear as on PostgreSQL, where the
 * writer tells them after its commit and a dead one tells nobody; or as on a SQLite file, where they see that somebody
 * has written. On the way a wake-up may be lost or come twice.
 */
export class Wakes {
  readonly #world: World
  #news: Wake[] = []
  readonly #newsOf = new WeakMap<Call, readonly Wake[]>()
  #underWay: Call | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** The real store tells everything to this one listener; who wrote is known by whose call is under way. */
  hear(wake: Wake): void {
    this.#news.push(wake)
  }

  begin(call: Call): void {
    this.#news = []
    this.#underWay = call
  }

  end(): void {
    const call = this.#underWay
    this.#underWay = null
    if (call === null) return
    this.#newsOf.set(call, this.#news)
  }

  /** Somebody has changed the file, which is all that those see who look at it. */
  changed(process: Process): void {
    if (this.#world.scenery.isFileWatched) this.#send(process, 250)
  }

  newsOf(call: Call): readonly Wake[] {
    const news = this.#newsOf.get(call) ?? []
    if (news.length > 0) this.toOthers(call.process)
    return news
  }

  toOthers(process: Process): void {
    if (!this.#world.scenery.isFileWatched) this.#send(process, 20)
  }

  #send(from: Process, lateMsMax: number): void {
    const { processes, random, history, scenery } = this.#world
    for (const process of processes) {
      if (process === from || process.isGone || process.ears.size === 0) continue
      if (process.isDeaf || random.chance(scenery.wakeLoss)) {
        history.count('fault: wake-up lost')
        continue
      }
      // As in the world: who has not heard yet hears of all that happened meanwhile in one.
      if (process.isCalled) continue
      const isDoubled = random.chance(scenery.wakeDoubling)
      if (isDoubled) history.count('fault: wake-up doubled')
      this.#call(process, random.between(1, lateMsMax))
      if (isDoubled) this.#call(process, random.between(1, lateMsMax))
    }
  }

  #call(process: Process, afterMs: number): void {
    process.isCalled = true
    this.#world.timeline.add(afterMs, process, 'wake', () => {
      process.isCalled = false
      process.hear({ from: 'elsewhere', what: 'anything' })
    })
  }
}
