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
  /** Makes the connection that listens, which has to be one of its own: a pool would hand it to another user. */
  readonly connection: pg.ClientConfig
  /** Where all processes of this store announce what they did. */
  readonly channel: string
  /** Where this process alone gets its own pings back. */
  readonly pingChannel: string
  /** How this process names itself when it announces its own steps, which it need not hear again. */
  readonly self: string
  readonly heard: (what: NewsKind | 'anything') => void
  /** Sends by another connection. */
  readonly ping: (token: string) => Promise<unknown>
}

/**
 * Listens until it is stopped, and knows whether notifications arrive. A connection that looks sound may deliver nothing, be it
 * for a firewall that forgot it or a pooler that gave it to another client, so it is trusted only while it delivers a
 * ping now and then; one that does not is replaced. What was sent while no connection listened is lost, so the callback is called
 * when listening begins, and when it ends, because from then on the caller must poll.
 */
export class Listener {
  readonly #line: Line
  readonly #ended: Promise<void>
  #isStopped = false
  #isProven = false
  #pings = 0
  #heardPing = 0
  /** Ends whatever is being waited for. */
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

  /** One connection from its beginning to its end; answers whether it ever delivered anything. */
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
      // The server is away or accepts no connection; `isProven` is false for as long as that lasts.
    }
    isOpen = false
    const wasProven = this.#isProven
    this.#prove(false)
    await this.#hangUp(client, socket)
    return wasProven
  }

  async #hearsPing(isOver: () => boolean): Promise<boolean> {
    const ping = ++this.#pings
    // The connection may be sound when the ping cannot be sent, but that is not known.
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
    // Another program's word, or no word at all, may mean anything.
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

  /** Waits that long, or until something interrupts it; not at all when it is over before it begins. */
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

  /** Takes leave as the server expects it; one that does not answer is left without. */
  async #hangUp(client: pg.Client, socket: Socket): Promise<void> {
    const takeBack = this.#line.clock.after(farewellMsMax, () => socket.destroy())
    await client.end().catch(() => undefined)
    takeBack()
    socket.destroy()
  }
}

/** All processes lose a server at once, and must not all come back at once. */
function againMs(failures: number): number {
  return Math.min(againMsMax, againMsMin * 2 ** failures) * (0.5 + Math.random() / 2)
}
