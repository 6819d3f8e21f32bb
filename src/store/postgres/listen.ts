import { Socket } from 'node:net'
import pg from 'pg'
import type { Clock } from '../../core/clock.ts'
import { type NewsKind, newsKinds } from '../news.ts'

const pingEveryMs = 10_000
const pingMsMax = 5_000
const againMsMin = 100
const againMsMax = 30_000
const farewellMsMax = 1_000

export interface Line {
  readonly clock: Pick<Clock, 'after'>
  /** The connection that listens. It cannot come from a pool, which would lend it to another user. */
  readonly connection: pg.ClientConfig
  /** The channel of all processes of this store. */
  readonly channel: string
  /** The channel on which this process receives its own pings. */
  readonly pingChannel: string
  /** The sender name of this process, by which it ignores its own notifications. */
  readonly self: string
  readonly heard: (what: NewsKind | 'anything') => void
  /** Sends through another connection. */
  readonly ping: (token: string) => Promise<unknown>
}

/**
 * Listens until it is stopped, and knows whether notifications arrive. A connection that looks sound may deliver nothing, because
 * a firewall dropped it or a pooler gave it to another client. So it is trusted only while it delivers regular pings, and
 * replaced otherwise. Notifications sent while no connection listens are lost, so the callback runs when listening begins, and
 * when it ends, because from then on the caller must poll.
 */
export class Listener {
  readonly #line: Line
  readonly #ended: Promise<void>
  #isStopped = false
  #isProven = false
  #pings = 0
  #heardPing = 0
  /** Ends the current wait. */
  #interrupt: () => void = () => undefined

  constructor(line: Line) {
    this.#line = line
    this.#ended = this.#listenForEver()
  }

  get isProven(): boolean {
    return this.#isProven
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#interrupt()
    return this.#ended
  }

  async #listenForEver(): Promise<void> {
    for (let failures = 0; !this.#isStopped; ) {
      failures = (await this.#listenOnce()) ? 0 : failures + 1
      await this.#wait(againMs(failures), () => this.#isStopped)
    }
  }

  /** Runs one connection from beginning to end. Returns whether it ever delivered anything. */
  async #listenOnce(): Promise<boolean> {
    const socket = new Socket()
    const client = new pg.Client({ ...this.#line.connection, keepAlive: true, stream: () => socket })
    let isOpen = true
    const broken = () => {
      if (!isOpen) return
      isOpen = false
      this.#interrupt()
    }
    client.on('error', broken)
    client.on('notification', (message) => this.#notified(message))
    this.#interrupt = () => socket.destroy()
    const isOver = () => !isOpen || this.#isStopped
    try {
      await client.connect()
      const channels = [this.#line.channel, this.#line.pingChannel].map((channel) => pg.escapeIdentifier(channel))
      await client.query(channels.map((channel) => `listen ${channel}`).join('; '))
      while (await this.#hearsPing(isOver)) {
        this.#prove(true)
        await this.#wait(pingEveryMs, isOver)
      }
    } catch {
      // The server is down or refuses connections; `isProven` stays false meanwhile.
    }
    isOpen = false
    const wasProven = this.#isProven
    this.#prove(false)
    await this.#hangUp(client, socket)
    return wasProven
  }

  async #hearsPing(isOver: () => boolean): Promise<boolean> {
    const ping = ++this.#pings
    // The connection may be sound when the ping cannot be sent, but that is unknown.
    this.#line.ping(String(ping)).catch(() => this.#interrupt())
    await this.#wait(pingMsMax, isOver)
    return this.#heardPing === ping && !isOver()
  }

  #notified({ channel, payload }: pg.Notification): void {
    if (channel === this.#line.pingChannel) {
      this.#heardPing = Number(payload)
      this.#interrupt()
      return
    }
    const [sender, ...news] = (payload ?? '').split(' ')
    if (sender === this.#line.self) return
    // An unknown or missing kind may mean anything.
    const known = newsKinds.filter((kind) => news.includes(kind))
    for (const what of known.length === news.length && news.length > 0 ? known : (['anything'] as const)) {
      this.#line.heard(what)
    }
  }

  #prove(isProven: boolean): void {
    const isNew = isProven !== this.#isProven
    this.#isProven = isProven
    if (isNew && !this.#isStopped) this.#line.heard('anything')
  }

  /** Waits that long, until an interrupt, or not at all when `isOver` already. */
  async #wait(ms: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return
    await new Promise<void>((resolve) => {
      const takeBack = this.#line.clock.after(ms, resolve)
      this.#interrupt = () => {
        takeBack()
        resolve()
      }
    })
  }

  /** Closes the connection properly; if the server does not answer, drops it. */
  async #hangUp(client: pg.Client, socket: Socket): Promise<void> {
    const takeBack = this.#line.clock.after(farewellMsMax, () => socket.destroy())
    await client.end().catch(() => undefined)
    takeBack()
    socket.destroy()
  }
}

/** All processes lose a server at the same moment, and must not all reconnect at the same moment. */
function againMs(failures: number): number {
  return Math.min(againMsMax, againMsMin * 2 ** failures) * (0.5 + Math.random() / 2)
}
