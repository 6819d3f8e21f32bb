import { afterEach, beforeEach, expect } from 'vitest'
import { BelfryClient } from '../../../src/client/belfry-client.ts'
import { BelfryError } from '../../../src/core/error.ts'
import { HttpDoor } from '../../../src/doors/http/http-door.ts'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import { tokenOperations } from '../../../src/operations/token/noun.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

export const origin = 'http://127.0.0.1:4747'

export interface Asked {
  readonly method?: string
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whose token is shown; `null` shows none. */
  readonly as?: Scope | null
}

/** The HTTP door of a desk, and tokens for everybody. */
export class Porch {
  readonly desk: Desk
  readonly door: HttpDoor
  readonly tokens = new Map<Scope, string>()
  readonly unforeseen: unknown[] = []
  /** What the door finds where it looks secrets up. */
  readonly secrets = new Map<string, string>()

  private constructor(desk: Desk) {
    this.desk = desk
    const { context, events } = desk
    const onUnforeseen = (error: unknown) => this.unforeseen.push(error)
    const secretOf = async ({ secret }: { readonly secret: string }) => {
      const found = this.secrets.get(secret)
      if (found === undefined) throw new BelfryError('unavailable', `The secret ${secret} is missing.`)
      return found
    }
    this.door = new HttpDoor({ context, events, version: '1.2.3', hosts: ['127.0.0.1:4747'], onUnforeseen, secretOf })
  }

  static async open(place: Parameters<typeof Desk.open>[0] = {}): Promise<Porch> {
    const porch = new Porch(await Desk.open(place))
    for (const scope of ['read', 'operate', 'admin'] as const) {
      const { token } = await tokenOperations.create.call(porch.desk.context, { name: `a ${scope}er`, scope })
      porch.tokens.set(scope, token)
    }
    return porch
  }

  async ask(path: string, { method, body, text, headers = {}, as = 'admin' }: Asked = {}): Promise<Response> {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const token = as === null ? {} : { authorization: `Bearer ${this.tokens.get(as)}` }
    const type = sent === undefined ? {} : { 'content-type': 'application/json' }
    return this.door.fetch(
      new Request(origin + path, {
        method: method ?? (sent === undefined ? 'GET' : 'POST'),
        headers: { host: '127.0.0.1:4747', ...type, ...token, ...headers },
        ...(sent !== undefined && { body: sent }),
      }),
    )
  }

  /** The answer to what must be answered well. */
  async json(path: string, asked: Asked = {}): Promise<Record<string, unknown>> {
    const response = await this.ask(path, asked)
    const body = (await response.json()) as Record<string, unknown>
    expect(response.ok, JSON.stringify(body)).toBe(true)
    return body
  }

  /** The error that something must be answered with. */
  async problem(path: string, asked: Asked = {}): Promise<Record<string, unknown> & { status: number }> {
    const response = await this.ask(path, asked)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const body = (await response.json()) as Record<string, unknown> & { status: number }
    expect(body.status).toBe(response.status)
    return body
  }

  client(as: Scope = 'admin'): BelfryClient {
    return new BelfryClient({
      url: origin,
      token: this.tokens.get(as) ?? '',
      fetch: (request) => this.door.fetch(request),
    })
  }

  async close(): Promise<void> {
    this.door.close()
    await this.desk.store.close()
  }
}

export function onPorch(database: 'SQLite' | 'PostgreSQL' = 'SQLite'): () => Porch {
  let porch: Porch
  let schema: string | null = null
  beforeEach(async () => {
    schema = database === 'SQLite' ? null : lendSchema()
    porch = await Porch.open(schema === null ? {} : { url: postgresUrl(), schema })
  })
  afterEach(async () => {
    await porch.close()
    if (schema !== null) await returnSchema(schema)
  })
  return () => porch
}
