import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** What a signature covers: a request of one attempt of a run, at one time. */
export interface SignedRequest {
  /** Seconds since 1970. */
  readonly seconds: number
  readonly method: string
  /** The whole URL, with its query. */
  readonly url: string
  readonly run: string
  /** The number of the attempt. */
  readonly fence: string
  readonly body: Uint8Array | null
}

/** While one key replaces another, both sign, so that a receiver that knows either key can check the request. */
export function signatureOf(request: SignedRequest, keys: readonly string[]): string {
  return keys.map((key) => `v1=${digestOf(request, key)}`).join(',')
}

/** Whether one of the signatures was made with one of the keys. */
export function isSignedBy(request: SignedRequest, signature: string, keys: readonly string[]): boolean {
  const shown = signature.split(',').map((each) => each.trim())
  return keys.some((key) => {
    const right = Buffer.from(`v1=${digestOf(request, key)}`)
    return shown.some((each) => {
      const given = Buffer.from(each)
      return given.length === right.length && timingSafeEqual(given, right)
    })
  })
}

/** Each part is a line of its own, so that no two requests have the same text. */
function digestOf({ seconds, method, url, run, fence, body }: SignedRequest, key: string): string {
  const hash = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  const lines = ['v1', seconds, method, asSent(url), run, fence, hash].join('\n')
  return createHmac('sha256', key).update(lines).digest('hex')
}

/** A URL has one spelling when it is sent, and the part after # is not sent. */
function asSent(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search}`
}
