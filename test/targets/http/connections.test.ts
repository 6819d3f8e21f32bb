import { describe, expect, it } from 'vitest'
import { networkGuard } from '../../../src/targets/http/address-guard.ts'
import { type Connection, Connections } from '../../../src/targets/http/http-connections.ts'
import { caller, signal, toLoopback, wire, witness } from './stage.ts'

async function counting(answer?: Parameters<typeof witness>[0]) {
  const server = await witness(answer)
  const counted = { connections: 0 }
  server.server.on('connection', () => {
    counted.connections += 1
  })
  return { ...server, counted }
}

describe('a connection', () => {
  it('is used again by the call that follows', async () => {
    const { url, counted, seen } = await counting((_, response) => response.end('fine'))
    const { call } = caller()
    for (let round = 0; round < 5; round += 1) expect((await call({ url })).facts.text).toBe('fine')
    expect([seen.length, counted.connections]).toEqual([5, 1])
  })

  it('that is used again is not ended under its call by the time that it may be unused', async () => {
    const { url, counted, seen } = await counting((_, response) => {
      // The second answer takes longer than an unused connection is kept.
      if (seen.length === 1) response.end('at once')
      else setTimeout(() => response.end('later'), 1_500)
    })
    const { call } = caller()
    expect((await call({ url })).facts.text).toBe('at once')
    expect((await call({ url })).facts.text).toBe('later')
    expect(counted.connections).toBe(1)
  })

  it('carries one call at a time, so that no answer waits behind another', async () => {
    const { url, counted, seen } = await counting((_, response) => {
      if (seen.length === 20) for (const one of waiting.splice(0)) one()
      else waiting.push(() => response.end())
      if (seen.length === 20) response.end()
    })
    const waiting: (() => void)[] = []
    const { call } = caller()
    const ends = await Promise.all(Array.from({ length: 20 }, () => call({ url })))
    expect(ends.every(({ facts }) => facts.status === 200)).toBe(true)
    expect(counted.connections).toBe(20)
  })

  it('that the server wants to end is not used again', async () => {
    const { url, counted } = await counting((_, response) => response.setHeader('connection', 'close').end())
    const { call } = caller()
    for (let round = 0; round < 3; round += 1) expect((await call({ url })).facts.status).toBe(200)
    expect(counted.connections).toBe(3)
  })

  it('that the server ended meanwhile is not used again', async () => {
    const { sockets, url } = await wire((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    })
    const { call } = caller()
    for (let round = 0; round < 3; round += 1) {
      expect((await call({ url })).facts).toMatchObject({ status: 200 })
      sockets.at(-1)?.resetAndDestroy()
      // One turn for the news to arrive, one for what follows from it.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sockets).toHaveLength(3)
  })

  it('whose answer was not read to its end is not used again: the rest would be taken for the next answer', async () => {
    const { url, counted } = await counting((request, response) => {
      if (request.url === '/long') response.end('z'.repeat(1_000_000))
      else if (request.url === '/moved') response.writeHead(302, { location: '/' }).end('moved')
      else response.end('fine')
    })
    const { call } = caller()
    for (const path of ['/long', '/moved', '/long']) await call({ url: url + path })
    expect((await call({ url })).facts.text).toBe('fine')
    // The third carried what the redirect led to, which was read to its end, and the second long one after it.
    expect(counted.connections).toBe(4)
  })

  it('on which more came than was asked for is not used again', async () => {
    const { sockets, url } = await wire((socket) => {
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
      )
    })
    const { call } = caller()
    const texts = [await call({ url }), await call({ url })].map(({ facts }) => facts.text)
    expect(texts).not.toContain('evil')
    expect(sockets.length).toBe(2)
  })

  it('of a redirect is ended, be there ever so much in it that nobody reads', async () => {
    const closed = signal()
    const first = await wire((socket) => {
      socket.once('close', () => closed.give())
      socket.once('data', () => socket.write(`HTTP/1.1 302 Found\r\nlocation: ${second.url}\r\n\r\nand so on`))
    })
    const second = await witness()
    expect((await caller().call({ url: first.url })).facts.status).toBe(200)
    await closed.promise
  })
})

describe('the connections of a process', () => {
  const route = { guard: networkGuard({}), lookup: toLoopback }
  const never = new AbortController().signal

  it('forget what the other side has ended', async () => {
    const { sockets, url } = await wire((socket) => socket.on('data', () => socket.end('HTTP/1.1 204 No\r\n\r\n')))
    const connections = new Connections(route)
    const connection = await connections.take(new URL(url), never)
    expect(connections.size).toBe(1)
    const { body } = await connection.client.request({ path: '/', method: 'GET' })
    await body.dump()
    connections.keep(connection)
    await expect.poll(() => connections.size).toBe(0)
    expect(sockets).toHaveLength(1)
  })

  it('are all ended at the end, those that are in use and those that are not', async () => {
    const { url } = await witness()
    const connections = new Connections(route)
    const taken = [await connections.take(new URL(url), never), await connections.take(new URL(url), never)]
    connections.keep(taken[0] as Connection)
    await connections.close()
    expect(connections.size).toBe(0)
    expect(taken.map(({ client }) => client.destroyed)).toEqual([true, true])
    expect(taken.map(({ socket }) => socket.destroyed)).toEqual([true, true])
  })
})

describe('a name', () => {
  it('that many calls ask for at once is resolved once, and again by the next', async () => {
    const server = await witness((_, response) => response.setHeader('connection', 'close').end())
    let asked = 0
    const { call } = caller({
      lookup: async () => {
        asked += 1
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    const url = `http://many.test:${server.port}/`
    await Promise.all(Array.from({ length: 10 }, () => call({ url })))
    expect(asked).toBe(1)
    await call({ url })
    expect(asked).toBe(2)
  })
})
