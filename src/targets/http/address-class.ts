import { isIPv4, isIPv6 } from 'node:net'

/** The use of an address. Only a public one may be called without permission. */
export type AddressClass = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'special'

/**
 * The special ranges of both families, from the registries of IANA, and the addresses of cloud metadata services, which give
 * credentials to any caller. Of several ranges that contain an address the narrowest counts.
 */
const ranges: readonly (readonly [AddressClass, ...string[]])[] = [
  ['public', '0.0.0.0/0', '2000::/3'],
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10'],
  ['link-local', '169.254.0.0/16', 'fe80::/10'],
  [
    'metadata',
    ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32', '169.254.0.23/32', '192.0.0.192/32'],
    ...['100.100.100.200/32', '168.63.129.16/32'],
    ...['fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128', 'fd00:42::42/128', 'fe80::a9fe:a9fe/128'],
  ],
  // This host and network, protocol assignments, documentation, 6to4 relays, benchmarks, multicast, reserved, broadcast.
  ['special', '0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '192.88.99.0/24'],
  ['special', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
  // In IPv6: everything that is not assigned for public use, and within the public range protocol assignments with
  // Teredo, documentation, 6to4.
  ['special', '::/0', '2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16'],
]

interface Range {
  readonly is: AddressClass
  readonly bits: number
  readonly base: bigint
}

const addressBits = 128
/** IPv4 addresses are compared as mapped IPv6 addresses, so one table serves both. */
const mapped = 0xffff_0000_0000n
const mappedBits = 96

const table: readonly Range[] = ranges
  .flatMap(([is, ...texts]) => texts.map((text) => rangeOf(is, text)))
  .sort((one, other) => other.bits - one.bits)

function rangeOf(is: AddressClass, text: string): Range {
  const [address = '', length] = text.split('/')
  const bits = Number(length) + (isIPv4(address) ? mappedBits : 0)
  return { is, bits, base: prefix(numberOf(address) ?? 0n, bits) }
}

/** A text that is not an address counts as special. */
export function addressClass(address: string): AddressClass {
  const value = numberOf(address)
  if (value === null) return 'special'
  return table.find(({ bits, base }) => prefix(value, bits) === base)?.is ?? 'special'
}

function prefix(value: bigint, bits: number): bigint {
  return value >> BigInt(addressBits - bits)
}

function numberOf(address: string): bigint | null {
  if (isIPv4(address)) return mapped + number4(address)
  if (!isIPv6(address)) return null
  // The zone names the interface, not the destination.
  const [bare = ''] = address.split('%')
  const dotted = /[\d.]+$/.exec(bare)?.[0] ?? ''
  const groups = dotted.includes('.') ? bare.slice(0, -dotted.length) + groupsOf4(dotted) : bare
  const [head = '', tail] = groups.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const between = new Array<string>(8 - front.length - back.length).fill('0')
  return [...front, ...between, ...back].reduce((value, group) => (value << 16n) + BigInt(`0x${group}`), 0n)
}

function number4(address: string): bigint {
  return address.split('.').reduce((value, part) => (value << 8n) + BigInt(part), 0n)
}

function groupsOf4(address: string): string {
  const value = Number(number4(address))
  return `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`
}
