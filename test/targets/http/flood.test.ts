import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { caller, wire, witness } from './stage.ts'

const keptBytes = 100 * 1024
const coded = (coding: string, bytes: Buffer, type = 'text/plain') =>
  witness((_, response) => response.writeHead(200, { 'content-encoding': coding, 'content-type': type }).end(bytes))

describe('an answer of any size', () => {
  it('is kept up to 100 KB, which is marked, and not read on', async () => {
    let socketClosed: Promise<unknown> = Promise.resolve()
    const server = await wire((socket) => {
      socketClosed = new Promise((resolve) => socket.once('close', resolve))
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const more = () => {
          while (!socket.destroyed && socket.write('y'.repeat(64 * 1024)));
        }
        socket.on('drain', more)
        more()
      })
    })
    const { facts, result } = await caller().call({ url: server.url })
    expect(facts).toMatchObject({ status: 200, text: 'y'.repeat(keptBytes) })
    expect(result.truncated).toBe(true)
    await socketClosed
  })

  it('is judged by all that is kept of it, and by nothing beyond', async () => {
    for (const [size, isWhole] of [
      [keptBytes - 1_000, true],
      [keptBytes, false],
      [keptBytes + 1, false],
    ] as const) {
      const server = await witness((_, response) => response.end('z'.repeat(size)))
      const { facts, result } = await caller().call({ url: server.url })
      expect(facts.text).toBe('z'.repeat(Math.min(size, keptBytes)))
      // The result as a whole is held to the same size, so that of a body of just this size a little is left out.
      expect(result.truncated === undefined).toBe(isWhole)
    }
  })

  it('is a result that the store keeps as it is, whatever its characters take to write down', async () => {
    for (const part of ['z', '"', '\n', 'é', '😀', '\u0001']) {
      const server = await witness((_, response) => response.end(part.repeat(60_000)))
      const { result } = await caller().call({ url: server.url })
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(keptBytes)
      expect(result.status).toBe(200)
      expect(String(result.body).startsWith(part.repeat(1_000))).toBe(true)
      expect(String(result.body).isWellFormed()).toBe(true)
    }
  })

  it('that is cut has no half of a character at its end', async () => {
    const server = await witness((_, response) => response.end(`${'z'.repeat(keptBytes - 1)}é`))
    const { facts } = await caller().call({ url: server.url })
    expect(facts.text).toBe('z'.repeat(keptBytes - 1))
  })

  it('of JSON that is too long is a text that is cut, for half a JSON is none', async () => {
    const server = await witness((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(Array(60_000).fill(1))),
    )
    const { facts, result } = await caller().call({ url: server.url })
    expect(facts).not.toHaveProperty('json')
    expect(result).toMatchObject({ truncated: true, body: expect.stringMatching(/^\[1,1,/) })
  })
})

describe('a compressed answer', () => {
  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('by %s is read', async (coding, compress) => {
    const server = await coded(coding, compress(Buffer.from('{"a":1}')), 'application/json')
    expect((await caller().call({ url: server.url })).result.body).toEqual({ a: 1 })
  })

  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['br', (bytes) => brotliCompressSync(bytes, quickly)],
  ])('by %s that would unpack to 200 MB takes no more memory than is kept', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(200 * 1024 * 1024, 'b'))
    const server = await coded(coding, bomb)
    const { call } = caller()
    await call({ url: server.url })
    const before = process.memoryUsage()
    const ends = await Promise.all(Array.from({ length: 5 }, () => call({ url: server.url })))
    const after = process.memoryUsage()
    for (const { facts, result } of ends) {
      expect(facts.text).toBe('b'.repeat(keptBytes))
      expect(result.truncated).toBe(true)
    }
    const grownBytes = after.heapUsed + after.external - before.heapUsed - before.external
    expect(grownBytes).toBeLessThan(50 * 1024 * 1024)
  })

  it('that says nothing in ever more bytes is given up', async () => {
    const empty = gzipSync('')
    const server = await wire((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n')
        const chunk = Buffer.concat(Array(1_000).fill(empty))
        const more = () => {
          while (!socket.destroyed && socket.write(chunk));
        }
        socket.on('drain', more)
        more()
      })
    })
    const { facts, result } = await caller().call({ url: server.url })
    expect(facts).toMatchObject({ status: 200, text: '' })
    expect(result.truncated).toBe(true)
  })

  it('that is broken is an error that names its status', async () => {
    for (const bytes of [Buffer.from('not gzip'), gzipSync('x'.repeat(1_000)).subarray(0, 20)]) {
      const server = await coded('gzip', bytes)
      expect((await caller().call({ url: server.url })).facts).toEqual({
        error: expect.stringMatching(/answered 200, but its body broke off: .+ \(Z_\w+\)/),
      })
    }
  })

  it.each(['zstd', 'gzip, br'])('by %s, which we do not read, is an answer without its body', async (coding) => {
    const server = await coded(coding, Buffer.from('???'))
    const { facts, result } = await caller().call({ url: server.url })
    expect(facts).toEqual({ status: 200 })
    expect(result).toMatchObject({ status: 200, unreadableCoding: coding })
    expect(result).not.toHaveProperty('body')
  })
})

describe('a server without end', () => {
  it('of headers is given up', async () => {
    const server = await wire((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${`x-y: ${'z'.repeat(1_000)}\r\n`.repeat(100)}`))
    })
    expect((await caller().call({ url: server.url })).facts).toEqual({
      error: expect.stringMatching(/broke off before it answered/),
    })
  })
})
