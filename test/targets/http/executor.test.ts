import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../../src/core/run/expect.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { answering, attemptOf, caller, listening, traceparent, wire, witness } from './stage.ts'

describe('what is sent', () => {
  /** Everything a server got to read of one request. */
  async function bytesOf(http: object, payload?: unknown): Promise<{ head: string[]; body: string }> {
    const parts: Buffer[] = []
    const server = await wire((socket) => {
      socket.on('data', (chunk) => {
        parts.push(chunk)
        const [head = '', body = ''] = Buffer.concat(parts).toString('latin1').split('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (body.length >= length) socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    const ended = await caller().call({ url: `${server.url}/a%20b?c=d&e`, ...http }, { payload })
    expect(ended.facts).toMatchObject({ status: 204 })
    const [head = '', body = ''] = Buffer.concat(parts).toString().split('\r\n\r\n')
    return { head: head.replaceAll(String(server.port), 'PORT').split('\r\n'), body }
  }

  const own = [
    'user-agent: belfry',
    'accept-encoding: identity',
    'idempotency-key: key-1',
    'belfry-run: r-11',
    'belfry-attempt: 2',
    'belfry-planned-at: 1970-01-01T00:00:00.000Z',
    `traceparent: ${traceparent}`,
  ]

  it('without a body is a GET that says which attempt of which run it is', async () => {
    const { head, body } = await bytesOf({})
    expect(head).toEqual(['GET /a%20b?c=d&e HTTP/1.1', 'host: 127.0.0.1:PORT', 'connection: keep-alive', ...own])
    expect(body).toBe('')
  })

  it('with a text is a POST of exactly this text, and nothing is said of what it is', async () => {
    const { head, body } = await bytesOf({ body: ' grüße\r\n\u0000 {"a":1}' })
    expect(head[0]).toBe('POST /a%20b?c=d&e HTTP/1.1')
    expect(head).toContain(`content-length: ${Buffer.byteLength(' grüße\r\n\u0000 {"a":1}')}`)
    expect(head.filter((line) => line.startsWith('content-type'))).toEqual([])
    expect(body).toBe(' grüße\r\n\u0000 {"a":1}')
  })

  it.each([[{ a: [1, 'é'] }], [[]], [0], [false], [null], [{ secret: 5, more: 1 }]])(
    'with the data %j is their JSON, and says so',
    async (data) => {
      const { head, body } = await bytesOf({ body: data })
      expect(head).toContain('content-type: application/json')
      expect(body).toBe(JSON.stringify(data))
    },
  )

  it('has the headers exactly as they were given, which win over ours', async () => {
    const headers = {
      'X-MiXed': 'a: b, "c"',
      'Content-Type': 'application/vnd.a+json',
      'USER-AGENT': 'mine/1',
      'Accept-Encoding': 'gzip',
      'Idempotency-Key': 'my own',
      'x-latin': 'caf\u00e9',
    }
    const { head } = await bytesOf({ headers, body: { a: 1 } })
    const names = head.map((line) => line.split(':')[0]?.toLowerCase())
    expect(head).toEqual(
      expect.arrayContaining(['X-MiXed: a: b, "c"', 'USER-AGENT: mine/1', 'Idempotency-Key: my own']),
    )
    for (const name of Object.keys(headers)) expect(names.filter((one) => one === name.toLowerCase())).toHaveLength(1)
    expect(names).toEqual(expect.arrayContaining(['belfry-run', 'belfry-attempt', 'traceparent']))
  })

  it.each([
    ['POST', { day: 'today' }, '{"day":"today"}'],
    ['PUT', 'text', '"text"'],
    ['PATCH', 0, '0'],
    ['DELETE', [1], '[1]'],
    ['POST', null, ''],
    ['POST', undefined, ''],
    ['GET', { day: 'today' }, ''],
    ['OPTIONS', { day: 'today' }, ''],
    [undefined, { day: 'today' }, ''],
  ])('by %s without a body of its own carries the payload %j where a body belongs', async (method, payload, body) => {
    const sent = await bytesOf({ method }, payload)
    expect(sent.body).toBe(body)
    expect(sent.head.includes('content-type: application/json')).toBe(body !== '')
  })

  it('never carries the payload beside a body of its own', async () => {
    expect((await bytesOf({ method: 'PUT', body: '' }, { day: 'today' })).body).toBe('')
    expect((await bytesOf({ method: 'PUT', body: null }, { day: 'today' })).body).toBe('null')
  })

  it('has any key as a header, written so that a header can hold it', async () => {
    const server = await witness()
    await caller().call({ url: server.url }, { idempotencyKey: 'order/7: a b' })
    await caller().execute(attemptOf({ url: server.url }, { idempotencyKey: 'Bestellung № 7\r\nX: y' }))
    expect(server.seen[0]?.headers['idempotency-key']).toBe('order/7: a b')
    expect(server.seen[1]?.headers['idempotency-key']).toBe('Bestellung%20%E2%84%96%207%0D%0AX%3A%20y')
    expect(server.seen[1]?.headers.x).toBeUndefined()
  })
})

describe('what is kept', () => {
  const answered = async (head: string, body = '') => {
    const { url } = await wire(
      answering(`HTTP/1.1 ${head}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    )
    return caller().call({ url })
  }

  it('is status, a few headers, and the body as JSON where it says so', async () => {
    const clock = new TestClock()
    const server = await witness((_, response) => {
      clock.advance(12.4)
      response.setHeader('content-type', 'application/problem+json; charset=utf-8')
      response.setHeader('set-cookie', 'session=1')
      response.setHeader('x-request-id', 'q-1')
      response.end('{"a":[1]}')
    })
    const { facts, result } = await caller().call({ url: server.url }, { clock })
    expect(facts).toEqual({ status: 200, text: '{"a":[1]}', json: { a: [1] } })
    expect(result).toEqual({
      status: 200,
      headers: {
        'content-type': 'application/problem+json; charset=utf-8',
        'content-length': '9',
        'x-request-id': 'q-1',
      },
      body: { a: [1] },
      durationMs: 12,
    })
  })

  it.each([
    ['text/plain', '{"a":1}'],
    ['application/json', '{"a":'],
    ['application/json', ''],
    ['application/jsonlines', '1'],
    ['application/json', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('of %s is text where it cannot be JSON', async (type, body) => {
    const { facts, result } = await answered(`200 OK\r\ncontent-type: ${type}`, body)
    expect(result.body).toBe(body)
    expect(facts).toEqual({ status: 200, text: body })
  })

  it('is read in the charset it names, and never fails for it', async () => {
    const kept = async (type: string, bytes: Buffer) => {
      const server = await witness((_, response) => response.setHeader('content-type', type).end(bytes))
      return (await caller().call({ url: server.url })).result.body
    }
    expect(await kept('text/plain; charset=ISO-8859-1', Buffer.from('café', 'latin1'))).toBe('café')
    expect(await kept('text/plain;charset="utf-16le"', Buffer.from('café', 'utf16le'))).toBe('café')
    expect(await kept('text/plain; charset=none-such', Buffer.from('café'))).toBe('café')
    expect(await kept('text/plain', Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
  })

  it('of what is no text is only that it is none', async () => {
    const { facts, result } = await answered('200 OK\r\ncontent-type: image/png', 'PNG\0\0')
    expect(result).toMatchObject({ status: 200, binary: true })
    expect(result).not.toHaveProperty('body')
    expect(facts).toEqual({ status: 200 })
  })

  it('of an answer to HEAD, of 204 and of 304 is an empty body', async () => {
    const server = await witness((request, response) => {
      response.statusCode = Number(request.url?.slice(1))
      response.setHeader('content-encoding', 'gzip')
      response.end()
    })
    const { call } = caller()
    for (const [status, method] of [
      [200, 'HEAD'],
      [204, 'GET'],
      [304, 'GET'],
    ] as const) {
      const { facts, result } = await call({ url: `${server.url}/${status}`, method })
      expect(facts).toMatchObject({ status, text: '' })
      expect(result.body).toBe('')
    }
  })

  it('never takes a failed answer for none: its body is kept and its status judged', async () => {
    const { facts, result } = await answered('422 Unprocessable\r\ncontent-type: application/json', '{"error":"no"}')
    expect(result).toMatchObject({ status: 422, body: { error: 'no' } })
    expect(outcomeOf({ facts })).toEqual({ kind: 'failed', reason: 'status 422', retryable: false })
  })

  it('is how long the server asks to wait, by the clock of the attempt', async () => {
    const clock = new TestClock(Date.UTC(1994, 10, 6, 8, 49, 7))
    for (const [after, ms] of [
      ['9', 9_000],
      ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
      ['soon', undefined],
    ] as const) {
      const { url } = await wire(answering(`HTTP/1.1 503 No\r\nretry-after: ${after}\r\ncontent-length: 0\r\n\r\n`))
      const { facts } = await caller().call({ url }, { clock })
      expect(facts.retryAfterMs).toBe(ms)
    }
  })
})

describe('an error', () => {
  const failure = async (url: string, options: Parameters<typeof caller>[0] = {}) =>
    (await caller(options).call({ url })).facts

  it('of a port where nobody listens is told, and surely had no effect', async () => {
    const server = createServer()
    const port = await listening(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await failure(`http://127.0.0.1:${port}/`)).toEqual({
      error: `127.0.0.1:${port} refused the connection`,
      retryable: true,
    })
  })

  it('of several addresses where nobody listens is told once', async () => {
    const server = createServer()
    const port = await listening(server)
    await new Promise((resolve) => server.close(resolve))
    const lookup = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]
    expect(await failure(`http://two.test:${port}/`, { lookup })).toMatchObject({
      error: expect.stringMatching(/two\.test:\d+ refused the connection/),
      retryable: true,
    })
  })

  it('of a name that leads nowhere is told, and surely had no effect', async () => {
    const unknown = { error: 'the name none.invalid could not be resolved (ENOTFOUND)', retryable: true }
    expect(await failure('http://none.invalid/')).toEqual(unknown)
    expect(await failure('http://none.invalid/', { lookup: undefined })).toMatchObject({ retryable: true })
    expect(await failure('http://none.invalid/', { lookup: async () => [] })).toMatchObject({
      error: expect.stringMatching(/no address/),
    })
    const throwing = () => {
      throw Object.assign(new Error('no'), { code: 'EAI_AGAIN' })
    }
    expect(await failure('http://none.invalid/', { lookup: throwing })).toMatchObject({
      error: expect.stringMatching(/EAI_AGAIN/),
    })
  })

  it('of a server that does not speak TLS is told as such, and surely had no effect', async () => {
    const server = await witness()
    const facts = await failure(`https://127.0.0.1:${server.port}/`)
    expect(facts).toMatchObject({
      error: expect.stringMatching(/^TLS with 127\.0\.0\.1:\d+ failed: .+ \(\w+\)$/),
      retryable: true,
    })
    expect(facts.error).not.toMatch(/openssl|deps/)
  })

  it.each([
    ['before it answered', '', /broke off before it answered/],
    ['in the middle of its headers', 'HTTP/1.1 200 OK\r\nconte', /broke off before it answered/],
    [
      'in the middle of its body',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
      /answered 200, but its body broke off/,
    ],
  ])('of a server that hangs up %s leaves open what it did', async (_, bytes, words) => {
    const { url } = await wire((socket) => socket.once('data', () => socket.end(bytes)))
    const facts = await failure(url)
    expect(facts).toEqual({ error: expect.stringMatching(words) })
  })

  it('of a server that does not speak HTTP is told', async () => {
    const { url } = await wire(answering('SSH-2.0-OpenSSH_9.2\r\n'))
    expect(await failure(url)).toEqual({ error: expect.stringMatching(/HTTP\/1\.1 protocol/) })
  })

  it('of a target that the door should have refused is final', async () => {
    const { execute } = caller()
    const { facts } = await execute(attemptOf({ url: 'http://a.test/', headers: { Host: 'b.test' } }))
    expect(facts).toEqual({ error: expect.stringMatching(/headers\["Host"\]/), retryable: false })
  })
})

describe('an executor', () => {
  it('that was closed takes nothing on, and whatever was under way is stopped', async () => {
    const server = await witness(() => undefined)
    const { call, close } = caller()
    const hanging = call({ url: server.url })
    await expect.poll(() => server.seen.length).toBe(1)
    await close()
    expect((await hanging).facts.error).toMatch(/stopped while waiting/)
    expect((await call({ url: server.url })).facts).toMatchObject({ error: 'this worker is closing', retryable: true })
  })
})
