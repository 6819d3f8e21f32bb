import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { reaches, type Scope, scopes, tooNarrow } from '../../operations/caller-scope.ts'
import { quoted } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { isSecretOf, tokenPartsOf } from '../../operations/token/token-secret.ts'
import { findToken } from '../../store/tokens/find-token.ts'
import { noteTokenUse } from '../../store/tokens/write-token.ts'
import { HttpProblem } from './problem-details.ts'
import { type Rate, RateLimit } from './rate-limit.ts'

/** Whoever asks, once it is known who that is. */
export interface Caller {
  readonly name: string
  readonly scope: Scope
}

export interface AuthenticatorOptions {
  readonly store: OperationContext['store']
  readonly clock: Pick<Clock, 'monotonic'>
  /** The hosts that requests may be addressed to; absent where whoever mounts the door looks after that. */
  readonly hosts?: readonly string[]
  readonly rate?: Rate
}

const rateDefault: Rate = { perSecond: 1_000, burst: 2_000 }
/** All who show no good token share this: they are guessing, or lost. */
const strangersRate: Rate = { perSecond: 20, burst: 50 }

const useNotedMs = 600_000
const notedMax = 10_000

/** Decides who comes in, before anything of a request is read. */
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
   * Refuses what was addressed to somebody else, or sent by a page of somebody else. A name that was made to point to
   * this machine brings the browser of a visitor here, and only the name in the request tells. What is signed is believed
   * for its signature, whatever page it was sent from.
   */
  refuseStrangeOrigin(request: Request, { isSigned = false } = {}): void {
    const hosts = this.#options.hosts?.map((name) => name.toLowerCase())
    const host = (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
    if (hosts !== undefined && !hosts.includes(host)) {
      throw new BelfryError('not-allowed', `Requests to ${quoted(host)} are not answered here.`, {
        hint: `Ask for ${hosts[0] ?? 'the address that it listens on'}, or name the host when the server is started.`,
      })
    }
    const origin = isSigned ? null : request.headers.get('origin')
    if (origin !== null && hostOf(origin) !== host) {
      throw new BelfryError('not-allowed', `A page of ${quoted(origin)} may not ask here.`, {
        hint: 'Only pages that this server has sent may.',
      })
    }
  }

  /** Who asks, by the token that is shown. */
  async callerOf(request: Request): Promise<Caller> {
    const caller = await this.#known(request.headers.get('authorization'))
    if (typeof caller === 'string') {
      this.slowStranger()
      throw unauthenticated(caller)
    }
    this.#slow(this.#callers.take(caller.name))
    return caller
  }

  /** Counts one who has shown nothing good. */
  slowStranger(): void {
    this.#slow(this.#strangers.take('all'))
  }

  /**
   * Counts a delivery before its body is read, because only the body tells whether its signature is good. Answers in how
   * many ms there is room for a large body, and 0 where there is now.
   */
  countUnproven(path: string): number {
    return this.#unproven.take(path)
  }

  /** Forgets a delivery that was counted and turned out to be genuine. */
  forgetUnproven(path: string): void {
    this.#unproven.giveBack(path)
  }

  /** Counts a delivery whose signature is good, by the path that it was sent to. */
  slowSender(path: string): void {
    this.#slow(this.#callers.take(path))
  }

  /** Whether the token of a request is still good; nothing is counted for the question. */
  async knows(request: Request): Promise<boolean> {
    return typeof (await this.#known(request.headers.get('authorization'))) !== 'string'
  }

  /** The caller, or why nobody knows who it is. */
  async #known(header: string | null): Promise<Caller | string> {
    if (header === null) return 'There is no token.'
    const [, shown = ''] = /^Bearer +(\S+)$/i.exec(header) ?? []
    const parts = tokenPartsOf(shown)
    const { store } = this.#options
    const found = parts === null ? null : await store.look(findToken, parts.id)
    // Whether it is the id or the secret that is wrong is nobody's business.
    if (parts === null || found === null || !isSecretOf(parts.secret, found.hash)) return 'The token is not known here.'
    if (found.revokedAt !== null) return 'The token was revoked.'
    if (found.expiresAt !== null && found.expiresAt <= found.now) return 'The token has expired.'
    const scope = scopes.find((known) => known === found.scope)
    if (scope === undefined) return 'The token has a scope that is not known here.'
    this.#noteUse(parts.id)
    return { name: found.name, scope }
  }

  /** Now and then only: a write for every request would cost more than most requests. That it fails keeps nobody out. */
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

export function tooOften(waitMs: number, message = 'It is asked too often.'): HttpProblem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const error = new BelfryError('too-many', message, {
    hint: `Ask again in ${seconds} s.`,
    details: { retryAfterMs: waitMs },
  })
  return new HttpProblem(429, error, { 'retry-after': String(seconds) })
}

/** Refuses a caller that may not even read. */
export function refuseBelow({ name, scope }: Caller, needs: Scope): void {
  if (!reaches(scope, needs)) throw tooNarrow(name, { has: scope, needs })
}

function unauthenticated(message: string): HttpProblem {
  const error = new BelfryError('unauthenticated', message, {
    hint: 'Send the header `Authorization: Bearer TOKEN`. `belfry token create NAME` makes one; the server has written its own to .belfry/token.',
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
