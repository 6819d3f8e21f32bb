import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'

const hasPython = spawnSync('python3', ['--version']).status === 0
const example = fileURLToPath(new URL('../../examples/outside-host/host.py', import.meta.url))

// Without Python: the example cannot be started.
it.skipIf(!hasPython)(
  'the example of a host waits for work instead of polling, and outlives a server that has no room',
  async () => {
    const asked: { wait?: string }[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      asked.push(JSON.parse(Buffer.concat(chunks).toString()))
      // The second request is held, as a server holds it while there is no work.
      if (asked.length > 1) return
      response.writeHead(503, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ code: 'unavailable', detail: 'Too many calls wait.' }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const env = { PATH: process.env.PATH ?? '', BELFRY_URL: `http://127.0.0.1:${port}`, BELFRY_TOKEN: 'none' }
    const host = spawn('python3', [example, 'printer-1', 'letters'], { env, stdio: 'ignore' })
    onTestFinished(async () => {
      host.kill('SIGKILL')
      server.closeAllConnections()
      server.close()
    })
    await vi.waitFor(() => expect(asked.length).toBe(2), { timeout: 20_000 })
    expect(asked).toMatchObject([{ wait: '20s' }, { wait: '20s' }])
    expect(host.exitCode).toBeNull()
  },
)
