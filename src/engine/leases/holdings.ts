import type { Lease, LeaseName } from '../../store/port.ts'
import type { StopReason } from '../../targets/attempt.ts'

/** A lease that this worker holds, from the lease's answer until its end has been written. */
export class Holding {
  readonly lease: Lease
  /** By the monotonic clock: after this instant another worker may have the run, so this worker stops it. */
  trustedUntil: number
  /** How long it lasts from each renewal on. */
  leaseMs: number
  /** Why it was told to stop, of several reasons the first. */
  stopped: StopReason | null = null
  /** Told once, when it is told to stop. */
  whenStopped: (() => void) | null = null
  /** Nothing is to be written of it any more: the store has given the run away, or this worker has given it up. */
  isLost = false
  /** Its executor has answered; what is left to do is to write its end. */
  isOver = false
  /** Its end is being written, so a renewal that does not find it means nothing. */
  isSettling = false
  /** A commit of its end broke off: only who writes it again will learn whether it is there. */
  isInDoubt = false
  #controller: AbortController | null = null

  constructor(lease: Lease, trustedUntil: number, leaseMs: number) {
    this.lease = lease
    this.trustedUntil = trustedUntil
    this.leaseMs = leaseMs
  }

  /** Made for the first who asks: a signal costs more than all else of a short attempt, and few look at it. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.stopped !== null) this.#controller.abort(this.stopped)
    }
    return this.#controller.signal
  }

  stop(reason: StopReason): void {
    this.stopped = reason
    this.whenStopped?.()
    this.#controller?.abort(reason)
  }
}

/** All that this worker holds. Its size is what the worker's slots are counted by. */
export class Holdings {
  readonly #held = new Set<Holding>()
  /** Made when a holding is looked up by name, which is rare, and dropped with every change, which is not. */
  #byName: Map<string, Holding> | null = null
  readonly #waiting = new Set<() => void>()

  get size(): number {
    return this.#held.size
  }

  add(lease: Lease, trustedUntil: number, leaseMs: number): Holding {
    const holding = new Holding(lease, trustedUntil, leaseMs)
    this.#held.add(holding)
    this.#byName = null
    return holding
  }

  get(name: LeaseName): Holding | undefined {
    this.#byName ??= new Map(this.all().map((holding) => [nameOf(holding.lease), holding]))
    return this.#byName.get(nameOf(name))
  }

  over(holding: Holding): void {
    holding.isOver = true
    this.#tell()
  }

  remove(holding: Holding): void {
    this.#held.delete(holding)
    this.#byName = null
    this.#tell()
  }

  all(): Holding[] {
    return [...this.#held]
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
  holding.stop(reason)
  return true
}

function nameOf({ runId, fence }: LeaseName): string {
  return `${runId} ${fence}`
}
