import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { reaches, type Scope, scopes, tooNarrow } from '../../operations/caller-scope.ts'
import { quoted } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { TokenCaller } from '../../operations/token/token-caller.ts'
import { isSecretOf, tokenPartsOf } from '../../operations/token/token-secret.ts'
import { partTokens } from '../../parts-face.ts'
import { findToken } from '../../store/tokens/find-token.ts'
import { noteTokenUse } from '../../store/tokens/write-token.ts'
import { HttpProblem } from './problem-details.ts'
import { type Rate, RateLimit } from './rate-limit.ts'

export type Caller = TokenCaller

export interface AuthenticatorOptions {
  readonly store: OperationContext['store']
  readonly clock: Pick<Clock, 'monotonic'>
  /** The Host headers that are accepted; absent where the surrounding server checks them. */
  readonly hosts?: readonly string[]
  readonly rate?: Rate
}

const rateDefault: Rate = { perSecond: 1_000, burst: 2_000 }
/** The shared rate limit of all callers without a valid token. */
const strangersRate: Rate = { perSecond: 20, burst: 50 }

const useNotedMs = 600_000
const notedMax = 10_000

/** Identifies the caller before anything else of a request is read. */
export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #callers: RateLimit
  readonly #strangers: RateLimit
  readonly #unproven: RateLimit
  readonly #notedAt = new Map<string, number>()

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.#callers = new RateLimit(options.rate ?? rateDefault, options.clock)
    this.#strangers = new RateLimit(strangersRate, options.clock)
    this.#unproven = new RateLimit(strangersRate, options.clock)
  }

  /**
   * Refuses requests with a foreign Host or Origin header. By DNS rebinding a foreign name can point to this machine and bring
   * a visitor's browser here; only the Host header shows it. Signed requests are accepted from any origin.
   */
  refuseStrangeOrigin(request: Request, { isSigned = false } = {}): void {
    const hosts = this.#options.hosts?.map((name) => name.toLowerCase())
    const host = (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
    if (hosts !== undefined && !hosts.includes(host)) {
      throw new BelfryError('not-allowed', `Requests for the host ${quoted(host)} are not answered here.`, {
        hint: `Use ${hosts[0] ?? 'the address that it listens on'}, or start the server with this host in --hosts.`,
      })
    }
    const origin = isSigned ? null : request.headers.get('origin')
    if (origin !== null && hostOf(origin) !== host) {
      throw new BelfryError('not-allowed', `Pages of ${quoted(origin)} may not send requests here.`, {
        hint: 'Only pages of this server may.',
      })
    }
  }

  /** Identifies the caller by its token. */
  async callerOf(request: Request): Promise<Caller> {
    const caller = await this.#known(request.headers.get('authorization'))
    if (typeof caller === 'string') {
      this.slowStranger()
      throw unauthenticated(caller)
    }
    this.#slow(this.#callers.take(caller.name))
    return caller
  }

  /** Counts a request without a valid token. */
  slowStranger(): void {
    this.#slow(this.#strangers.take('all'))
  }

  /** Counts a webhook delivery before its body is read, because its signature covers the body. Returns the ms until a large body is allowed; 0 when it is allowed now. */
  countUnproven(path: string): number {
    return this.#unproven.take(path)
  }

  /** Uncounts a delivery whose signature turned out to be valid. */
  forgetUnproven(path: string): void {
    this.#unproven.giveBack(path)
  }

  /** Counts a delivery with a valid signature, by its path. */
  slowSender(path: string): void {
    this.#slow(this.#callers.take(path))
  }

  /** Whether the token of a request is still valid; not counted. */
  async knows(request: Request): Promise<boolean> {
    return typeof (await this.#known(request.headers.get('authorization'))) !== 'string'
  }

  /** The caller, or why it is not known. */
  async #known(header: string | null): Promise<Caller | string> {
    if (header === null) return 'The request has no token.'
    const [, shown = ''] = /^Bearer +(\S+)$/i.exec(header) ?? []
    const parts = tokenPartsOf(shown)
    const { store } = this.#options
    for (const knows of parts === null ? partTokens : []) {
      const known = await knows(store, shown)
      if (known !== null) return known
    }
    const found = parts === null ? null : await store.look(findToken, parts.id)
    // Do not reveal whether the id or the secret is wrong.
    if (parts === null || found === null || !isSecretOf(parts.secret, found.hash)) return 'The token is not valid.'
    if (found.revokedAt !== null) return 'The token was revoked.'
    if (found.expiresAt !== null && found.expiresAt <= found.now) return 'The token has expired.'
    const scope = scopes.find((known) => known === found.scope)
    if (scope === undefined) return 'The token has an unknown scope.'
    this.#noteUse(parts.id)
    return { name: found.name, scope, kind: found.for }
  }

  /** At most hourly: a write for every request would cost more than most requests. A failure of this write is ignored. */
  #noteUse(id: string): void {
    const now = this.#options.clock.monotonic()
    if (now - (this.#notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < useNotedMs) return
    if (this.#notedAt.size >= notedMax) this.#notedAt.clear()
    this.#notedAt.set(id, now)
    void this.#options.store.do(noteTokenUse, id).catch(() => undefined)
  }

  #slow(waitMs: number): void {
    if (waitMs > 0) throw tooOften(waitMs)
  }
}

export function tooOften(waitMs: number, message = 'Too many requests.'): HttpProblem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const error = new BelfryError('too-many', message, {
    hint: `Try again in ${seconds} s.`,
    details: { retryAfterMs: waitMs },
  })
  return new HttpProblem(429, error, { 'retry-after': String(seconds) })
}

/** Refuses a caller that may not read data of the whole namespace. */
export function refuseBelow({ name, scope, within }: Caller, needs: Scope): void {
  if (within !== undefined) {
    throw new BelfryError('not-allowed', `The token of run ${within.run} does not allow this call.`, {
      hint: 'Ask a person.',
    })
  }
  if (!reaches(scope, needs)) throw tooNarrow(name, { has: scope, needs })
}

function unauthenticated(message: string): HttpProblem {
  const error = new BelfryError('unauthenticated', message, {
    hint: 'Send the header `Authorization: Bearer TOKEN`. `belfry token create NAME` creates one; the server has written its own to .belfry/token.',
  })
  return new HttpProblem(401, error, { 'www-authenticate': 'Bearer' })
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host.toLowerCase()
  } catch {
    return null
  }
}
