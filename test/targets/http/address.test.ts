import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AddressClass, addressClass } from '../../../src/targets/http/address-class.ts'

const cases: readonly (readonly [AddressClass, ...string[]])[] = [
  ['public', '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ['public', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
  ['public', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ['public', '2606:4700:4700::1111', '2001:200::1', '2001:4860:4860::8888', '3ffe::1', '2000::', '3fff:1000::'],
  ['public', '::ffff:8.8.8.8', '::ffff:808:808', '0:0:0:0:0:FFFF:0808:0808'],
  ['loopback', '127.0.0.1', '127.0.0.0', '127.255.255.255', '127.1.2.3'],
  ['loopback', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::1%lo'],
  ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ['private', '100.64.0.0', '100.127.255.255', '::ffff:10.0.0.1', '::ffff:c0a8:101'],
  ['private', 'fc00::', 'fd12:3456::1', 'fdff:ffff::1', 'fec0::1', 'feff::1'],
  ['link-local', '169.254.0.0', '169.254.1.1', '169.254.255.255', '::ffff:169.254.1.1'],
  ['link-local', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ['metadata', '169.254.169.254', '169.254.170.2', '169.254.170.23', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ['metadata', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254', 'fd20:ce::254', 'fe80::a9fe:a9fe'],
  ['special', '0.0.0.0', '0.255.255.255', '192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
  ['special', '198.18.0.0', '198.19.255.255', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ['special', '::', '::ffff:0.0.0.0', '::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:0:7f00:1', '::ffff:0:127.0.0.1'],
  ['special', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '100:0:0:1::1', '2001::1', '2001:10::1'],
  ['special', '2001:20::1', '2001:2::1', '2001:1ff::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1', '3fff::1'],
  ['special', '3fff:fff::1', '5f00::1', '4000::1', '1fff::1', 'fe00::1', 'ff02::1', 'ffff::1'],
  ['special', '', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '0177.0.0.1', '1.2.3', '1.2.3.256', '[::1]', '::g'],
]

describe('the class of an address', () => {
  it.each(cases)('is %s', (expected, ...addresses) => {
    for (const address of addresses) expect([address, addressClass(address)]).toEqual([address, expected])
  })

  it('is the same for an IPv4 address and for the IPv6 address that it is mapped to', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
        const groups = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(':')
        expect(addressClass(`::ffff:${address}`)).toBe(addressClass(address))
        expect(addressClass(`::ffff:${groups}`)).toBe(addressClass(address))
      }),
    )
  })

  it('is never public for an IPv6 address outside of what is handed out to the public', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = address.startsWith(':') ? 0 : Number.parseInt(address, 16)
        fc.pre((first & 0xe000) !== 0x2000 && !/ffff:/i.test(address))
        expect(addressClass(address)).not.toBe('public')
      }),
    )
  })
})
