import { lookup as resolveName } from 'node:dns/promises'
import { connect as connectPlain, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { literalOf, type NetworkGuard, portOf } from './address-guard.ts'
import { notAllowed, stopped, unconnected, unresolved } from './exchange-failure.ts'

export interface HostAddress {
  readonly address: string
  readonly family: number
}

/** Turns a name into all its addresses. */
export type Lookup = (host: string) => Promise<readonly HostAddress[]>

export interface Route {
  readonly guard: NetworkGuard
  readonly lookup: Lookup
}

/**
 * How long one address of several may delay the next. The default of a quarter of a second gives up on servers that are merely
 * far away.
 */
const attemptMsMax = 1_000

/**
 * Concurrent lookups of one name share one query. The system's resolver, with its files and search domains, works in few threads,
 * and a name without an answer occupies one for seconds.
 */
export function sharedLookup(resolve: Lookup = (host) => resolveName(host, { all: true })): Lookup {
  const asked = new Map<string, Promise<readonly HostAddress[]>>()
  return (host) => {
    const known = asked.get(host)
    if (known !== undefined) return known
    const asking = (async () => resolve(host))().finally(() => asked.delete(host))
    asked.set(host, asking)
    return asking
  }
}

/**
 * Opens a connection to the URL's host, if it may be called.
 *
 * The checked addresses are the ones that are called: if the name were resolved again for the call, the owner of the name could
 * return a harmless address to the check and another address to the call. One forbidden address among several forbids all,
 * because the network chooses which of them answers.
 */
export async function connect(url: URL, route: Route, signal: AbortSignal): Promise<Socket> {
  const addresses = await addressesOf(url, route, signal)
  for (const { address } of addresses) {
    const refusal = route.guard.addressRefusal(url, address)
    if (refusal !== null) throw notAllowed(refusal)
  }
  const socket = await opened(url, addresses, signal)
  const { remoteAddress } = socket
  // The connected address cannot differ from the checked ones; if it did, this would be the last
  // chance to notice.
  const refusal = remoteAddress === undefined ? null : route.guard.addressRefusal(url, remoteAddress)
  if (remoteAddress !== undefined && refusal === null) return socket
  socket.destroy()
  throw refusal === null ? unconnected(url.host, { code: 'ECONNRESET' }, false) : notAllowed(refusal)
}

async function addressesOf(url: URL, { guard, lookup }: Route, signal: AbortSignal): Promise<readonly HostAddress[]> {
  const refusal = guard.urlRefusal(url)
  if (refusal !== null) throw notAllowed(refusal)
  const literal = literalOf(url)
  if (literal !== null) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
  const found = await asked(url.hostname, lookup, signal)
  if (found.length === 0) throw unresolved(url.hostname, { code: 'no address' })
  return found
}

/** A lookup cannot be cancelled; the caller only stops waiting for it. */
async function asked(host: string, lookup: Lookup, signal: AbortSignal): Promise<readonly HostAddress[]> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(stopped(`resolving the name ${host}`, signal.reason))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    lookup(host)
      .then(resolve, (error: unknown) => reject(unresolved(host, error)))
      .finally(() => signal.removeEventListener('abort', stop))
  })
}

function opened(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<Socket> {
  const isSecure = url.protocol === 'https:'
  const stage = `connecting to ${url.host}`
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(stopped(stage, signal.reason))
    const socket = isSecure ? connectSecure(secureOptions(url, addresses)) : connectPlain(plainOptions(url, addresses))
    let isSecuring = false
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort)
      act()
    }
    const abort = () => {
      socket.once('close', () => reject(stopped(stage, signal.reason))).destroy()
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('connect', () => {
      isSecuring = isSecure
    })
    socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(() => resolve(socket)))
    // Never removed: an unhandled error of a socket would end the process.
    socket.on('error', (error) => settle(() => reject(unconnected(url.host, error, isSecuring))))
  })
}

function plainOptions(url: URL, addresses: readonly HostAddress[]): TcpNetConnectOpts {
  return {
    host: literalOf(url) ?? url.hostname,
    port: portOf(url),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMsMax,
    noDelay: true,
    lookup: (_host, { all }, answer) => {
      const [first] = addresses as readonly [HostAddress]
      if (all) answer(null, [...addresses])
      else answer(null, first.address, first.family)
    },
  }
}

function secureOptions(url: URL, addresses: readonly HostAddress[]) {
  const name = literalOf(url) === null ? { servername: url.hostname.replace(/\.$/, '') } : {}
  return { ...plainOptions(url, addresses), ...name, ALPNProtocols: ['http/1.1'] }
}
