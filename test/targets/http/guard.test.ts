import { describe, expect, it } from 'vitest'
import { addresses, caller, witness } from './stage.ts'

const closed = { allowLoopback: false }

describe('a call goes to no address that is not allowed', () => {
  it('though the name led elsewhere when somebody looked before', async () => {
    const server = await witness()
    const answers = [addresses('93.184.216.34'), addresses('127.0.0.1')]
    const asked: string[] = []
    const { call } = caller({
      network: closed,
      lookup: async (host) => {
        asked.push(host)
        return answers.pop() ?? []
      },
    })
    const { facts } = await call({ url: `http://rebind.test:${server.port}/` })
    expect(facts).toEqual({
      error: expect.stringMatching(/^rebind\.test leads to 127\.0\.0\.1, which is not allowed/),
      retryable: false,
    })
    // What was judged is what is called: a name is asked for once, and nobody can answer twice.
    expect(asked).toEqual(['rebind.test'])
    expect(server.seen).toEqual([])
  })

  it('though only one of several addresses is not', async () => {
    const server = await witness()
    for (const all of [
      ['127.0.0.1', '10.0.0.1'],
      ['127.0.0.1', '::ffff:a9fe:a9fe'],
      ['127.0.0.1', 'fe80::1'],
    ]) {
      const { facts } = await caller({ lookup: async () => addresses(...all) }).call({
        url: `http://mixed.test:${server.port}/`,
      })
      expect(facts).toMatchObject({ error: expect.stringContaining(`leads to ${all[1]}`), retryable: false })
    }
    expect(server.seen).toEqual([])
  })

  it.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '[::ffff:7f00:1]', '[::1]', '127.0.0.1', '0'])(
    'though its name is written as %s, which nobody resolves',
    async (host) => {
      const server = await witness()
      const asked: string[] = []
      const lookup = async (name: string) => {
        asked.push(name)
        return addresses('127.0.0.1')
      }
      const { facts } = await caller({ network: closed, lookup }).call({ url: `http://${host}:${server.port}/` })
      expect(facts).toMatchObject({
        error: expect.stringMatching(/is not allowed: it is an address/),
        retryable: false,
      })
      expect([asked, server.seen]).toEqual([[], []])
    },
  )

  it.each([
    ['http://169.254.169.254/latest/meta-data/', /metadata service/],
    ['http://metadata.google.internal/', /metadata service/],
    ['http://2852039166/', /metadata service/],
    ['http://10.0.0.1/', /private network/],
    ['http://private.invalid/', /private network/],
    ['http://[fe80::1]/', /link-local/],
    ['file:///etc/passwd', /only http/],
    ['http://user:hidden@127.0.0.1/', /credentials/],
    ['//169.254.169.254/', /metadata service/],
  ])('though a server that may be called redirects to %s', async (location, refusal) => {
    const server = await witness((_, response) => response.writeHead(302, { location }).end())
    const { call } = caller({
      lookup: async (host) => addresses(host === 'private.invalid' ? '10.0.0.1' : '127.0.0.1'),
    })
    const { facts } = await call({ url: server.url })
    expect(facts).toEqual({ error: expect.stringMatching(refusal), retryable: false })
    expect(facts.error).not.toContain('hidden')
    expect(server.seen).toHaveLength(1)
  })

  it('though a server that may be called by its name redirects to its address, which may not', async () => {
    const server = await witness((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: `http://127.0.0.1:${server.port}/there` })
      response.end()
    })
    const { call } = caller({ network: { allowLoopback: false, allowHosts: ['named.test'] } })
    const { facts } = await call({ url: `http://named.test:${server.port}/` })
    expect(facts).toEqual({ error: expect.stringContaining('this machine'), retryable: false })
    expect(server.seen).toHaveLength(1)
  })

  it('though a connection to the same place was allowed under another name', async () => {
    const server = await witness()
    const { call } = caller({ network: { allowLoopback: false, allowHosts: ['named.test'] } })
    expect((await call({ url: `http://named.test:${server.port}/` })).facts).toMatchObject({ status: 200 })
    expect((await call({ url: `http://other.test:${server.port}/` })).facts).toMatchObject({ retryable: false })
    expect((await call({ url: `http://127.0.0.1:${server.port}/` })).facts).toMatchObject({ retryable: false })
    expect(server.seen).toHaveLength(1)
  })
})

describe('a call goes', () => {
  it('to this machine, by any name, unless that is switched off', async () => {
    const server = await witness()
    const { call } = caller()
    for (const host of ['127.0.0.1', 'here.test', '2130706433', '[::ffff:127.0.0.1]']) {
      expect((await call({ url: `http://${host}:${server.port}/` })).facts).toMatchObject({ status: 200 })
    }
    expect(server.seen.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.1:${server.port}`,
      `here.test:${server.port}`,
      `127.0.0.1:${server.port}`,
      `[::ffff:7f00:1]:${server.port}`,
    ])
  })

  it('where the operator says, by name and port', async () => {
    const server = await witness()
    const { call } = caller({ network: { allowLoopback: false, allowHosts: [`named.test:${server.port}`] } })
    expect((await call({ url: `http://named.test:${server.port}/` })).facts).toMatchObject({ status: 200 })
    expect((await call({ url: 'http://named.test:1/' })).facts).toMatchObject({ retryable: false })
  })
})
