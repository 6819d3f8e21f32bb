import type { Clock } from '../core/clock.ts'
import type { EngineContext } from './engine-context.ts'
import { type Holding, stopHolding } from './leases/holdings.ts'

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

  /** Ends the grace period this many ms from now, unless it ends sooner already. */
  atMost(ms: number): void {
    const endsAt = this.#clock.monotonic() + ms
    if (endsAt >= this.#endsAt) return
    this.#cancel()
    this.#endsAt = endsAt
    if (ms === 0) this.#end()
    else this.#cancel = this.#clock.after(ms, this.#end)
  }

  /** How long it lasts from now, at most `msMax`, in whole ms. */
  leftMs(msMax: number): number {
    return Math.round(Math.max(0, Math.min(msMax, this.#endsAt - this.#clock.monotonic())))
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endsAt
  }

  /** No longer waited for: `atMost` from here on sets no timer, which would keep the process alive. */
  forget(): void {
    this.#cancel()
    this.#endsAt = Number.NEGATIVE_INFINITY
  }
}

export interface Graces {
  readonly grace: Grace
  /** The grace of attempts whose kind has a longer one. */
  readonly patience: Grace
  /** Called when only such attempts are left. */
  waiting(running: number, graceMs: number): void
}

/** The longest time that an attempt may take from now on. */
export function longestGraceMs(grace: Grace, patience: Grace, held: readonly Holding[]): number {
  const kindMs = Math.max(0, ...held.filter(({ isOver }) => !isOver).map(({ graceMs }) => graceMs))
  return Math.max(grace.leftMs(Number.POSITIVE_INFINITY), patience.leftMs(kindMs))
}

/**
 * Ends what a worker holds: executors have the grace period, then they are told to stop, then they are abandoned. Their ends have
 * a little longer to be written; an unresponsive store does not keep the worker from stopping. Returns how many were forced.
 */
export async function seeOut(context: EngineContext, graces: Graces, nothingNew: Promise<unknown>): Promise<number> {
  const { clock, holdings, settings } = context
  const { grace, patience, waiting } = graces
  const beganMs = clock.monotonic()
  const stop = (those: readonly Holding[]) => those.filter((holding) => stopHolding(holding, 'shutdown')).length
  await Promise.race([nothingNew.then(() => holdings.still()), grace.over])
  grace.forget()
  const patient = patience.isOver ? [] : holdings.all().filter(({ graceMs, isOver }) => graceMs > 0 && !isOver)
  let forced = stop(holdings.all().filter((holding) => !patient.includes(holding)))
  if (patient.length > 0) {
    // The longer grace began with the shorter one: the service manager kills the worker after one time for both.
    const graceMs = Math.max(...patient.map((holding) => holding.graceMs)) - (clock.monotonic() - beganMs)
    patience.atMost(Math.max(0, graceMs))
    waiting(patient.length, patience.leftMs(graceMs))
    await Promise.race([holdings.still(), patience.over])
  }
  patience.forget()
  forced += stop(holdings.all())
  // A lease in flight at the stop may still be granted, and has to be released.
  await atMost(clock, lastWritesMsMax, nothingNew)
  const stopMsMax = Math.max(0, ...holdings.all().map(({ stopMs }) => stopMs))
  await atMost(clock, settings.leaveAfterMs + stopMsMax, holdings.still())
  await atMost(clock, lastWritesMsMax, holdings.empty())
  // The writers of the last ends must not retry for ever.
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
