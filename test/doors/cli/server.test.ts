import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verbsAt } from '../../operations/desk.ts'
import { onPorch, origin } from '../http/porch.ts'
import { Terminal } from './terminal.ts'

const porch = onPorch()
const { routines, schedules } = verbsAt(() => porch().desk.context)

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The door of the porch behind a real address, at which `hangsUp` may close the connection. */
async function served(hangsUp: (request: IncomingMessage) => boolean = () => false): Promise<number> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    const body = await textOf(request)
    if (hangsUp(request)) return void request.socket.destroy()
    const { authorization = '', 'content-type': type = 'application/json' } = headers
    const asked = { method, headers: { host: '127.0.0.1:4747', authorization, 'content-type': type } }
    const answer = await porch().door.fetch(new Request(origin + url, { ...asked, ...(body !== '' && { body }) }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  }).listen(0, '0.0.0.0')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

function terminal(): Terminal {
  const made = new Terminal({ BELFRY_TOKEN: porch().tokens.get('admin') ?? '' })
  onTestFinished(() => made.remove())
  return made
}

describe('a command that is asked of a server', () => {
  it('notes that a token can be read on its way to another machine, and says nothing of this one', async () => {
    const port = await served()
    const said = async (host: string) =>
      (await terminal().belfry(`queue list --json --server http://${host}:${port}`)).stderr
    expect(await said('127.0.0.1')).toBe('')
    // Every address of this machine, and so none that is sure to lead to it alone.
    expect(await said('0.0.0.0')).toBe(
      `note: http://0.0.0.0:${port} is not https, so the token can be read in transit.\n`,
    )
  })

  it('is told as done where it was done, though the server is gone before it was asked what else to tell', async () => {
    const port = await served(({ method }) => method === 'GET')
    for (const more of [[], ['--json']]) {
      const words = ['schedule', 'create', `a${more.length}`, '--every', '1h', '--handler', 'h', ...more]
      const { exit, stdout } = await terminal().belfry([...words, '--server', `http://127.0.0.1:${port}`])
      expect([exit, stdout]).toEqual([0, expect.stringContaining(`a${more.length}`)])
    }
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['a0', 'a1'])
  })

  it('of which nobody knows whether it was done says so, and one that was never asked does not', async () => {
    const port = await served(({ method }) => method !== 'GET')
    const typed = ['schedule', 'create', 'a', '--every', '1h', '--handler', 'h']
    const server = ['--server', `http://127.0.0.1:${port}`]
    const lost = await terminal().belfry([...typed, ...server])
    expect([lost.exit, lost.stderr]).toEqual([5, expect.stringMatching(/may or may not have done it.+closed/)])
    const rehearsed = await terminal().belfry([...typed, '--dry-run', ...server])
    expect([rehearsed.exit, rehearsed.stderr]).toEqual([5, expect.stringContaining('cannot be reached')])
  })

  it('stores relative programs as they are found where they were typed, wherever they stand', async () => {
    const server = ['--server', `http://127.0.0.1:${await served()}`]
    const here = terminal()
    const program = here.write('here.sh', '#!/bin/sh\n')
    const command = '{"command":["./here.sh"],"cwd":"."}'
    await here.json(['routine', 'create', 'r', '--run', `{"target":${command}}`, ...server])
    await here.json(['schedule', 'create', 's', '--every', '1h', '--handler', 'h', '--on-failure', command, ...server])
    const placed = { command: [program], cwd: join(here.folder, '.') }
    expect(await routines.get('r')).toMatchObject({ run: { target: placed } })
    expect(await schedules.get('s')).toMatchObject({ onFailure: placed })
  })
})
