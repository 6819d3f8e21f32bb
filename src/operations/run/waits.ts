import type { Clock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { BelfryError, isPassing } from '../../core/error.ts'
import { isEnded } from '../../core/run/run-state.ts'
import type { Events } from '../../engine/events.ts'
import type { Store } from '../../store/port.ts'
import { findRun } from '../../store/reads/find-run.ts'
import type { RunView } from '../../store/views.ts'
import { absentRun } from '../not-found.ts'
import { WaitingCalls } from '../waiting-calls.ts'

interface WaitsOptions {
  readonly store: Store
  readonly clock: Clock
  /** Events of this process's own worker. */
  readonly events: Events
}

/** Waits of parts, which are closed together with this object. */
interface Companion {
  close(error: unknown): void
}

type MakeCompanion<Kept> = new (around: Pick<WaitsOptions, 'store' | 'clock'>) => Kept

interface Waiter {
  readonly answer: (run: RunView) => void
  readonly fail: (error: unknown) => void
}

const endEvents = [
  'run.completed',
  'run.failed',
  'run.parked',
  'run.cancelled',
  'run.skipped',
  'run.reclaimed',
] as const

/** How often all awaited runs are read when no wake-up arrives: a wake-up may be lost. */
const pollMs = 1_000
const gapMsMin = 25
/** A read costs time for each waiting caller, so with many callers reads are rarer. */
const restPerLook = 4

/** Callers that wait for runs to end. This process's worker reports its ends at once; ends elsewhere are found by reading the store after each wake-up, and every second. */
export class Waits {
  readonly seats = new WaitingCalls()
  readonly #store: Store
  readonly #clock: Clock
  readonly #events: Events
  readonly #waiters = new Map<string, Set<Waiter>>()
  readonly #companions = new Map<MakeCompanion<Companion>, Companion>()
  readonly #hear = ({ runId }: { readonly runId: string }) => void this.look(runId)
  #stopListening: (() => void) | null = null
  #cancelAlarm: (() => void) | null = null
  #isLooking = false
  #hasHeard = false
  /** The earliest next read, by the monotonic clock. */
  #restsUntil = Number.NEGATIVE_INFINITY

  constructor({ store, clock, events }: WaitsOptions) {
    this.#store = store
    this.#clock = clock
    this.#events = events
  }

  /**
   * The waits of a part, for callers that wait for something other than a run: one object of each class,
   * created on first use.
   */
  beside<Kept extends Companion>(make: MakeCompanion<Kept>): Kept {
    const known = this.#companions.get(make) ?? new make({ store: this.#store, clock: this.#clock })
    this.#companions.set(make, known)
    return known as Kept
  }

  wait(id: string, { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined } = {}) {
    return new Promise<RunView>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const done = <Value>(act: (value: Value) => void) => {
        return (value: Value) => {
          cancelTimeout?.()
          signal?.removeEventListener('abort', abort)
          this.#leave(id, waiter)
          act(value)
        }
      }
      const waiter: Waiter = { answer: done(resolve), fail: done(reject) }
      const abort = () => waiter.fail(signal?.reason)
      const cancelTimeout =
        timeoutMs === undefined ? null : this.#clock.after(timeoutMs, () => waiter.fail(tooLong(id, timeoutMs)))
      signal?.addEventListener('abort', abort, { once: true })
      // Listen before reading, so that an end in between is not missed.
      this.#join(id, waiter)
      void this.look(id)
    })
  }

  /** Reads a run that may have ended. Never rejects: errors go to the waiting callers. */
  async look(id: string): Promise<void> {
    if (!this.#waiters.has(id)) return
    try {
      const run = await this.#store.look(findRun, id)
      if (run === null) this.#tell(id, ({ fail }) => fail(absentRun(id)))
      else if (isEnded(run.status) || run.status === 'parked') this.#tell(id, ({ answer }) => answer(run))
    } catch (error) {
      // A store that does not answer now may answer at the next read; the run goes on meanwhile.
      if (!isPassing(error)) this.#tell(id, ({ fail }) => fail(error))
    }
  }

  /** Reads all awaited runs soon: a write may have ended some. */
  lookAtAll(): void {
    this.#hasHeard = true
    if (this.#isLooking || this.#waiters.size === 0) return
    const restMs = this.#restsUntil - this.#clock.monotonic()
    if (restMs > 0) this.#alarm(restMs)
    else void this.#lookAtAll()
  }

  /** Ends all waits. */
  close(): void {
    const closed = new BelfryError('unavailable', 'Belfry was closed while a caller waited for a run.', {
      details: { closed: true },
      hint: 'The run continues in its worker; wait for it again.',
    })
    for (const companion of this.#companions.values()) companion.close(closed)
    for (const id of [...this.#waiters.keys()]) this.#tell(id, ({ fail }) => fail(closed))
  }

  #tell(id: string, tell: (waiter: Waiter) => void): void {
    for (const waiter of [...(this.#waiters.get(id) ?? [])]) tell(waiter)
  }

  async #lookAtAll(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#hasHeard = false
    const startedAt = this.#clock.monotonic()
    for (const id of [...this.#waiters.keys()]) await this.look(id)
    this.#isLooking = false
    if (this.#waiters.size === 0) return
    const now = this.#clock.monotonic()
    const restMs = Math.max(gapMsMin, (now - startedAt) * restPerLook)
    this.#restsUntil = now + restMs
    this.#alarm(this.#hasHeard ? restMs : Math.max(pollMs, restMs))
  }

  #alarm(ms: number): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = this.#clock.after(ms, () => this.lookAtAll())
  }

  #join(id: string, waiter: Waiter): void {
    if (this.#waiters.size === 0) this.#beginListening()
    const others = this.#waiters.get(id)
    if (others === undefined) this.#waiters.set(id, new Set([waiter]))
    else others.add(waiter)
  }

  #leave(id: string, waiter: Waiter): void {
    const others = this.#waiters.get(id)
    if (others?.delete(waiter) !== true || others.size > 0) return
    this.#waiters.delete(id)
    if (this.#waiters.size === 0) this.#endListening()
  }

  #beginListening(): void {
    for (const name of endEvents) this.#events.on(name, this.#hear)
    this.#stopListening = this.#store.listen(({ from }) => {
      if (from === 'elsewhere') this.lookAtAll()
    })
    this.#alarm(pollMs)
  }

  #endListening(): void {
    for (const name of endEvents) this.#events.off(name, this.#hear)
    this.#stopListening?.()
    this.#cancelAlarm?.()
    this.#stopListening = this.#cancelAlarm = null
  }
}

export function tooLong(id: string, timeoutMs: number): BelfryError {
  return new BelfryError('unavailable', `Run ${id} had not ended after ${formatDuration(timeoutMs)}.`, {
    hint: 'The run continues; wait for it again.',
    details: { id, timeoutMs },
  })
}
