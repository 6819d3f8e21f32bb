import { describe, expect, it } from 'vitest'
import { redirected } from '../../../src/targets/http/redirect.ts'
import type { Header, Outgoing } from '../../../src/targets/http/request.ts'
import { caller, type Seen, witness } from './stage.ts'

const body = Buffer.from('{}')
const outgoing = (changed: Partial<Outgoing> = {}): Outgoing => ({
  url: new URL('https://a.test/from?q#f'),
  method: 'POST',
  headers: [{ name: 'Content-Type', value: 'application/json' }],
  body,
  hasSecretBody: false,
  ...changed,
})
const namesAfter = (headers: readonly Header[], location: string) =>
  redirected(outgoing({ headers }), 307, location).headers.map(({ name }) => name)

describe('a redirect', () => {
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'DELETE', 'DELETE'],
    [301, 'GET', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
  ])('by %d turns %s into %s, with its body only if it stays what it was', (status, method, next) => {
    const { method: then, body: carried, headers } = redirected(outgoing({ method }), status, '/to')
    const isKept = method === next && status !== 303
    expect(then).toBe(next)
    expect(carried).toBe(isKept ? body : null)
    expect(headers.map(({ name }) => name)).toEqual(isKept ? ['Content-Type'] : [])
  })

  it.each([
    ['to?r', 'https://a.test/to?r'],
    ['//b.test/x', 'https://b.test/x'],
    ['http://b.test', 'http://b.test/'],
    ['', 'https://a.test/from?q'],
  ])('to %j leads to %s', (location, href) => expect(redirected(outgoing(), 307, location).url.href).toBe(href))

  it('to what is no URL is an error', () => {
    expect(() => redirected(outgoing(), 302, 'http://[')).toThrow(/invalid URL/)
  })

  const headers: Header[] = [
    ...['Authorization', 'cookie', 'Proxy-Authorization', 'X-Api-Key', 'x-auth-token', 'X-Hub-Signature-256'],
    ...['api_key', 'Private-Token', 'idempotency-key', 'belfry-run', 'accept', 'x-keyboard', 'x-author'],
  ].map((name) => ({ name, value: 'a' }))
  const harmless = ['idempotency-key', 'belfry-run', 'accept', 'x-keyboard', 'x-author']

  it.each(['http://a.test/', 'https://a.test:8443/', 'https://b.test/', 'https://a.test.b.test/'])(
    'to %s, another origin, takes no credentials along',
    (location) => expect(namesAfter(headers, location)).toEqual(harmless),
  )

  it.each(['/to', 'https://a.test/to', 'https://a.test:443/', 'https://A.TEST/'])(
    'to %s, the same origin, takes them along',
    (location) => expect(namesAfter(headers, location)).toHaveLength(headers.length),
  )

  it('to another origin takes nothing along that came from a secret, whatever it is called', () => {
    const secret = { value: 'a', isSecret: true }
    const given = [
      { name: 'accept', ...secret },
      { name: 'Idempotency-Key', ...secret },
      { name: 'x-plain', value: 'a' },
    ]
    expect(namesAfter(given, 'https://b.test/')).toEqual(['x-plain'])
    const secretBody = outgoing({ hasSecretBody: true })
    expect(() => redirected(secretBody, 307, 'https://b.test/')).toThrow(/holds secrets/)
    expect(redirected(secretBody, 302, 'https://b.test/')).toMatchObject({ body: null, hasSecretBody: false })
    expect(redirected(secretBody, 307, '/to').body).toBe(body)
  })
})

describe('a call that is redirected', () => {
  it('ends where it is led to, and tells the way without what was asked there', async () => {
    const server = await witness((request, response) => {
      if (request.url === '/end') response.end('here')
      else response.writeHead(302, { location: request.url === '/' ? '/next?token=1' : '/end' }).end('moved')
    })
    const { facts, result } = await caller().call({ url: server.url, body: 'x' })
    expect(facts).toMatchObject({ status: 200, text: 'here' })
    expect(result.redirects).toEqual([`${server.url}/next`, `${server.url}/end`])
    expect(server.seen.map(({ method, url, body: sent }) => [method, url, sent])).toEqual([
      ['POST', '/', 'x'],
      ['GET', '/next?token=1', ''],
      ['GET', '/end', ''],
    ])
  })

  it('gives its credentials to the first server and to no other one', async () => {
    const second = await witness()
    const first = await witness((_, response) => {
      response.writeHead(307, { location: `http://second.test:${second.port}/` }).end()
    })
    await caller({ env: { BELFRY_SECRET_TOKEN: 'tok-tok-tok' } }).call({
      url: first.url,
      method: 'PUT',
      headers: { Authorization: 'Bearer a', Cookie: 'a=b', 'X-Mine': { secret: 'TOKEN' }, 'X-Other': 'kept' },
      body: 'same',
    })
    const sent = ({ headers }: Seen) => [headers.authorization, headers.cookie, headers['x-mine'], headers['x-other']]
    expect(first.seen.map(sent)).toEqual([['Bearer a', 'a=b', 'tok-tok-tok', 'kept']])
    expect(second.seen.map(sent)).toEqual([[undefined, undefined, undefined, 'kept']])
    expect(second.seen[0]).toMatchObject({ method: 'PUT', body: 'same' })
    expect(second.seen[0]?.headers).toMatchObject({ 'belfry-run': 'r-11', 'idempotency-key': 'key-1' })
  })

  it('goes three steps and not a fourth', async () => {
    const server = await witness((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('here')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const { call } = caller()
    expect((await call({ url: `${server.url}/3` })).facts).toMatchObject({ status: 200 })
    expect((await call({ url: `${server.url}/4` })).facts).toEqual({
      error: expect.stringMatching(/redirected more than 3 times/),
    })
    expect(server.seen).toHaveLength(8)
  })

  it('without a word whereto ends there', async () => {
    const server = await witness((_, response) => response.writeHead(302).end('?'))
    expect((await caller().call({ url: server.url })).facts).toMatchObject({ status: 302, text: '?' })
  })

  it('to where nobody listens is not called harmless, because the first server was reached', async () => {
    const server = await witness((_, response) => response.writeHead(303, { location: 'http://none.invalid/' }).end())
    const { facts } = await caller().call({ url: server.url, body: 'pay' })
    expect(facts).toEqual({ error: expect.stringMatching(/could not be resolved/) })
  })
})
