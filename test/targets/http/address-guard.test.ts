import { describe, expect, it } from 'vitest'
import { type NetworkPolicy, networkGuard } from '../../../src/targets/http/address-guard.ts'

const urlRefusal = (url: string, policy: NetworkPolicy = {}) => networkGuard(policy).urlRefusal(new URL(url))
const addressRefusal = (url: string, address: string, policy: NetworkPolicy = {}) =>
  networkGuard(policy).addressRefusal(new URL(url), address)

/** One address of each class, as URLs write them. */
const loopback = 'http://127.0.0.1/'
const privateNet = 'http://10.1.2.3/'
const linkLocal = 'http://[fe80::1]/'
const metadata = 'http://169.254.169.254/latest/'
const special = 'http://0.0.0.0/'
const all = [loopback, privateNet, linkLocal, metadata, special]

describe('the guard', () => {
  it.each<[NetworkPolicy, readonly string[]]>([
    [{}, [loopback]],
    [{ allowLoopback: false }, []],
    [{ allowPrivate: true }, [loopback, privateNet]],
    [{ allowLoopback: false, allowPrivate: true }, [privateNet]],
    [{ allowHosts: ['169.254.169.254', '0.0.0.0:80'] }, [loopback, metadata, special]],
    [{ allowHosts: ['fe80::1'], allowLoopback: false }, [linkLocal]],
  ])('under %j lets exactly %j through', (policy, allowed) => {
    expect(all.filter((url) => urlRefusal(url, policy) === null)).toEqual(allowed)
    expect(urlRefusal('https://1.1.1.1/', policy)).toBeNull()
  })

  it.each([
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
  ])('knows loopback however it is written: %s', (url) => {
    expect(urlRefusal(url, { allowLoopback: false })).toMatch(/not allowed: it is an address of this machine/)
    expect(urlRefusal(url)).toBeNull()
  })

  it.each(['http://2852039166/', 'http://0xa9fea9fe/', 'http://0251.0376.0251.0376/', 'http://[::ffff:a9fe:a9fe]/'])(
    'knows a metadata service however it is written: %s',
    (url) => expect(urlRefusal(url, { allowPrivate: true })).toMatch(/metadata service/),
  )

  it.each(['http://metadata.google.internal/', 'http://METADATA.google.internal./', 'http://instance-data/latest/'])(
    'refuses %s by its name, unless the operator names it too',
    (url) => {
      expect(urlRefusal(url, { allowPrivate: true })).toMatch(/name of a metadata service/)
      expect(urlRefusal(url, { allowHosts: ['metadata.google.internal', 'instance-data:80'] })).toBeNull()
    },
  )

  it.each([
    ['ftp://example.org/', /only http: and https:/],
    ['file:///etc/passwd', /only http: and https:/],
    ['gopher://example.org/', /only http:/],
    ['http://user:password@example.org/', /credentials/],
    ['http://127.0.0.1@example.org/', /credentials/],
    ['https://:password@example.org/', /credentials/],
  ])('refuses %s, and nobody can allow it', (url, refusal) => {
    expect(urlRefusal(url, { allowHosts: ['example.org', '127.0.0.1'] })).toMatch(refusal)
  })

  it('leaves a name to its addresses', () => {
    expect(urlRefusal('http://inner.test/')).toBeNull()
    expect(addressRefusal('http://inner.test/', '10.0.0.1')).toMatch(/inner\.test leads to 10\.0\.0\.1/)
    expect(addressRefusal('http://inner.test/', '127.0.0.1')).toBeNull()
    expect(addressRefusal('http://inner.test/', '127.0.0.1', { allowLoopback: false })).toMatch(/this machine/)
    expect(addressRefusal('http://inner.test/', 'fe80::1%eth0')).toMatch(/link-local/)
    expect(addressRefusal('http://inner.test/', 'no address')).toMatch(/special/)
  })

  it('says what would allow it', () => {
    expect(urlRefusal(loopback, { allowLoopback: false })).toMatch(/allowLoopback or "127\.0\.0\.1" in allowHosts/)
    expect(urlRefusal(privateNet)).toMatch(/allowPrivate or "10\.1\.2\.3" in allowHosts/)
    expect(urlRefusal(metadata)).toMatch(/; "169\.254\.169\.254" in allowHosts would allow it/)
    expect(addressRefusal('http://inner.test/', '10.0.0.1')).toMatch(/allowPrivate or "inner\.test" in allowHosts/)
  })

  it.each([
    ['inner.test', 'http://inner.test:8080/', true],
    ['INNER.test.', 'http://inner.test/', true],
    ['inner.test', 'http://inner.test./', true],
    ['inner.test:8080', 'http://inner.test:8080/', true],
    ['inner.test:8080', 'http://inner.test/', false],
    ['inner.test:80', 'http://inner.test/', true],
    ['inner.test:443', 'https://inner.test/', true],
    ['inner.test:80', 'https://inner.test/', false],
    ['inner.test', 'http://a.inner.test/', false],
    ['inner.test', 'http://inner.test.evil.test/', false],
    ['10.0.0.1', 'http://inner.test/', false],
    ['[fd00::1]:81', 'http://[fd00:0::1]:81/', true],
    ['fd00::1', 'http://[fd00::1]:81/', true],
    ['0x0a.1', 'http://10.0.0.1/', true],
  ])('%s in allowHosts, for %s: %s', (entry, url, isAllowed) => {
    const refusal = addressRefusal(url, '10.0.0.1', { allowHosts: [entry] })
    expect(refusal === null).toBe(isAllowed)
  })

  it.each([
    '',
    'http://inner.test',
    'inner.test/path',
    '*.test',
    'a b',
    'user@inner.test',
    'inner.test:x',
    ':80',
    '[::1',
  ])('refuses to begin with %j in allowHosts', (entry) =>
    expect(() => networkGuard({ allowHosts: [entry] })).toThrow(/not a host/),
  )
})
