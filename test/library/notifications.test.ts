import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { slack } from '../parts/notices/message-forms.ts'

interface Delivery {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of notifications; `next` waits for the next delivery. */
async function receiver() {
  const deliveries: Delivery[] = []
  let wake: () => void = () => undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(200).end('ok')
      deliveries.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
      wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const next = async () => {
    while (deliveries.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    return deliveries.shift() as Delivery
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, next }
}

describe('a worker sends notifications', () => {
  it('in the format of the receiver, with the output of the run redacted and a link to it, and notify test arrives', async () => {
    const { url, next } = await receiver()
    process.env.BELFRY_SECRET_API_KEY = 'sk_live_0123456789abcdef'
    const belfry = await Belfry.open({ store: 'memory:', log: false, publicUrl: 'https://belfry.example.org' })
    onTestFinished(async () => {
      delete process.env.BELFRY_SECRET_API_KEY
      await belfry.close()
    })
    await belfry.store.notify({
      onFailure: { http: { url: `${url}/slack`, format: 'slack' } },
      onPark: { http: { url: `${url}/ntfy`, format: 'ntfy', headers: { tags: 'bell' } } },
      onRecover: { command: ['cat'] },
    })
    await belfry.queues.set('default', { maxAttempts: 1 })
    await belfry.start()
    const command: [string, ...string[]] = ['sh', '-c', 'echo begun; echo "key $KEY"; echo "$KEY" | base64; exit 3']
    const target = { command, env: { KEY: { secret: 'API_KEY' } } }
    await belfry.schedules.create('nightly', {
      every: '1h',
      startNow: true,
      target,
      onFailure: { http: { url: `${url}/slack`, format: 'slack' } },
    })
    const failure = await next()
    expect(failure).toMatchObject({ path: '/slack', headers: { 'content-type': 'application/json' } })
    slack.body.parse(JSON.parse(failure.body))
    expect(failure.body).toContain('begun\\nkey [secret API_KEY]\\n[secret API_KEY]')
    expect(failure.body).not.toContain('sk_live')
    expect(failure.body).toMatch(/https:\/\/belfry\.example\.org\/api\/runs\/r-\w+/)
    const { sent } = await belfry.store.notifyTest({ event: 'park' })
    const test = await next()
    expect(test).toMatchObject({
      path: '/ntfy',
      headers: { tags: 'bell', priority: 'high', 'content-type': 'text/plain; charset=utf-8' },
    })
    expect(test.headers.title).toMatch(/^Test: /)
    const recovery = await belfry.store.notifyTest({ event: 'recover' })
    const [park, command2] = await Promise.all([sent, recovery.sent].map(([one]) => belfry.runs.wait(one?.run ?? '')))
    expect([park?.status, command2?.status]).toEqual(['completed', 'completed'])
    const read = await belfry.runs.output(recovery.sent[0]?.run ?? '')
    expect(JSON.parse(read?.text ?? '')).toMatchObject({ event: 'recover', test: true, link: null })
  })

  it('a public address that is none is refused', async () => {
    await expect(Belfry.open({ store: 'memory:', publicUrl: 'belfry.example.org' })).rejects.toThrow(/publicUrl/)
  })
})
