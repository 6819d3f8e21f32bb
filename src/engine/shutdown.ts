import type { Clock } from '../core/clock.ts'
import type { EngineContext } from './engine-context.ts'
import { stopHolding } from './leases/holdings.ts'

/** What ends may take to be written when a worker stops; what is not written by then expires with its lease. */
const lastWritesMsMax = 5_000

/** The time that runs have to come to their end by themselves. It can be made shorter, never longer. */
export class Grace {
  readonly #clock: Clock
  #endsAt = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined
  #end: () => void = () => undefined
  /** Resolves when it is over. */
  readonly over = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It ends this many ms from now, unless it ends sooner already. */
  atMost(ms: number): void {
    const endsAt = this.#clock.monotonic() + ms
    if (endsAt >= this.#endsAt) return
    this.#cancel()
    this.#endsAt = endsAt
    if (ms === 0) this.#end()
    else this.#cancel = this.#clock.after(ms, this.#end)
  }

  /** It is not waited for any more: hurrying from here on sets no alarm, which would keep the process alive. */
  forget(): void {
    this.#cancel()
    this.#endsAt = Number.NEGATIVE_INFINITY
  }
}

/**
 * Sees what a worker holds to its end: executors have the grace, then they are told to stop, then they are left behind.
 * Their ends have a little longer to be written; a store that does not answer does not keep the worker from stopping. Answers how
 * many were forced.
 */
export async function seeOut(context: EngineContext, grace: Grace, nothingNew: Promise<unknown>): Promise<number> {
  const { clock, holdings, settings } = context
  await Promise.race([nothingNew.then(() => holdings.still()), grace.over])
  grace.forget()
  const forced = holdings.all().filter((holding) => stopHolding(holding, 'shutdown')).length
  // What it had asked for when it was told to stop may still be granted, and has to be given back.
  await atMost(clock, lastWritesMsMax, nothingNew)
  await atMost(clock, settings.leaveAfterMs, holdings.still())
  await atMost(clock, lastWritesMsMax, holdings.empty())
  // Whoever still tries to write something of these must not go on trying for ever.
  for (const holding of holdings.all()) holding.isLost = true
  return forced
}

/** Waits for work, but not for ever. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel: () => void = () => undefined
  const enough = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve)
  })
  await Promise.race([work, enough])
  cancel()
}
