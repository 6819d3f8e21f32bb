import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** How the server's answer ends when no transaction is open. */
const readyAndIdle = Buffer.from('Z\0\0\0\x05I')

/**
 * Stands between a store and its server, and can cut the connection at the next commit: before the server hears of it,
 * or after it was done but before its answer comes back. Both look the same from the store. A statement outside of any
 * transaction is one by itself.
 */
export async function startCutter(server: URL) {
  let armed: 'before' | 'after' | undefined
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    client.on('close', cut)
    upstream.on('close', cut)
    let isCommitting = false
    let answer = Buffer.alloc(0)
    let isIdle = false
    client.on('data', (chunk) => {
      const isWhole = isIdle && !chunk.includes('begin ')
      if (armed !== undefined && (isWhole || chunk.includes('commit\0'))) {
        const when = armed
        armed = undefined
        if (when === 'before') return cut()
        isCommitting = true
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isCommitting) {
        // What was sent together with the commit is answered before it; only then has it been done.
        answer = Buffer.concat([answer, chunk])
        if (isOver(answer)) cut()
        return
      }
      isIdle = isOver(chunk)
      client.write(chunk)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(server)
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    cutNextCommit(when: 'before' | 'after') {
      armed = when
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

function isOver(answer: Buffer): boolean {
  return answer.subarray(-readyAndIdle.length).equals(readyAndIdle)
}
