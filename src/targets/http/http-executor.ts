import { BelfryError } from '../../core/error.ts'
import { reasonText } from '../../core/reason-text.ts'
import type { EndFacts } from '../../core/run/expect.ts'
import type { Attempt, Ended, Execute } from '../attempt.ts'
import type { MessageOf } from '../message.ts'
import { redact } from '../redact.ts'
import type { Secret, SecretResolver } from '../secret.ts'
import { type NetworkPolicy, networkGuard } from './address-guard.ts'
import { endedBy } from './answer.ts'
import { type Lookup, sharedLookup } from './connect.ts'
import { type Answer, exchange } from './exchange.ts'
import { ExchangeFailure } from './exchange-failure.ts'
import { Connections } from './http-connections.ts'
import { type HttpRequest, httpTargetProblems } from './http-target.ts'
import { isRedirect, redirected } from './redirect.ts'
import { type Outgoing, prepared } from './request.ts'
import { signerOf } from './sign-request.ts'

export interface HttpExecutorOptions {
  readonly network: NetworkPolicy
  readonly secrets: SecretResolver
  /** Replaces the system's resolver. Its answers are checked like any others. */
  readonly lookup?: Lookup | undefined
  /** The messages that runs of parts send. Default: none. */
  readonly messageOf?: MessageOf | undefined
}

export interface HttpExecutor {
  readonly execute: Execute
  /** Ends all connections and the requests on them. */
  close(): Promise<void>
}

const redirectsMax = 3

/** Executes targets that call HTTP endpoints. */
export function httpExecutor(options: HttpExecutorOptions): HttpExecutor {
  const { network, secrets, lookup, messageOf = () => null } = options
  const connections = new Connections({ guard: networkGuard(network), lookup: sharedLookup(lookup) })
  const calls = new Map<AbortController, Promise<Ended>>()
  let isClosed = false
  return {
    async execute(attempt) {
      if (isClosed) return failed(new ExchangeFailure('this worker is closing', { retryable: true }), [])
      const stop = new AbortController()
      const call = new Call(attempt, { connections, resolver: secrets, messageOf, stop }).ended()
      calls.set(stop, call)
      return call.finally(() => calls.delete(stop))
    },
    async close() {
      isClosed = true
      const ends = [...calls.values()]
      for (const stop of calls.keys()) stop.abort('shutdown')
      await Promise.all(ends)
      await connections.close()
    },
  }
}

interface CallContext {
  readonly connections: Connections
  readonly resolver: SecretResolver
  readonly messageOf: MessageOf
  /** Aborted together with the attempt, and when the executor closes. */
  readonly stop: AbortController
}

/** One attempt: a request and its redirects. */
class Call {
  readonly #attempt: Attempt
  readonly #context: CallContext
  readonly #startedAt: number
  readonly #redirects: URL[] = []
  #secrets: readonly Secret[] = []
  #keepBytes: number | undefined

  constructor(attempt: Attempt, context: CallContext) {
    this.#attempt = attempt
    this.#context = context
    this.#startedAt = attempt.clock.monotonic()
  }

  async ended(): Promise<Ended> {
    const { signal } = this.#attempt
    const stop = () => this.#context.stop.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return this.#judged(await this.#answered())
    } catch (error) {
      return failed(this.#failureOf(error), this.#secrets)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #answered(): Promise<Answer> {
    const { connections, stop, resolver, messageOf } = this.#context
    const message = messageOf(this.#attempt)
    const http = requestOf(this.#attempt, message !== null)
    this.#keepBytes = http.keepBytes ?? this.#attempt.answerBytesMax
    const { outgoing, secrets } = await prepared(this.#attempt, http, { resolver, message })
    const { sign, secrets: keys } = await signerOf(this.#attempt, http, resolver)
    this.#secrets = [...secrets, ...keys]
    let isTrusted = true
    for (let request: Outgoing = outgoing; ; this.#redirects.push(request.url)) {
      // Another origin gets no signature, and neither does any URL that it redirects to.
      isTrusted &&= request.url.origin === outgoing.url.origin
      const sent = sign === null || !isTrusted ? request : sign(request, this.#attempt.clock.now())
      const answer = await exchange(sent, connections, { signal: stop.signal, keepBytes: this.#keepBytes })
      const location = answer.header('location')
      if (!isRedirect(answer.status, location)) return answer
      if (this.#redirects.length === redirectsMax) {
        throw new ExchangeFailure(`was redirected more than ${redirectsMax} times, at last by ${request.url.host}`)
      }
      request = redirected(request, answer.status, location)
    }
  }

  #judged(answer: Answer): Ended {
    const { clock } = this.#attempt
    return endedBy(answer, {
      keepBytes: this.#keepBytes,
      secrets: this.#secrets,
      redirects: this.#redirects,
      durationMs: Math.round(clock.monotonic() - this.#startedAt),
      now: clock.now(),
    })
  }

  #failureOf(error: unknown): ExchangeFailure {
    // A missing secret can be retried: an operator can add it, and nothing was sent.
    if (error instanceof BelfryError) {
      return new ExchangeFailure(error.message, { retryable: error.code === 'unavailable', cause: error })
    }
    if (!(error instanceof ExchangeFailure)) throw error
    // After a redirect the failure is not harmless: the redirecting server may have had effects.
    if (error.retryable !== true || this.#redirects.length === 0) return error
    return new ExchangeFailure(error.message, { cause: error })
  }
}

/** The target is checked again, although the door checked it: a stored target may come from elsewhere. */
function requestOf({ target }: Attempt, isMessage: boolean): HttpRequest {
  const [wrong] = httpTargetProblems(target, { isMessage })
  if (wrong === undefined) return target.http as HttpRequest
  const { field, problem, expected } = wrong
  throw new ExchangeFailure(`target.${field} ${problem}; it must be ${expected}`, { retryable: false })
}

function failed({ message, retryable }: ExchangeFailure, secrets: readonly Secret[]): Ended {
  const facts: EndFacts = {
    error: reasonText(redact(message, secrets)),
    ...(retryable !== undefined && { retryable }),
  }
  return { facts }
}
