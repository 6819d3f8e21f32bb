/** What may have changed: runs in line, instants of schedules, or requests to cancel. */
export const newsKinds = ['work', 'schedules', 'cancels'] as const
export type NewsKind = (typeof newsKinds)[number]

export interface Wake {
  readonly from: 'here' | 'elsewhere'
  /** Anything, where it is unknown what another process has done. */
  readonly what: NewsKind | 'anything'
  /** The queues it is about, where that is known. */
  readonly queues?: readonly string[]
}

export interface Listener {
  readonly heard: (wake: Wake) => void
  /** Called for a lone run while it is on its way into a queue. */
  readonly coming?: ((queue: string) => void) | undefined
}

/** The listeners in this process that want to know when something may start sooner. */
export class Listeners {
  readonly #all = new Set<Listener>()

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Whether a listener wants to know of runs on their way. */
  get awaitArrivals(): boolean {
    return [...this.#all].some(({ coming }) => coming !== undefined)
  }

  add(listener: Listener): void {
    this.#all.add(listener)
  }

  delete(listener: Listener): void {
    this.#all.delete(listener)
  }

  tell(wake: Wake): void {
    this.#each(({ heard }) => heard(wake))
  }

  tellComing(queue: string): void {
    this.#each(({ coming }) => coming?.(queue))
  }

  /** What was written is written: a listener that throws neither undoes it nor keeps the others from hearing of it. */
  #each(tell: (listener: Listener) => void): void {
    for (const listener of this.#all) {
      try {
        tell(listener)
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error))
      }
    }
  }
}
