import type { Clock } from '../../core/clock.ts'
import { isPassing } from '../../core/error.ts'
import type { Capabilities } from '../../core/queue/plan-leases.ts'
import type { Store } from '../../store/port.ts'
import { workAhead } from '../../store/reads/find-queue.ts'
import { nextInstants } from '../../store/reads/next-instants.ts'

/** What a host waits for. */
interface Wanted {
  readonly queue: string
  readonly can: Capabilities
}

interface Waiting<Answer> {
  /** Tries to lease, in one short transaction. */
  readonly ask: () => Promise<Answer>
  readonly isServed: (answer: Answer) => boolean
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

interface Host {
  isAsking: boolean
  /** Tries once; returns whether it got runs. Never rejects. */
  turn(): Promise<boolean>
  fail(error: unknown): void
}

/** The hosts that wait for the same work, in order of arrival. */
interface Line extends Wanted {
  readonly key: string
  readonly hosts: Set<Host>
  /** The earliest next try, by the monotonic clock, set when a try got nothing although a poll found work. */
  restsUntil: number
}

/** How often the store is polled without a wake-up: a wake-up may be lost, and a lease may expire. */
const pollMs = 1_000
const gapMsMin = 25
/** A full queue has work that cannot start; each try is a write, which wakes hosts in other processes. */
const fruitlessRestMs = 1_000

/**
 * Hosts that wait for work. One poll, a read, finds the queues with work for all of them; only then the first host of a line tries to
 * lease, then the next, as long as they get runs. No database connection is held while they wait.
 */
export class LeaseWaits {
  readonly #store: Store
  readonly #clock: Clock
  readonly #lines = new Map<string, Line>()
  #stopListening: (() => void) | null = null
  #cancelAlarm: (() => void) | null = null
  #isLooking = false
  #hasHeard = false
  #restsUntil = Number.NEGATIVE_INFINITY

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Tries until a host gets runs, its time is over, or its signal ends it; returns the last answer. */
  wait<Answer>(wanted: Wanted, { ask, isServed, waitMs, signal }: Waiting<Answer>): Promise<Answer> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      let last: Answer
      let isOver = false
      const end = (act: () => void) => {
        cancelTimeout()
        signal?.removeEventListener('abort', aborted)
        this.#leave(line, host)
        act()
      }
      const host: Host = {
        isAsking: false,
        fail: (error) => end(() => reject(error)),
        turn: async () => {
          host.isAsking = true
          try {
            last = await ask()
          } catch (error) {
            host.fail(error)
            return false
          } finally {
            host.isAsking = false
          }
          const served = isServed(last)
          if (signal?.aborted === true) host.fail(signal.reason)
          else if (served || isOver) end(() => resolve(last))
          return served
        },
      }
      const aborted = () => {
        if (!host.isAsking) host.fail(signal?.reason)
      }
      const cancelTimeout = this.#clock.after(waitMs, () => {
        isOver = true
        if (!host.isAsking) end(() => resolve(last))
      })
      signal?.addEventListener('abort', aborted, { once: true })
      const line = this.#join(wanted, host)
      // Work that arrives during the first try may be missed, so a poll follows.
      void host.turn().then(() => this.#lookSoon())
    })
  }

  /** Ends all waits. */
  close(error: unknown): void {
    for (const { hosts } of [...this.#lines.values()]) for (const host of [...hosts]) host.fail(error)
  }

  #lookSoon(): void {
    this.#hasHeard = true
    if (this.#isLooking || this.#lines.size === 0) return
    const restMs = this.#restsUntil - this.#clock.monotonic()
    if (restMs > 0) this.#alarm(restMs)
    else void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#hasHeard = false
    let nextMs = pollMs
    try {
      nextMs = await this.#serveLines()
    } catch (error) {
      // A store that does not answer now may answer at the next poll.
      if (!isPassing(error)) this.close(error)
    }
    this.#isLooking = false
    if (this.#lines.size === 0) return
    this.#restsUntil = this.#clock.monotonic() + gapMsMin
    this.#alarm(this.#hasHeard ? gapMsMin : Math.max(gapMsMin, nextMs))
  }

  /** Serves every line with work; returns the time until the next poll. */
  async #serveLines(): Promise<number> {
    const { now, leaseExpiresAt } = await this.#store.look(nextInstants)
    // The next host that leases reclaims an expired lease.
    const isExpired = leaseExpiresAt !== null && leaseExpiresAt <= now
    let nextMs = pollMs
    const groups = this.#linesByCan()
    // Each session may do another kind of work, and most wake-ups concern none of them: one read
    // finds out.
    if (groups.length > 1 && !isExpired) {
      const ahead = await this.#store.look(workAhead, together(groups))
      if (ahead.nextAt !== null) nextMs = Math.min(nextMs, ahead.nextAt - ahead.now)
      if (![...this.#lines.values()].some(({ queue }) => ahead.queues.includes(queue))) {
        for (const line of this.#lines.values()) line.restsUntil = Number.NEGATIVE_INFINITY
        return nextMs
      }
    }
    for (const lines of groups) {
      const ahead = await this.#store.look(workAhead, lines[0]?.can)
      if (ahead.nextAt !== null) nextMs = Math.min(nextMs, ahead.nextAt - ahead.now)
      for (const line of lines) {
        if (isExpired || ahead.queues.includes(line.queue)) await this.#serve(line)
        else line.restsUntil = Number.NEGATIVE_INFINITY
      }
    }
    return nextMs
  }

  async #serve(line: Line): Promise<void> {
    if (this.#clock.monotonic() < line.restsUntil) return
    for (const host of [...line.hosts]) {
      if (host.isAsking || (await host.turn())) continue
      line.restsUntil = this.#clock.monotonic() + fruitlessRestMs
      return
    }
  }

  #linesByCan(): Line[][] {
    const found = new Map<string, Line[]>()
    for (const line of this.#lines.values()) {
      const can = JSON.stringify(line.can)
      found.set(can, [...(found.get(can) ?? []), line])
    }
    return [...found.values()]
  }

  #alarm(ms: number): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = this.#clock.after(ms, () => this.#lookSoon())
  }

  #join({ queue, can }: Wanted, host: Host): Line {
    const key = JSON.stringify([queue, can])
    const line = this.#lines.get(key) ?? { key, queue, can, hosts: new Set(), restsUntil: Number.NEGATIVE_INFINITY }
    line.hosts.add(host)
    this.#lines.set(key, line)
    this.#stopListening ??= this.#store.listen(({ what }) => {
      if (what === 'work' || what === 'anything') this.#lookSoon()
    })
    return line
  }

  #leave(line: Line, host: Host): void {
    line.hosts.delete(host)
    if (line.hosts.size > 0) return
    this.#lines.delete(line.key)
    if (this.#lines.size > 0) return
    this.#stopListening?.()
    this.#cancelAlarm?.()
    this.#stopListening = this.#cancelAlarm = null
  }
}

/** What any of the waiting hosts can execute. */
function together(groups: readonly (readonly Line[])[]): Capabilities {
  const all = groups.flatMap(([line]) => (line === undefined ? [] : [line.can]))
  const kinds = [...new Set(all.flatMap((can) => can.kinds))]
  const handlers = [...new Set(all.flatMap((can) => can.handlers ?? []))]
  return { kinds, handlers, host: all.some(({ host }) => host === true) }
}
