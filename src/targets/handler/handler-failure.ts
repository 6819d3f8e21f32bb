import { reasonText } from '../../core/reason-text.ts'
import type { EndFacts, RateLimited } from '../../core/run/expect.ts'

type LimitGiven = Omit<RateLimited, 'resetAt' | 'resetText'> & { readonly resetAt?: number | string | undefined }

export interface RunFailureOptions {
  /** `false`: no further attempt can succeed. `true`: it surely had no effect, so even a run that must not repeat may be retried. */
  readonly retryable?: boolean
  /**
   * How long to wait at least before the next attempt; an hour at most. An invalid number, such as the result of a division by
   * zero, is ignored: the failure and its reason matter more.
   */
  readonly retryAfterMs?: number
  /**
   * The provider refused by its limit; `resetAt` is when the limit resets, in epoch ms or as ISO text with an offset. It matters
   * where the run names an account.
   */
  readonly rateLimited?: boolean | LimitGiven
  readonly cause?: unknown
}

/** Thrown by a handler to say how to treat its failure. Any other error with these fields has the same effect. */
export class RunFailure extends Error {
  readonly retryable: boolean | undefined
  readonly retryAfterMs: number | undefined
  readonly rateLimited: boolean | LimitGiven | undefined

  constructor(message: string, { retryable, retryAfterMs, rateLimited, cause }: RunFailureOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RunFailure'
    this.retryable = retryable
    this.retryAfterMs = retryAfterMs
    this.rateLimited = rateLimited
  }
}

/** `false` and `true` mean the same as for every target. */
const retryAfterMsMax = 3_600_000

type Failure = Pick<EndFacts, 'error' | 'retryable' | 'retryAfterMs' | 'rateLimited'>

/** What a handler threw, as a failure of its run. It may have thrown anything, and reading it may throw too. */
export function failureOf(thrown: unknown): Failure {
  const retryable = field(thrown, 'retryable')
  const retryAfterMs = waitMsOf(field(thrown, 'retryAfterMs'))
  const rateLimited = limitOf(field(thrown, 'rateLimited'))
  return {
    error: reasonText(wordsOf(thrown)),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(rateLimited !== undefined && { rateLimited }),
  }
}

const limitTextMax = 100

/** The limit itself is known even where its reset cannot be read. */
function limitOf(given: unknown): RateLimited | undefined {
  if (given === true) return {}
  if (typeof given !== 'object' || given === null) return undefined
  const [hasBegun, window] = [field(given, 'hasBegun'), field(given, 'window')]
  return {
    ...resetOf(field(given, 'resetAt')),
    ...(typeof hasBegun === 'boolean' && { hasBegun }),
    ...(typeof window === 'string' && window !== '' && { window: window.slice(0, limitTextMax) }),
  }
}

/** A text without an offset is not an instant: it would mean another instant on each machine. */
function resetOf(given: unknown): Pick<RateLimited, 'resetAt' | 'resetText'> {
  if (given === undefined || given === null) return {}
  const isText = typeof given === 'string'
  const at = isText && /\d(?:Z|[+-]\d{2}:\d{2})$/.test(given) ? Date.parse(given) : given
  if (typeof at === 'number' && Number.isFinite(at)) return { resetAt: Math.ceil(at) }
  return {
    resetText: isText ? given.slice(0, limitTextMax) : typeof given === 'number' ? `${given}` : `a ${typeof given}`,
  }
}

/** The end of a run must never fail because of a bad number from its handler. */
function waitMsOf(given: unknown): number | undefined {
  if (typeof given !== 'number' || !Number.isFinite(given) || given < 0) return undefined
  return Math.min(given, retryAfterMsMax)
}

function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? 'threw an empty text' : thrown
  if (typeof thrown !== 'object' || thrown === null) return `threw ${plain(thrown)}`
  const message = field(thrown, 'message')
  const name = nameOf(thrown)
  if (typeof message !== 'string' || message === '') return name === '' ? 'threw something without a message' : name
  return name === '' ? message : `${name}: ${message}`
}

/** The name of an error class, unless it is just `Error`. */
function nameOf(thrown: object): string {
  const name = field(thrown, 'name')
  return typeof name === 'string' && name !== 'Error' && name !== 'RunFailure' ? name : ''
}

/** A function's text could be as long as a program, and a symbol cannot be part of a text. */
function plain(thrown: unknown): string {
  return typeof thrown === 'function' || typeof thrown === 'symbol' ? `a ${typeof thrown}` : String(thrown)
}

function field(thrown: unknown, name: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null | undefined)?.[name]
  } catch {
    return undefined
  }
}
