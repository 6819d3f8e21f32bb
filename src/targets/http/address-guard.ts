import { isIP, isIPv6 } from 'node:net'
import { BelfryError } from '../../core/error.ts'
import { type AddressClass, addressClass } from './address-class.ts'

/** Which addresses targets may call. The operator sets it; a target cannot. */
export interface NetworkPolicy {
  /**
   * Whether targets may call this machine. Turn it off as soon as people other than this machine's users can write
   * targets.
   */
  readonly allowLoopback?: boolean | undefined
  /** Whether targets may call private networks. */
  readonly allowPrivate?: boolean | undefined
  /**
   * Hosts that may be called whatever their addresses are: `name`, `name:port`, or an address with or
   * without a port.
   */
  readonly allowHosts?: readonly string[] | undefined
}

/** Why a URL or address must not be called; `null` when it may be. */
export interface NetworkGuard {
  /** Checks the URL itself. If the URL has a name, the addresses of the name must still be checked. */
  urlRefusal(url: URL): string | null
  addressRefusal(url: URL, address: string): string | null
}

/** The names of cloud metadata services, whatever they resolve to here. */
const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'rancher-metadata',
])

const whatIs: Readonly<Record<AddressClass, string>> = {
  public: 'a public address',
  loopback: 'an address of this machine',
  private: 'an address of a private network',
  'link-local': 'a link-local address',
  metadata: 'the address of a metadata service',
  special: 'an address for special use',
}

export function networkGuard(policy: NetworkPolicy): NetworkGuard {
  const { allowLoopback = true, allowPrivate = false, allowHosts = [] } = policy
  const allowed = new Set(allowHosts.map(allowedKey))
  const isAllowed = (url: URL) => allowed.has(hostOf(url)) || allowed.has(`${hostOf(url)}:${portOf(url)}`)
  const open: ReadonlySet<AddressClass> = new Set<AddressClass>([
    'public',
    ...(allowLoopback ? (['loopback'] as const) : []),
    ...(allowPrivate ? (['private'] as const) : []),
  ])

  const addressRefusal = (url: URL, address: string) => {
    const is = addressClass(address)
    return open.has(is) || isAllowed(url) ? null : refusal(url, address, is)
  }
  return {
    addressRefusal,
    urlRefusal(url) {
      const problem = urlProblem(url)
      if (problem !== null) return problem
      if (metadataNames.has(hostOf(url)) && !isAllowed(url)) {
        return `${hostOf(url)} is not allowed: it is the name of a metadata service; ${byName(url)} would allow it`
      }
      const literal = literalOf(url)
      return literal === null ? null : addressRefusal(url, literal)
    },
  }
}

/** What no operator can allow: other protocols, and credentials in the URL, where every log shows them. */
export function urlProblem({ protocol, username, password, hostname }: URL): string | null {
  if (protocol !== 'http:' && protocol !== 'https:') return `${protocol} is not allowed: only http: and https: are`
  if (username !== '' || password !== '') return 'credentials inside the URL are not allowed: a header can carry them'
  return hostname === '' ? 'the URL names no host' : null
}

function refusal(url: URL, address: string, is: AddressClass): string {
  const host = hostOf(url)
  const leads = literalOf(url) === null ? `${host} leads to ${address}, which` : address
  const ways = [
    ...(is === 'loopback' ? ['allowLoopback'] : []),
    ...(is === 'private' ? ['allowPrivate'] : []),
    byName(url),
  ]
  return `${leads} is not allowed: it is ${whatIs[is]}; ${ways.join(' or ')} would allow it`
}

function byName(url: URL): string {
  return `"${hostOf(url)}" in allowHosts`
}

/** The address in a URL without a name. Parsing has normalised decimal, octal and hexadecimal ones. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? null : bare
}

/** A name with and without the root's dot is the same name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '')
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function allowedKey(entry: string): string {
  const [, host = '', port] =
    /^(\[[^\]]*\]|[^:/?#@\\\s*]+)(?::(\d{1,5}))?$/.exec(isIPv6(entry) ? `[${entry}]` : entry) ?? []
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : null
  if (host === '' || url === null) {
    throw new BelfryError('invalid', `allowHosts has ${JSON.stringify(entry)}, which is not a host.`, {
      hint: 'Name hosts as in a URL, such as "api.internal", "api.internal:8080" or "[fd00::1]:80".',
    })
  }
  return port === undefined ? hostOf(url) : `${hostOf(url)}:${Number(port)}`
}
