import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { systemClock } from '../../core/clock.ts'
import type { NewsKind } from '../news.ts'
import { Listener } from './listen.ts'
import { Notifier } from './notify.ts'

/**
 * The payload of a notification: the sender, so that the sender can ignore it, and the kind of change. The change itself
 * is in the store.
 */
export const notification = { name: 'belfry notify', text: 'select pg_notify($1, $2)' }

/** Carries notifications between the processes of one store. */
export class Wire {
  /** The channel of all processes of the store. */
  readonly channel: string
  readonly #pool: pg.Pool
  /** Identifies the notifications of this store object. */
  readonly #self = randomBytes(12).toString('hex')
  readonly #notifier: Notifier
  readonly #listeners = new Set<Listener>()
  #isClosed = false

  constructor(pool: pg.Pool, channel: string) {
    this.#pool = pool
    this.channel = channel
    this.#notifier = new Notifier({
      clock: systemClock,
      send: (news) => this.#notify(channel, [this.#self, ...news].join(' ')),
    })
  }

  listen(heard: (what: NewsKind | 'anything') => void): () => void {
    if (this.#isClosed) return () => undefined
    const pingChannel = `belfry ping ${this.#self}`
    const listener = new Listener({
      clock: systemClock,
      connection: { ...this.#pool.options, application_name: 'belfry listen' },
      channel: this.channel,
      pingChannel,
      self: this.#self,
      heard,
      ping: (token) => this.#notify(pingChannel, token),
    })
    this.#listeners.add(listener)
    return () => listener.stop().then(() => this.#listeners.delete(listener))
  }

  hears(): boolean {
    return [...this.#listeners].some(({ isProven }) => isProven)
  }

  wakeOthers(news: Iterable<NewsKind>): void {
    this.#notifier.ring(news)
  }

  /** Sends pending notifications first. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#listeners].map((listener) => listener.stop()))
    await this.#notifier.close()
  }

  #notify(channel: string, payload: string): Promise<unknown> {
    return this.#pool.query({ ...notification, values: [channel, payload] })
  }
}
