import { BelfryError } from '../../core/error.ts'
import { signatureOf } from '../../core/request-signature.ts'
import type { Attempt } from '../attempt.ts'
import type { Secret, SecretResolver } from '../secret.ts'
import { ExchangeFailure } from './exchange-failure.ts'
import type { HttpRequest } from './http-target.ts'
import type { Outgoing } from './request.ts'

/** The names of the secrets that requests are signed with. */
export interface SigningKeys {
  readonly secret: string
  /** The name of the key that `secret` replaces; requests carry a signature by each of them. */
  readonly previous?: string | undefined
}

/** Signs the requests of an attempt; null where its target asks for none. */
export type Sign = ((request: Outgoing, now: number) => Outgoing) | null

/** Reads the keys of a target. Without them nothing is sent. */
export async function signerOf(
  { runId, fence }: Attempt,
  { sign }: HttpRequest,
  resolver: SecretResolver,
): Promise<{ readonly sign: Sign; readonly secrets: readonly Secret[] }> {
  if (sign === undefined) return { sign: null, secrets: [] }
  const names = [sign.secret, ...(sign.previous === undefined ? [] : [sign.previous])]
  const { value, secrets } = await keysOf(names, resolver)
  const signed = (request: Outgoing, now: number): Outgoing => {
    const { url, method, body, headers } = request
    const seconds = Math.floor(now / 1_000)
    const said = { seconds, method, url: url.href, run: runId, fence: String(fence), body }
    const signature = signatureOf(said, value)
    const own = [
      { name: 'belfry-timestamp', value: String(seconds) },
      { name: 'belfry-signature', value: signature },
    ]
    return { ...request, headers: [...headers, ...own] }
  }
  return { sign: signed, secrets }
}

async function keysOf(names: readonly string[], resolver: SecretResolver) {
  try {
    const { value, secrets } = await resolver.resolve(names.map((secret) => ({ secret })))
    return { value: value as readonly string[], secrets }
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    throw new ExchangeFailure(`no-signing-key: ${error.message}`, {
      retryable: error.code === 'unavailable',
      cause: error,
    })
  }
}
