import { type Clock, pause } from '../../core/clock.ts'

/** Shorter, and the notifications of one busy process would slow down the commits of all others. */
const gapMs = 10

export interface Sender {
  readonly clock: Pick<Clock, 'after'>
  readonly send: () => Promise<unknown>
}

/**
 * Sends the first notification at once and, while more are wanted, one after the other with a gap between them: however
 * many steps ask for one meanwhile, the next tells of them all.
 */
export class Notifier {
  readonly #sender: Sender
  #isWanted = false
  #isClosed = false
  #sending: Promise<void> | null = null

  constructor(sender: Sender) {
    this.#sender = sender
  }

  ring(): void {
    if (this.#isClosed) return
    this.#isWanted = true
    this.#sending ??= this.#sendAll()
  }

  /** Whoever closes right after his last step has told of it. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      await this.#sender.send().catch(lost)
      await pause(this.#sender.clock, gapMs)
    }
    this.#sending = null
  }
}

function lost(): void {
  // Whoever sleeps does not sleep for ever: a lost notification costs the time until he looks by himself.
}
