import { type Dirent, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

type Route = '/walk' | '/status' | '/rules/register'
type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** A watcher like a separate program: it lists the files below a folder, and forgets its rules when it restarts. */
export class WatcherService {
  readonly asked: { readonly route: string; readonly body: unknown; readonly token: string | undefined }[] = []
  /** False answers of the service, for one request or until the test removes them. */
  readonly replies = new Map<Route, Reply>()
  /** Paths below its folder that the service does not know yet. */
  readonly hidden = new Set<string>()
  rules: readonly { readonly name: string }[] = []
  folder = '/nowhere'
  url = ''
  startedAt: string | undefined
  uptimeS: (() => number) | undefined
  readonly #server: Server
  readonly #openedMs = performance.now()
  #ageS = 1_000_000
  #heard: () => void = () => undefined

  static async open(folder?: string): Promise<WatcherService> {
    const service = new WatcherService()
    if (folder !== undefined) service.folder = folder
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    service.url = `http://127.0.0.1:${(service.#server.address() as AddressInfo).port}`
    onTestFinished(() => service.close())
    return service
  }

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Resolves at the next request. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = resolve
    })
  }

  /** Halves the uptime: the difference is larger than any time that passes in a test. */
  restart(): void {
    this.#ageS /= 2
    this.rules = []
  }

  count(route: Route): number {
    return this.asked.filter((one) => one.route === route).length
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = request.url as Route
    const body = await text(request)
    const { authorization: token } = request.headers
    this.asked.push({ route, body: body === '' ? undefined : JSON.parse(body), token })
    this.#heard()
    const reply = this.replies.get(route)
    if (reply !== undefined) return reply(response, request)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(this.#truth(route, body)))
  }

  #truth(route: Route, body: string): unknown {
    if (route === '/status') {
      const uptime = this.uptimeS?.() ?? this.#ageS + (performance.now() - this.#openedMs) / 1_000
      return { status: 'healthy', uptime, ...(this.startedAt !== undefined && { startedAt: this.startedAt }) }
    }
    if (route === '/rules/register') {
      this.rules = (JSON.parse(body) as { rules: { name: string }[] }).rules
      return { ok: true }
    }
    const { globs } = JSON.parse(body) as { globs: string[] }
    const from = (globs[0] as string).replace(/\/\*\*$/, '').replace(/\[(.)\]/g, '$1')
    const paths = this.#files().filter((path) => path.startsWith(`${from}/`))
    return { paths, matchedCount: paths.length, scannedRoots: [this.folder] }
  }

  #files(): string[] {
    const entries: Dirent[] = readdirSync(this.folder, { recursive: true, withFileTypes: true })
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return paths.filter((path) => !this.hidden.has(relative(this.folder, path)))
  }
}
