import { type Clock, pause } from '../../core/clock.ts'
import type { NewsKind } from '../news.ts'

/** With a shorter gap the notifications of one busy process would slow down the commits of all others. */
const gapMs = 10

export interface Sender {
  readonly clock: Pick<Clock, 'after'>
  readonly send: (news: readonly NewsKind[]) => Promise<unknown>
}

/** Sends the first notification at once and later ones with a gap between them; each covers all steps since the one before. */
export class Notifier {
  readonly #sender: Sender
  #wanted = new Set<NewsKind>()
  #isClosed = false
  #sending: Promise<void> | null = null

  constructor(sender: Sender) {
    this.#sender = sender
  }

  ring(news: Iterable<NewsKind>): void {
    if (this.#isClosed) return
    for (const kind of news) this.#wanted.add(kind)
    this.#sending ??= this.#sendAll()
  }

  /**
   * Sends pending notifications at the close, so that a process that closes right after its last
   * step has announced that step.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#wanted.size > 0) {
      const news = [...this.#wanted]
      this.#wanted = new Set()
      await this.#sender.send(news).catch(lost)
      await pause(this.#sender.clock, gapMs)
    }
    this.#sending = null
  }
}

function lost(): void {
  // A lost notification delays a sleeping worker until its next poll.
}
