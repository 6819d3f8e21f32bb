import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'

const confirmMs = 300_000
const usedMax = 10_000

/** A destructive call runs only when it is repeated with the confirm from the first answer: neither a slip nor a text that the model has read can trigger it in one step. A confirm is valid once, for one call of one caller. */
export class Confirmations {
  readonly #secret: string
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The used signatures, and until when each would be valid. */
  readonly #used = new Map<string, number>()

  constructor(secret: string, clock: Pick<Clock, 'monotonic'>) {
    this.#secret = secret
    this.#clock = clock
  }

  offer(call: string): string {
    const until = Math.ceil(this.#clock.monotonic() + confirmMs)
    return `${until.toString(36)}-${this.#sign(call, until)}`
  }

  /** Whether this confirm was issued for exactly this call, recently, and is unused. The signature is remembered, not the text: leading zeros would make another text of the same confirm. */
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

  /** Only expired signatures are forgotten: any other confirm could be used again. */
  #forgetExpired(now: number): void {
    if (this.#used.size < usedMax) return
    for (const [signature, until] of this.#used) if (until < now) this.#used.delete(signature)
  }

  #sign(call: string, until: number): string {
    return createHmac('sha256', this.#secret).update(`${until}\n${call}`).digest('hex').slice(0, 32)
  }
}
