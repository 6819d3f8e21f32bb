import type { Wake } from './port.ts'

/** Those in this process who want to know when something may start sooner. */
export class Listeners {
  readonly #all = new Set<(wake: Wake) => void>()

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  add(heard: (wake: Wake) => void): void {
    this.#all.add(heard)
  }

  delete(heard: (wake: Wake) => void): void {
    this.#all.delete(heard)
  }

  /** What was written is written: a listener that throws neither undoes it nor keeps the others from hearing of it. */
  tell(wake: Wake): void {
    for (const heard of this.#all) {
      try {
        heard(wake)
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error))
      }
    }
  }
}
