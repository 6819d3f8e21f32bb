import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A stand-in for a model provider, on loopback: it keeps each request until it is told how to answer. */
export class Provider {
  readonly #waiting: ServerResponse[] = []
  readonly #hearing: (() => void)[] = []
  /** How many requests have come. */
  calls = 0
  /** The most that waited at once. */
  most = 0
  /** The accounts that the requests named. */
  readonly accounts: (string | undefined)[] = []
  /** Answers each request at once, where it is set. */
  answersAtOnce = false
  url = ''

  static async open(): Promise<Provider> {
    const provider = new Provider()
    const server = createServer((request, response) => {
      provider.calls++
      provider.accounts.push(request.headers['belfry-account'] as string | undefined)
      provider.#waiting.push(response)
      provider.most = Math.max(provider.most, provider.waiting)
      for (const resolve of provider.#hearing.splice(0)) resolve()
      if (provider.answersAtOnce) setImmediate(() => provider.answer(200, {}, 1))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/messages`
    return provider
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Comes when so many wait. */
  async come(count: number): Promise<void> {
    while (this.waiting < count) await new Promise<void>((resolve) => this.#hearing.push(resolve))
  }

  /** Answers those that wait, or so many of them. */
  answer(status: number, headers: Record<string, string> = {}, count = this.waiting, body = '{}'): void {
    for (const response of this.#waiting.splice(0, count)) response.writeHead(status, headers).end(body)
  }
}
