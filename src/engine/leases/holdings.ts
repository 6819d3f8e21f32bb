import type { AgentState } from '../../core/agent/agent-state.ts'
import type { Usage, UsageCap } from '../../core/run/usage.ts'
import type { Utilisation } from '../../core/run/utilisation.ts'
import type { Lease, LeaseName, RenewedLease } from '../../store/port.ts'
import type { StopReason } from '../../targets/attempt.ts'

/** A lease that this worker holds, from the answer to `lease` until its end is written. */
export class Holding {
  readonly lease: Lease
  /** By the monotonic clock: after this instant another worker may have the run, so this worker stops it. */
  trustedUntil: number
  /** How long it lasts from each renewal on. */
  leaseMs: number
  /** How long the attempt may take to finish when the worker stops, if its kind gets longer than others; else 0. */
  graceMs = 0
  /** How much longer than others the attempt may take to stop. */
  stopMs = 0
  /** Why the attempt was told to stop; the first reason counts. */
  stopped: StopReason | null = null
  /** Called once, when the attempt is told to stop. */
  whenStopped: (() => void) | null = null
  /** Nothing more is written for the attempt: the store has reclaimed the run, or this worker has given it up. */
  isLost = false
  /** A part must see the end of the attempt. */
  isWatched = false
  /** What the attempt has reported as used. */
  usage: Usage | null = null
  /** How much of its account's limits is used, as the attempt reported it. */
  utilisation: Utilisation[] | null = null
  /** What the attempt is doing, as it reported it. */
  state: AgentState | null = null
  /** The account that the attempt uses. */
  account: string | null = null
  /** The caps of the attempt, and how it has exceeded them. */
  caps: readonly UsageCap[] = []
  overCap: string | null = null
  /** The executor has answered; only the end of the attempt must still be written. */
  isOver = false
  /** The end is being written, so a renewal that does not find the lease means nothing. */
  isSettling = false
  /** The commit of its end has an unknown result: only another settle will learn whether it is written. */
  isInDoubt = false
  #controller: AbortController | null = null

  constructor(lease: Lease, trustedUntil: number, leaseMs: number) {
    this.lease = lease
    this.trustedUntil = trustedUntil
    this.leaseMs = leaseMs
  }

  /** Created at the first use: a signal costs more than all else of a short attempt, and few handlers use it. */
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

/** All leases that this worker holds. Their number counts against the worker's slots. */
export class Holdings {
  readonly #held = new Set<Holding>()
  /** Built at a lookup by name, which is rare, and dropped at every change, which is frequent. */
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

  empty(): Promise<void> {
    return this.#when(() => this.#held.size === 0)
  }

  /** Resolves when no executor is running; some ends may still be unwritten. */
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
 * Tells an attempt to stop. Returns whether there was anything to stop. The first reason counts, because the executor has
 * received it; an attempt that has already ended by itself is not stopped.
 */
export function stopHolding(holding: Holding, reason: StopReason): boolean {
  if (holding.stopped !== null || holding.isOver) return false
  holding.stop(reason)
  return true
}

function nameOf({ runId, fence }: LeaseName): string {
  return `${runId} ${fence}`
}

/** The renewal of a lease, with what its attempt is doing. */
export function renewedBy({ lease: { runId, fence }, leaseMs, state }: Holding): RenewedLease {
  return { runId, fence, leaseMs, ...(state !== null && { state }) }
}
