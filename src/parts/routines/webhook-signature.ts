import { createHmac, timingSafeEqual } from 'node:crypto'

/** A delivery as it came, before anybody knows whether it is genuine. */
export interface Delivery {
  readonly headers: Headers
  /** As it was sent, byte for byte: what is read and written again is signed by nobody. */
  readonly body: Buffer
  readonly now: number
}

/** How a kind of sender signs what it sends. */
export interface SignatureStyle {
  /** What a secret of this kind is, for whoever has set another. */
  readonly secretExpected: string
  /** The key that a secret stands for; `null` where it is no secret of this kind. */
  keyOf(secret: string): Buffer | null
  /** Whether there is a signature at all; without one nothing more of a delivery is worth reading. */
  isSigned(headers: Headers): boolean
  isGenuine(delivery: Delivery, key: Buffer): boolean
}

/** Who keeps a delivery longer than this, or whose clock is further away, is taken for somebody who replays it. */
const toleranceMs = 300_000
const idPattern = /^[\x21-\x7e]{1,500}$/

/** What can be guessed keeps nobody out. The specification asks for as many bytes; GitHub says nothing of how many. */
const standardKeyBytesMin = 24
const githubKeyBytesMin = 8

/** Standard Webhooks: `webhook-id`, `webhook-timestamp` and the body are signed together, by one key or by several. */
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

/** GitHub signs the body alone: neither the id of the delivery nor the type of the event is part of it, and no instant. */
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

/** In the same time, however much of it is right. */
function isSame(shown: string, right: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
