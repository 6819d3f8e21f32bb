import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'

const confirmMs = 300_000
const usedMax = 10_000

/**
 * A destructive call is carried out only when it is made a second time, with the word that answered the first: neither a
 * slip nor a text that a model has read can do it in one stroke. A word confirms one call of one caller, once.
 */
export class Confirmations {
  readonly #secret: string
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The signatures that were used, and until when each would be good. */
  readonly #used = new Map<string, number>()

  constructor(secret: string, clock: Pick<Clock, 'monotonic'>) {
    this.#secret = secret
    this.#clock = clock
  }

  /** The word for such a call. */
  offer(call: string): string {
    const until = Math.ceil(this.#clock.monotonic() + confirmMs)
    return `${until.toString(36)}-${this.#sign(call, until)}`
  }

  /**
   * Whether this word was offered for just this call, not long ago, and not used since. What is remembered is the
   * signature and not the text of the word: zeros before its number would make another text of the same word.
   */
  accepts(call: string, word: string): boolean {
    const [, text = '', signature = ''] = /^([1-9a-z][0-9a-z]{0,11})-([0-9a-f]{32})$/.exec(word) ?? []
    const now = this.#clock.monotonic()
    const until = Number.parseInt(text, 36)
    if (signature === '' || !(until >= now) || this.#used.has(signature)) return false
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(call, until)))) return false
    this.#forgetExpired(now)
    if (this.#used.size >= usedMax) return false
    this.#used.set(signature, until)
    return true
  }

  /** Only an expired word may be forgotten: any other could be used again. */
  #forgetExpired(now: number): void {
    if (this.#used.size < usedMax) return
    for (const [signature, until] of this.#used) if (until < now) this.#used.delete(signature)
  }

  #sign(call: string, until: number): string {
    return createHmac('sha256', this.#secret).update(`${until}\n${call}`).digest('hex').slice(0, 32)
  }
}
