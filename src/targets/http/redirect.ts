import { ExchangeFailure } from './exchange-failure.ts'
import type { Header, Outgoing } from './request.ts'

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Names of headers that may contain credentials. A header with a secret counts whatever its name is. */
const credentialName =
  /(^|[-_])(authorization|auth|cookie|credentials?|key|apikey|password|secret|session|signature|token)([-_]|$)/i
const bodyHeader = /^content-/i

export function isRedirect(status: number, location: string | undefined): location is string {
  return redirectStatuses.has(status) && location !== undefined
}

/**
 * The request that follows a redirect. Another origin gets no credentials, because it is not the server that was trusted with
 * them. A body with secrets cannot be sent without them, so such a redirect is not followed.
 */
export function redirected(request: Outgoing, status: number, location: string): Outgoing {
  const url = URL.canParse(location, request.url.href) ? new URL(location, request.url) : null
  if (url === null) throw new ExchangeFailure(`${request.url.host} redirects to an invalid URL`)
  const isElsewhere = url.origin !== request.url.origin
  const headers = isElsewhere ? request.headers.filter((header) => !isCredential(header)) : request.headers
  if (becomesGet(status, request.method)) {
    const kept = headers.filter(({ name }) => !bodyHeader.test(name))
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
    return { url, method, headers: kept, body: null, hasSecretBody: false }
  }
  if (isElsewhere && request.hasSecretBody) {
    throw new ExchangeFailure(
      `${request.url.host} redirects to ${url.host} with ${status}: the body holds secrets, which go to no other origin`,
      { retryable: false },
    )
  }
  return { ...request, url, headers }
}

/** Changes the method to GET as browsers do: for 303, and for 301 and 302 after a POST. */
function becomesGet(status: number, method: string): boolean {
  return status === 303 || ((status === 301 || status === 302) && method === 'POST')
}

function isCredential({ name, isSecret }: Header): boolean {
  if (name.toLowerCase() === 'idempotency-key') return isSecret === true
  return isSecret === true || credentialName.test(name)
}
