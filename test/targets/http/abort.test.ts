import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StopReason } from '../../../src/targets/attempt.ts'
import type { Lookup } from '../../../src/targets/http/connect.ts'
import { addresses, caller, signal, wire, witness } from './stage.ts'

/** Begins a call, stops it as soon as it has got somewhere, and answers how it ended. */
async function stoppedAt(got: Promise<unknown>, url: string, options: { lookup?: Lookup; reason?: StopReason } = {}) {
  const { reason = 'timeout', ...rest } = options
  const stop = new AbortController()
  const call = caller(rest).call({ url, body: 'x'.repeat(10_000) }, { signal: stop.signal })
  await got
  // What follows from it without further word from outside has happened after this turn.
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort(reason)
  return (await call).facts.error
}

/** A program that lets so many connections wait to be accepted that the system answers no further one. */
async function blackHole(): Promise<number> {
  const program = `const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  const waiting = Array.from({ length: 16 }, () => connect(Number(text), '127.0.0.1').on('error', () => undefined))
  onTestFinished(async () => {
    for (const socket of waiting) socket.destroy()
    child.kill('SIGKILL')
    await once(child, 'close')
  })
  await once(waiting[0] as object as NodeJS.EventEmitter, 'connect')
  return Number(text)
}

describe('a call that is stopped ends at once', () => {
  it('while a name is being resolved that never will be', async () => {
    const asked = signal()
    const lookup = () => {
      asked.give()
      return new Promise<never>(() => undefined)
    }
    expect(await stoppedAt(asked.promise, 'http://slow.test/', { lookup })).toBe(
      'stopped while resolving the name slow.test (timeout)',
    )
  })

  it('while it connects to what does not answer', async () => {
    const port = await blackHole()
    const asked = signal()
    const lookup = async () => {
      asked.give()
      return addresses('127.0.0.1')
    }
    const error = await stoppedAt(asked.promise, `http://hole.test:${port}/`, { lookup, reason: 'cancelled' })
    expect(error).toBe(`stopped while connecting to hole.test:${port} (cancelled)`)
  })

  it('while the other side is silent in the middle of the TLS handshake', async () => {
    const greeted = signal()
    const server = await wire((socket) => socket.once('data', () => greeted.give()))
    const error = await stoppedAt(greeted.promise, `https://127.0.0.1:${server.port}/`)
    expect(error).toMatch(/stopped while connecting to/)
    await closedBy(server)
  })

  it('while nobody reads the body that it sends', async () => {
    const accepted = signal()
    const server = await wire((socket) => {
      socket.pause()
      accepted.give()
    })
    const stop = new AbortController()
    const call = caller().call({ url: server.url, body: 'x'.repeat(50_000_000) }, { signal: stop.signal })
    await accepted.promise
    stop.abort('shutdown')
    expect((await call).facts.error).toMatch(/stopped while (waiting for|connecting to) .+ \(shutdown\)/)
  })

  it('while it waits for an answer', async () => {
    const asked = signal()
    const server = await wire((socket) => socket.once('data', () => asked.give()))
    expect(await stoppedAt(asked.promise, server.url)).toMatch(/stopped while waiting for .+ to answer \(timeout\)/)
    await closedBy(server)
  })

  it('while the headers come one letter at a time', async () => {
    const dribbled = signal()
    const server = await wire((socket) =>
      socket.once('data', () => dribble(socket, 'HTTP/1.1 200 OK\r\nx: ', dribbled.give)),
    )
    expect(await stoppedAt(dribbled.promise, server.url)).toMatch(/stopped while waiting for/)
    await closedBy(server)
  })

  it('while the body comes one letter at a time, and never ends', async () => {
    const dribbled = signal()
    const server = await wire((socket) =>
      socket.once('data', () => dribble(socket, 'HTTP/1.1 200 OK\r\n\r\n', dribbled.give)),
    )
    expect(await stoppedAt(dribbled.promise, server.url)).toMatch(/stopped while reading the answer of/)
    await closedBy(server)
  })

  it('while a compressed body comes one letter at a time', async () => {
    const dribbled = signal()
    // As if 60,000 letters followed, each of them written as it is.
    const begun = gzipSync(Buffer.alloc(60_000, 'a'), { level: 0 }).subarray(0, 15)
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n${begun.toString('latin1')}`
    const server = await wire((socket) => socket.once('data', () => dribble(socket, head, dribbled.give)))
    expect(await stoppedAt(dribbled.promise, server.url)).toMatch(/stopped while reading the answer of/)
    await closedBy(server)
  })

  it('while it is on its way to where it was redirected', async () => {
    const asked = signal()
    const second = await wire((socket) => socket.once('data', () => asked.give()))
    const first = await witness((_, response) => response.writeHead(307, { location: second.url }).end())
    expect(await stoppedAt(asked.promise, first.url)).toMatch(/stopped while waiting for/)
    await closedBy(second)
  })

  it('before it has begun, when it was stopped by then', async () => {
    const server = await witness()
    const { facts } = await caller().call({ url: server.url }, { signal: AbortSignal.abort('cancelled') })
    expect(facts.error).toMatch(/stopped while connecting to .+ \(cancelled\)/)
    expect(server.seen).toEqual([])
  })

  it('and leaves its neighbours alone, be they on the same host', async () => {
    const asked = signal()
    const server = await witness((request, response) => {
      if (request.url === '/hang') asked.give()
      else response.end('fine')
    })
    const { call } = caller()
    const stop = new AbortController()
    const hanging = call({ url: `${server.url}/hang` }, { signal: stop.signal })
    const others = Array.from({ length: 50 }, () => call({ url: server.url }))
    await asked.promise
    expect((await Promise.all(others)).map(({ facts }) => facts.text)).toEqual(others.map(() => 'fine'))
    stop.abort('timeout')
    expect((await hanging).facts.error).toMatch(/stopped/)
  })
})

/** Begins an answer and never comes to its end. Tells when the beginning and a little more is on its way. */
function dribble(socket: Socket, beginning: string, tell: () => void): void {
  let sent = 0
  const more = () => {
    if (socket.destroyed) return
    sent += 1
    socket.write('a', 'latin1', () => setTimeout(more, 1))
    if (sent === 5) tell()
  }
  socket.write(beginning, 'latin1', more)
}

/** Every connection that was made is gone on the server's side too; a write that came too late may tell it first. */
async function closedBy({ sockets }: Awaited<ReturnType<typeof wire>>): Promise<void> {
  expect(sockets.length).toBeGreaterThan(0)
  const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : closed(socket))))
}
