import type { Clock } from '../core/clock.ts'
import type { EngineContext } from './engine-context.ts'
import { stopHolding } from './leases/holdings.ts'

/** How long the last ends may take to be written when a worker stops; an unwritten one expires with its lease. */
const lastWritesMsMax = 5_000

/** The time that runs have to end by themselves. It can be shortened, never lengthened. */
export class Grace {
  readonly #clock: Clock
  #endsAt = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined
  #end: () => void = () => undefined
  readonly over = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends this many ms from now, unless it ends sooner already. */
  atMost(ms: number): void {
    const endsAt = this.#clock.monotonic() + ms
    if (endsAt >= this.#endsAt) return
    this.#cancel()
    this.#endsAt = endsAt
    if (ms === 0) this.#end()
    else this.#cancel = this.#clock.after(ms, this.#end)
  }

  /** No longer waited for: `atMost` from here on sets no timer, which would keep the process alive. */
  forget(): void {
    this.#cancel()
    this.#endsAt = Number.NEGATIVE_INFINITY
  }
}

/**
 * Ends what a worker holds: executors have the grace period, then they are told to stop, then they are abandoned. Their ends have
 * a little longer to be written; an unresponsive store does not keep the worker from stopping. Returns how many were forced.
 */
export async function seeOut(context: EngineContext, grace: Grace, nothingNew: Promise<unknown>): Promise<number> {
  const { clock, holdings, settings } = context
  await Promise.race([nothingNew.then(() => holdings.still()), grace.over])
  grace.forget()
  const forced = holdings.all().filter((holding) => stopHolding(holding, 'shutdown')).length
  // A lease in flight at the stop may still be granted, and has to be released.
  await atMost(clock, lastWritesMsMax, nothingNew)
  const stopMsMax = Math.max(0, ...holdings.all().map(({ stopMs }) => stopMs))
  await atMost(clock, settings.leaveAfterMs + stopMsMax, holdings.still())
  await atMost(clock, lastWritesMsMax, holdings.empty())
  // Writers of these ends must not retry for ever.
  for (const holding of holdings.all()) holding.isLost = true
  return forced
}

export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel: () => void = () => undefined
  const enough = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve)
  })
  await Promise.race([work, enough])
  cancel()
}
