/** A host that is safe in a shell command: a name or an address, with a port. */
const plainHost = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i

/** Stands in for an address that cannot be shown. */
export const addressUnknown = 'http://ADDRESS-OF-THIS-SERVER'

/**
 * The address of this server as the client sees it. The host is that of the request, which the authenticator has checked. Of
 * a proxy's headers only the protocol is trusted: a forged host would send the reader's copied command, with the token, to a
 * server of the sender's choice; a forged `https` can at worst lead to a port that does not answer.
 */
export function requestAddress({ url, headers }: Pick<Request, 'url' | 'headers'>): string {
  const { protocol, host: hostOfUrl } = new URL(url)
  const host = headers.get('host') ?? hostOfUrl
  if (!plainHost.test(host)) return addressUnknown
  const isSecure = protocol === 'https:' || headers.get('x-forwarded-proto') === 'https'
  return `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`
}
