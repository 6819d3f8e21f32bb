import { systemClock } from '../core/clock.ts'
import { isSignedBy } from '../core/request-signature.ts'

/** A request as a server received it. */
export interface ReceivedRequest {
  readonly method: string
  /** The whole URL as the sender wrote it in the target, with scheme, host and query. */
  readonly url: string
  /** `Headers`, or an object of lower-case names as Node gives it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The exact bytes of the body as received, or their text; absent: no body. */
  readonly body?: Uint8Array | string | null
}

export interface VerifyOptions {
  /** The key of `http.sign`; of several keys, any one may have made the signature. */
  readonly keys: string | readonly string[]
  /** The instant that the request is compared with, in ms. Default: now. */
  readonly now?: number
}

export type Verified =
  /** Belfry sent the request for this attempt of this run. */
  | { readonly genuine: true; readonly run: string; readonly attempt: number }
  | { readonly genuine: false; readonly why: 'not-signed' | 'too-old' | 'wrong-signature' }

/** A request outside this window may be a replay. */
const toleranceMs = 300_000

/** Checks that a request was signed by Belfry with one of the keys, in the last five minutes, and not changed since. */
export function verifyRequest(request: ReceivedRequest, { keys, now = systemClock.now() }: VerifyOptions): Verified {
  const header = (name: string) => headerOf(request, name)
  const [signature, timestamp, run, fence] = [
    header('belfry-signature'),
    header('belfry-timestamp'),
    header('belfry-run'),
    header('belfry-attempt'),
  ]
  if (signature === null || run === null || fence === null || !/^\d{1,12}$/.test(timestamp ?? '')) {
    return { genuine: false, why: 'not-signed' }
  }
  const seconds = Number(timestamp)
  const { method, url, body = null } = request
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const accepted = typeof keys === 'string' ? [keys] : keys
  const signed = { seconds, method: method.toUpperCase(), url, run, fence, body: bytes }
  if (!isSignedBy(signed, signature, accepted)) return { genuine: false, why: 'wrong-signature' }
  if (Math.abs(seconds * 1_000 - now) > toleranceMs) return { genuine: false, why: 'too-old' }
  return { genuine: true, run, attempt: Number(fence) }
}

function headerOf({ headers }: ReceivedRequest, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const value = headers[name]
  return typeof value === 'string' ? value : null
}
