import type { Clock } from '../../../core/clock.ts'
import { formatDuration } from '../../../core/duration.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { Outgoing } from '../../../operations/operation-context.ts'
import { networkGuard } from '../../../targets/http/address-guard.ts'
import { textOf } from '../../../targets/http/body.ts'
import { sharedLookup } from '../../../targets/http/connect.ts'
import { type Answer, exchange } from '../../../targets/http/exchange.ts'
import { ExchangeFailure } from '../../../targets/http/exchange-failure.ts'
import { Connections } from '../../../targets/http/http-connections.ts'
import { headerValueProblem } from '../../../targets/http/http-target.ts'
import { retryAfterMs } from '../../../targets/http/retry-after.ts'
import { redact } from '../../../targets/redact.ts'
import { type Watcher, WatcherFailure, type WatcherSpec, type WatcherStatus } from './watcher.ts'

/** Enough for some 200,000 paths. */
const answerBytesMax = 16 * 1024 * 1024
/** The waits before the second and the third try, unless the service gives a time. */
const retryWaitsMs = [1_000, 4_000]
/** A service that asks for a longer wait is not asked again before a later look. */
const retryAfterMsMax = 30_000
/** Failures that may pass: too many requests, a walk while the service still scans, or an error of the service itself. */
const isPassing = (status: number) => status === 408 || status === 429 || status >= 500

export interface HttpWatcherOptions {
  readonly spec: WatcherSpec
  readonly outgoing: Outgoing
  readonly clock: Clock
  /** Aborted when the answer is no longer needed. */
  readonly ending: AbortSignal
  /** Whether a request that failed may be sent again at once. */
  readonly retries: () => boolean
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

/** A watcher behind HTTP, with the routes of jeeves-watcher. Redirects are not followed, because the token is for this address only. */
export function httpWatcher(options: HttpWatcherOptions): Watcher {
  return {
    async walk(globs) {
      const answer = await asked(options, { method: 'POST', path: '/walk', body: { globs } })
      const paths = isRecord(answer) ? answer.paths : undefined
      if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return paths
      throw new WatcherFailure('answered /walk without a list of paths')
    },
    async status() {
      return statusIn(await asked(options, { method: 'GET', path: '/status' }))
    },
    async register(source, rules) {
      await asked(options, { method: 'POST', path: '/rules/register', body: { source, rules } })
    },
  }
}

function statusIn(answer: unknown): WatcherStatus {
  const { uptime, startedAt } = isRecord(answer) ? answer : {}
  const uptimeMs = typeof uptime === 'number' && uptime >= 0 ? uptime * 1_000 : null
  const since = typeof startedAt === 'string' || typeof startedAt === 'number' ? String(startedAt).slice(0, 100) : null
  if (uptimeMs !== null || since !== null) return { uptimeMs, startedAt: since }
  throw new WatcherFailure('answered /status without uptime or startedAt')
}

async function asked(options: HttpWatcherOptions, request: Asked): Promise<unknown> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await askedOnce(options, request)
    } catch (error) {
      const usualMs = retryWaitsMs[tried]
      const { isPassing: passes, retryAfterMs: afterMs } = error as WatcherFailure
      const waitMs = afterMs ?? usualMs
      const goesOn = passes && usualMs !== undefined && waitMs !== undefined && waitMs <= retryAfterMsMax
      if (!goesOn || options.ending.aborted || !options.retries()) throw error
      await rest(options, waitMs)
    }
  }
}

/** A wait that ends early when the answer is no longer needed. */
function rest({ clock, ending }: HttpWatcherOptions, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      ending.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    ending.addEventListener('abort', end, { once: true })
  })
}

async function askedOnce(options: HttpWatcherOptions, { method, path, body }: Asked): Promise<unknown> {
  const { spec, outgoing, clock } = options
  const { token, secrets } = await tokenOf(options)
  const headers = [
    { name: 'user-agent', value: 'belfry' },
    { name: 'accept-encoding', value: 'identity' },
    ...(token === undefined ? [] : [{ name: 'authorization', value: `Bearer ${token}` }]),
    ...(body === undefined ? [] : [{ name: 'content-type', value: 'application/json' }]),
  ]
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body))
  const request = { url: new URL(`${spec.url}${path}`), method, headers, body: bytes, hasSecretBody: false }
  // Minutes pass between two looks: the service would close an idle connection meanwhile.
  const connections = new Connections({ guard: networkGuard(outgoing.network), lookup: sharedLookup() })
  const stop = new AbortController()
  const end = () => stop.abort('shutdown')
  options.ending.addEventListener('abort', end, { once: true })
  if (options.ending.aborted) end()
  const cancel = clock.after(spec.timeoutMs, () => stop.abort('timeout'))
  try {
    return read(await exchange(request, connections, { signal: stop.signal, keepBytes: answerBytesMax }), path, clock)
  } catch (error) {
    if (error instanceof WatcherFailure) throw error
    if (stop.signal.reason === 'timeout') {
      throw new WatcherFailure(`has not answered ${path} within ${formatDuration(spec.timeoutMs)}`)
    }
    if (!(error instanceof ExchangeFailure)) throw error
    // The guard would refuse the same request again, so it is not retried.
    throw new WatcherFailure(`cannot be asked: ${redact(error.message, secrets)}`, {
      isPassing: error.retryable !== false,
    })
  } finally {
    cancel()
    options.ending.removeEventListener('abort', end)
    await connections.close()
  }
}

async function tokenOf({ spec, outgoing }: HttpWatcherOptions) {
  const { value, secrets } = await outgoing.secrets.resolve(spec.token).catch((error: Error) => {
    throw new WatcherFailure(`cannot be asked: ${error.message.replace(/\.$/, '')}`)
  })
  if (value === undefined) return { token: undefined, secrets }
  const token = String(value)
  const problem = headerValueProblem(token)
  if (problem !== null) throw new WatcherFailure(`cannot be asked: its token ${problem}`)
  return { token, secrets }
}

/** The text of an error answer is not repeated: it may contain anything. */
function read({ status, header, body }: Answer, path: string, clock: Clock): unknown {
  if (status < 200 || status > 299) {
    const after = header('retry-after')
    const waitMs = after === undefined ? undefined : retryAfterMs(after, clock.now())
    throw new WatcherFailure(`answered ${path} with ${status}`, { isPassing: isPassing(status), retryAfterMs: waitMs })
  }
  if (body === null) throw new WatcherFailure(`answered ${path} in a coding that cannot be read`)
  if (body.isTruncated) throw new WatcherFailure(`answered ${path} with more than ${answerBytesMax} bytes`)
  // The answer to a registration may be empty.
  if (body.bytes.length === 0) return null
  try {
    return JSON.parse(textOf(body, header('content-type') ?? ''))
  } catch {
    throw new WatcherFailure(`answered ${path} with what is no JSON`)
  }
}
