/** What may have changed: runs in line, instants of schedules, or requests to cancel. */
export const newsKinds = ['work', 'schedules', 'cancels'] as const
export type NewsKind = (typeof newsKinds)[number]

export interface Wake {
  readonly from: 'here' | 'elsewhere'
  /** `anything`: it is unknown what another process changed. */
  readonly what: NewsKind | 'anything'
  /** The affected queues, where they are known. */
  readonly queues?: readonly string[]
}

export interface Listener {
  readonly heard: (wake: Wake) => void
  /** Called for a lone run while it is being enqueued. */
  readonly coming?: ((queue: string) => void) | undefined
}

/** The listeners in this process. */
export class Listeners {
  readonly #all = new Set<Listener>()

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Whether a listener wants `coming` calls. */
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

  /** The write is committed: a listener that throws neither undoes it nor keeps the notification from other listeners. */
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
