import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { BelfryClient } from '../../src/client/belfry-client.ts'
import { storyBlocks } from '../../src/doors/http/docs-page.ts'
import { wholeOf, withFractions } from '../doors/mcp/model.ts'
import { binary, type Running, Shell } from './belfry-process.ts'

const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).status === 0

interface Up {
  readonly shell: Shell
  readonly running: Running
  readonly url: string
  readonly token: string
}

/** A worker that listens at a port of its own. */
async function up(shell = new Shell('sqlite'), flags = ''): Promise<Up> {
  const running = await shell.up(`--listen 127.0.0.1:0 ${flags}`.trim())
  await running.told(/It listens at (\S+) /)
  const [, url = ''] = /It listens at (\S+) /.exec(running.stdout) ?? []
  return { shell, running, url, token: readFileSync(join(shell.folder, '.belfry', 'token'), 'utf8').trim() }
}

describe('belfry up', () => {
  it('opens the HTTP door with a token that only its owner can read, and the client gets in with it', async () => {
    const { shell, url, token, running } = await up()
    const file = join(shell.folder, '.belfry', 'token')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(running.stdout).toContain(`a token was written to ${file}`)
    const client = new BelfryClient({ url, token })
    expect(await client.workers.list()).toMatchObject([{ isLive: true }])
    expect((await fetch(`${url}/api/workers`)).status).toBe(401)
    running.ctrlC()
    expect(await running.ended).toMatchObject({ exit: 0 })
    await expect(fetch(`${url}/live`)).rejects.toThrow()
    const again = await up(shell)
    expect(again.token).toBe(token)
    expect(again.running.stdout).toContain('the token is in')
  })

  it('makes a new token where the one that lies there is not known, as after the store was made anew', async () => {
    const shell = new Shell('sqlite')
    const first = await up(shell)
    first.running.ctrlC()
    await first.running.ended
    writeFileSync(join(shell.folder, '.belfry', 'token'), `${first.token.slice(0, -4)}0000\n`)
    const second = await up(shell)
    expect(second.running.stdout).toContain('a token was written to')
    expect(await new BelfryClient(second).queues.list()).toEqual([])
  })

  it('works on where somebody else listens at the address, unless it was named', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as { port: number }
    const said = await new Shell('sqlite').belfry(`up --listen ${port}`.split(' '))
    expect(said).toMatchObject({ exit: 5 })
    expect(said.stderr).toContain('the address is in use')
  })

  it('starts no worker and executes no due run where the port that was named is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as { port: number }
    const shell = new Shell('sqlite')
    expect(await shell.belfry(['run', 'enqueue', '--', 'true'])).toMatchObject({ exit: 0 })
    expect(await shell.belfry(['up', '--listen', String(port)])).toMatchObject({ exit: 5 })
    const { stdout } = await shell.belfry('run list --json'.split(' '))
    expect(JSON.parse(stdout)).toMatchObject({ runs: [{ status: 'ready', fence: 0 }] })
    expect(JSON.parse((await shell.belfry('worker list --json'.split(' '))).stdout)).toEqual([])
  })

  it('listens beyond this machine only where somebody says that a proxy is in front of it', async () => {
    const said = await new Shell('sqlite').belfry('up --listen 0.0.0.0:0'.split(' '))
    expect(said).toMatchObject({ exit: 2 })
    expect(said.stderr).toContain('--behind-proxy')
    expect((await new Shell('sqlite').belfry('up --listen nowhere'.split(' '))).exit).toBe(2)
  })

  // A machine need not have curl; what the page shows is then told by the tests of its parts.
  it.skipIf(!hasCurl)('does what the page shows, typed as it stands there', async () => {
    const { shell, url, token } = await up()
    const [setting = '', ...blocks] = storyBlocks(url).map(({ block }) => block)
    expect(await (await fetch(`${url}/docs`)).text()).toContain(setting)
    const said: string[] = []
    for (const block of blocks) {
      const { stdout } = await run('sh', ['-euc', `${setting}\n${block}`], { cwd: shell.folder })
      said.push(stdout)
      if (!block.includes('/api/events')) expect(JSON.parse(stdout), stdout).not.toHaveProperty('detail')
      if (said.length === 2) await fired(new BelfryClient({ url, token }))
    }
    expect(said.find((text) => text.startsWith('retry:'))).toContain('event: ')
    expect(said.at(-1)).toContain('Lunch.')
  })
})

async function fired(client: BelfryClient): Promise<void> {
  await vi.waitFor(async () => expect((await client.runs.list({ status: 'completed' })).runs).not.toEqual([]), 20_000)
}

describe('a model', () => {
  it('is served at the pipes of belfry mcp, and over HTTP at /mcp, with the same plan as the command line', async () => {
    const { shell, url, token } = await up()
    await shell.belfry('queue set hosts --max-concurrent 1'.split(' '))
    for (const _ of [1, 2]) await shell.belfry('queue add --queue hosts --target null'.split(' '))
    const plan = 'sched plan --queue hosts --now 2090-01-01T00:00Z --json'
    const typed = JSON.parse((await shell.belfry(plan.split(' '))).stdout) as unknown
    const env = { PATH: process.env.PATH ?? '' }
    const pipes = new StdioClientTransport({
      command: process.execPath,
      args: [binary, 'mcp', '--read-only', '--tools', 'sched'],
      cwd: shell.folder,
      env,
    })
    const headers = { authorization: `Bearer ${token}` }
    const web = new StreamableHTTPClientTransport(new URL(`${url}/mcp?tools=sched_plan`), { requestInit: { headers } })
    for (const transport of [pipes, web]) {
      const client = new Client({ name: 'a model', version: '1' })
      await client.connect(transport as never)
      const asked = { name: 'sched_plan', arguments: { queue: 'hosts', now: '2090-01-01T00:00Z', detail: 'full' } }
      expect(withFractions(wholeOf((await client.callTool(asked)) as never))).toEqual(typed)
      await client.close()
    }
  })
})
