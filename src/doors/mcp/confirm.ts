import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'

const confirmMs = 300_000
const usedMax = 10_000

/**
 * What is destructive is done only when it is asked for a second time, with what the first was answered: so that neither a
 * slip nor a text that a model has read can do it in one stroke. What is confirmed is one call of one caller, once.
 */
export class Confirmations {
  readonly #secret: string
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #used = new Set<string>()

  constructor(secret: string, clock: Pick<Clock, 'monotonic'>) {
    this.#secret = secret
    this.#clock = clock
  }

  /** The word for such a call. */
  offer(call: string): string {
    const until = Math.ceil(this.#clock.monotonic() + confirmMs)
    return `${until.toString(36)}-${this.#sign(call, until)}`
  }

  /** Whether this word was offered for just this call, not long ago, and not used since. */
  accepts(call: string, word: string): boolean {
    const [, text = '', signature = ''] = /^([0-9a-z]{1,12})-([0-9a-f]{32})$/.exec(word) ?? []
    const until = Number.parseInt(text, 36)
    if (signature === '' || !(until >= this.#clock.monotonic()) || this.#used.has(word)) return false
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(call, until)))) return false
    this.#used.add(word)
    if (this.#used.size > usedMax) this.#used.delete(this.#used.values().next().value as string)
    return true
  }

  #sign(call: string, until: number): string {
    return createHmac('sha256', this.#secret).update(`${until}\n${call}`).digest('hex').slice(0, 32)
  }
}
