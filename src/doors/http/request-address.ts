/** A host that can stand in a shell command as it is: a name or an address, and a port. */
const plainHost = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i

/** What stands in place of an address that cannot be told. */
export const addressUnknown = 'http://ADDRESS-OF-THIS-SERVER'

/**
 * The address by which a request found this server, as the client sees it. The host is the one of the request, which the
 * gate has judged. Of what a proxy may have added only one thing is believed: that the client speaks TLS to it. A host in
 * such a header would send a reader, and the token with the copied command, to a server of the sender's choice; the word
 * `https` can at worst lead to a port that does not answer.
 */
export function requestAddress({ url, headers }: Pick<Request, 'url' | 'headers'>): string {
  const { protocol, host: hostOfUrl } = new URL(url)
  const host = headers.get('host') ?? hostOfUrl
  if (!plainHost.test(host)) return addressUnknown
  const isSecure = protocol === 'https:' || headers.get('x-forwarded-proto') === 'https'
  return `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`
}
