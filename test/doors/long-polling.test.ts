import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BelfryClient } from '../../src/client/belfry-client.ts'
import { Belfry } from '../../src/index.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { atDesk, errorOf, verbsAt } from '../operations/desk.ts'
import { postgresUrl } from '../postgres.ts'
import { Terminal } from './cli/terminal.ts'
import { modelAt } from './mcp/model.ts'

/** A Belfry with its HTTP door open at a port of its own, and a client of it. */
async function house(database: 'sqlite' | 'postgres') {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-poll-'))
  const schema = database === 'postgres' ? lendSchema() : undefined
  const store = schema === undefined ? 'memory:' : postgresUrl()
  const belfry = await Belfry.open({ store, log: false, ...(schema !== undefined && { schema }) })
  onTestFinished(async () => {
    await belfry.close()
    if (schema !== undefined) await returnSchema(schema)
    rmSync(folder, { recursive: true })
  })
  const served = await belfry.serve({ listen: '127.0.0.1:0', tokenFolder: folder })
  const { token } = await belfry.tokens.create('tester', { scope: 'admin' })
  const client = new BelfryClient({ url: served.url, token })
  const ask = (path: string, init: RequestInit = {}) => {
    return fetch(served.url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
  }
  const post = (path: string, body: object, init: RequestInit = {}) => {
    return ask(path, {
      ...init,
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  }
  return { belfry, client, ask, post, url: served.url, tokenFile: served.token?.file ?? '' }
}

describe.each(['sqlite', 'postgres'] as const)('long polling over HTTP, on %s', (database) => {
  it('GET /api/runs/ID?wait=30s is held until the run has ended, and answers it as it stands when the time is over', async () => {
    const { belfry, ask } = await house(database)
    const { id } = await belfry.runs.enqueue({ target: null })
    const early = await ask(`/api/runs/${id}?wait=20ms`)
    expect(await early.json()).toMatchObject({ id, status: 'ready' })
    const waiting = ask(`/api/runs/${id}?wait=30s`)
    const { leases } = await belfry.sched.lease('builder')
    await belfry.sched.complete(leases[0]?.lease ?? '', { result: 7 })
    expect(await (await waiting).json()).toMatchObject({ id, status: 'completed', result: { value: 7 } })
    expect((await ask(`/api/runs/${id}?wait=2m`)).status).toBe(400)
    expect((await ask('/api/runs/r-3zzz?wait=30s')).status).toBe(404)
  })

  it('POST /api/sched/lease with wait is held until there is work', async () => {
    const { belfry, post } = await house(database)
    const waiting = post('/api/sched/lease', { host: 'builder', wait: '50s' })
    // A second one makes sure that the first is being waited for: it comes behind it.
    expect(await (await post('/api/sched/lease', { host: 'other', wait: '20ms' })).json()).toMatchObject({ leases: [] })
    const { id } = await belfry.runs.enqueue({ target: null })
    expect(await (await waiting).json()).toMatchObject({ leases: [{ runId: id }] })
  })

  it('the client waits for a run in as many requests as it takes, gives up after its timeout, and ends by its signal', async () => {
    const { belfry, client } = await house(database)
    const { id } = await client.runs.enqueue({ target: null })
    const late = await errorOf(client.runs.wait(id as string, { timeout: '30ms' }))
    expect(late).toMatchObject({ code: 'unavailable', details: { id, timeoutMs: 30 } })
    const ending = new AbortController()
    const ended = client.runs.wait(id as string, { signal: ending.signal }).catch((error: unknown) => error)
    ending.abort()
    expect(await ended).toBeInstanceOf(Error)
    const waiting = client.runs.wait(id as string)
    const leasing = await client.sched.lease('builder', { wait: '50s' })
    await client.sched.complete(leasing.leases[0]?.lease ?? '')
    expect(await waiting).toMatchObject({ id, status: 'completed' })
    expect(await waiting).toEqual(await belfry.runs.wait(id as string))
  })
})

describe('a request that is held open', () => {
  it('ends when its client disconnects, so that the next host gets what comes', async () => {
    const { belfry, post, ask } = await house('sqlite')
    const leaving = new AbortController()
    const gone = post('/api/sched/lease', { host: 'gone', wait: '50s' }, { signal: leaving.signal })
    expect(await (await post('/api/sched/lease', { host: 'probe', wait: '20ms' })).json()).toMatchObject({ leases: [] })
    leaving.abort()
    await expect(gone).rejects.toThrow()
    // The server reads the end of that connection before it reads these.
    for (let requests = 0; requests < 5; requests++) await (await ask('/api/now')).json()
    const waiting = post('/api/sched/lease', { host: 'there', wait: '50s' })
    const { id } = await belfry.runs.enqueue({ target: null })
    expect(await (await waiting).json()).toMatchObject({ leases: [{ runId: id }] })
  })

  it('is answered as unavailable when the server stops, which does not wait for it', async () => {
    const { belfry, ask, post } = await house('sqlite')
    const { id } = await belfry.runs.enqueue({ target: { handler: 'nobody-has-it' } })
    const waiting = [post('/api/sched/lease', { host: 'builder', wait: '50s' }), ask(`/api/runs/${id}?wait=30s`)]
    await (await post('/api/sched/lease', { host: 'probe', wait: '20ms' })).json()
    await belfry.close()
    for (const response of await Promise.all(waiting)) {
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ code: 'unavailable', detail: 'The server is stopping.' })
    }
  })
})

describe('long polling at the command line', () => {
  it('sched lease --wait is handed out what another command enqueues meanwhile', async () => {
    const terminal = new Terminal()
    onTestFinished(() => terminal.remove())
    await terminal.belfry('queue set letters --max-concurrent 2')
    const waiting = terminal.json<{ leases: { runId: string }[] }>('sched lease printer --queue letters --wait 50s')
    const { id } = await terminal.json<{ id: string }>('run enqueue --queue letters --target null')
    expect((await waiting).leases).toMatchObject([{ runId: id }])
    expect(await terminal.belfry('sched lease printer --queue letters --wait 90s')).toMatchObject({ exit: 2 })
  })

  it('run wait asks a server as it asks a store', async () => {
    const { belfry, url, tokenFile } = await house('sqlite')
    const terminal = new Terminal()
    onTestFinished(() => terminal.remove())
    const { id } = await belfry.runs.enqueue({ target: null })
    const there = `--server ${url} --token-file ${tokenFile}`
    const waiting = terminal.json(`run wait ${id} ${there}`)
    const { leases } = await belfry.sched.lease('builder')
    await belfry.sched.complete(leases[0]?.lease ?? '')
    expect(await waiting).toMatchObject({ id, status: 'completed' })
    expect((await terminal.belfry(`run wait r-3zzz ${there}`)).exit).toBe(3)
  })
})

describe('long polling of a model', () => {
  const desk = atDesk()
  const here = verbsAt(() => desk().context)

  it('run_get with wait answers when the run has ended, and a call that the model cancels waits no longer', async () => {
    const client = await modelAt({ context: async () => desk().context })
    const { id } = await here.runs.enqueue({ target: null })
    const { leases } = await here.sched.lease('builder')
    const waiting = client.callTool({ name: 'run_get', arguments: { id, wait: '30s' } })
    const leaving = new AbortController()
    const cancelled = client.callTool({ name: 'sched_lease', arguments: { host: 'm', wait: '50s' } }, undefined, {
      signal: leaving.signal,
    })
    await client.listTools()
    leaving.abort()
    await expect(cancelled).rejects.toThrow()
    await client.listTools()
    const { id: next } = await here.runs.enqueue({ target: null })
    for (let steps = 0; steps < 20; steps++) {
      desk().clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await here.runs.get(next)).status).toBe('ready')
    await here.sched.complete(leases[0]?.lease ?? '')
    const { content } = (await waiting) as { content: { text: string }[] }
    expect(content[0]?.text).toContain('"status":"completed"')
  })
})
