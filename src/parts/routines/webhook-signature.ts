import { createHmac, timingSafeEqual } from 'node:crypto'

/** A delivery before its signature is checked. */
export interface Delivery {
  readonly headers: Headers
  /** The exact bytes: re-encoded JSON has another signature. */
  readonly body: Buffer
  readonly now: number
}

/** A signing scheme. */
export interface SignatureStyle {
  /** The expected form of the secret, for an error message. */
  readonly secretExpected: string
  /** The key from a secret; `null` when it has another form. */
  keyOf(secret: string): Buffer | null
  /** Whether there is a signature at all; without one the delivery is not read further. */
  isSigned(headers: Headers): boolean
  isGenuine(delivery: Delivery, key: Buffer): boolean
}

/** An older timestamp, or one further ahead, counts as a replay. */
const toleranceMs = 300_000
const idPattern = /^[\x21-\x7e]{1,500}$/

/** A short key can be guessed. The specification requires this many bytes; GitHub states no number. */
const standardKeyBytesMin = 24
const githubKeyBytesMin = 8

/** Standard Webhooks: `webhook-id`, `webhook-timestamp` and the body are signed together, with one key or several. */
const standard: SignatureStyle = {
  secretExpected: `whsec_ and the Base64 of at least ${standardKeyBytesMin} bytes`,
  keyOf(secret) {
    const [, base64] = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
    const key = Buffer.from(base64 ?? '', 'base64')
    return key.length < standardKeyBytesMin ? null : key
  },
  isSigned: (headers) =>
    idPattern.test(headers.get('webhook-id') ?? '') &&
    /^\d{1,12}$/.test(headers.get('webhook-timestamp') ?? '') &&
    /(?:^| )v1,/.test(headers.get('webhook-signature') ?? ''),
  isGenuine({ headers, body, now }, key) {
    if (!standard.isSigned(headers)) return false
    const id = headers.get('webhook-id') ?? ''
    const timestamp = headers.get('webhook-timestamp') ?? ''
    if (Math.abs(Number(timestamp) * 1_000 - now) > toleranceMs) return false
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
    const shown = headers.get('webhook-signature')?.split(' ') ?? []
    return shown.some((one) => isSame(one, `v1,${signature}`))
  },
}

/** GitHub signs only the body: the delivery id, the event type and a timestamp are not covered. */
const github: SignatureStyle = {
  secretExpected: `a text of at least ${githubKeyBytesMin} bytes`,
  keyOf(secret) {
    const key = Buffer.from(secret)
    return key.length < githubKeyBytesMin ? null : key
  },
  isSigned: (headers) => (headers.get('x-hub-signature-256') ?? '').startsWith('sha256='),
  isGenuine({ headers, body }, key) {
    const signature = createHmac('sha256', key).update(body).digest('hex')
    return isSame(headers.get('x-hub-signature-256') ?? '', `sha256=${signature}`)
  },
}

export const signatureStyles = { standard, github } as const

/** Compares in constant time. */
function isSame(shown: string, right: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
