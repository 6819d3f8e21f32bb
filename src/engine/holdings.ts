import type { Lease, LeaseName } from '../store/port.ts'
import type { StopReason } from '../targets/executor.ts'

/** A lease that this worker holds, from the lease's answer until its end has been written. */
export interface Holding {
  readonly lease: Lease
  readonly controller: AbortController
  /** By the monotonic clock: after this instant somebody else may be at the run, so this worker stops it. */
  trustedUntil: number
  /** Why it was told to stop, of several reasons the first. */
  stopped: StopReason | null
  /** Nothing is to be written of it any more: the store has given the run away, or this worker has given it up. */
  isLost: boolean
  /** Its executor has answered; what is left to do is to write its end. */
  isOver: boolean
  /** Its end is being written, so a renewal that does not find it means nothing. */
  isSettling: boolean
}

/** All that this worker holds. Its size is what the worker's slots are counted by. */
export class Holdings {
  readonly #held = new Map<string, Holding>()
  readonly #waiting = new Set<() => void>()

  get size(): number {
    return this.#held.size
  }

  add(lease: Lease, trustedUntil: number): Holding {
    const holding: Holding = {
      lease,
      controller: new AbortController(),
      trustedUntil,
      stopped: null,
      isLost: false,
      isOver: false,
      isSettling: false,
    }
    this.#held.set(nameOf(lease), holding)
    return holding
  }

  get(name: LeaseName): Holding | undefined {
    return this.#held.get(nameOf(name))
  }

  over(holding: Holding): void {
    holding.isOver = true
    this.#tell()
  }

  remove(name: LeaseName): void {
    this.#held.delete(nameOf(name))
    this.#tell()
  }

  all(): Holding[] {
    return [...this.#held.values()]
  }

  /** Resolves when nothing is held. */
  empty(): Promise<void> {
    return this.#when(() => this.#held.size === 0)
  }

  /** Resolves when no executor is at work; ends may still have to be written. */
  still(): Promise<void> {
    return this.#when(() => this.all().every(({ isOver }) => isOver))
  }

  async #when(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
  }

  #tell(): void {
    if (this.#waiting.size === 0) return
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

/**
 * Tells an attempt to stop, and answers whether there was anything to stop. The first reason stands, because it is the one
 * that its executor has heard; one that has come to its end by itself is not stopped by what comes after.
 */
export function stopHolding(holding: Holding, reason: StopReason): boolean {
  if (holding.stopped !== null || holding.isOver) return false
  holding.stopped = reason
  holding.controller.abort(reason)
  return true
}

function nameOf({ runId, fence }: LeaseName): string {
  return `${runId} ${fence}`
}
