import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { BelfryClient } from '../../src/client/belfry-client.ts'
import { onPorch } from '../doors/http/porch.ts'
import { errorOf, verbsAt } from '../operations/desk.ts'

const porch = onPorch()

describe('the client', () => {
  it('has the face of the library: the same verbs with the same answers', async () => {
    const client = porch().client()
    const here = verbsAt(() => porch().desk.context)
    await client.schedules.put('nightly', { cron: '0 2 * * *', zone: 'Europe/Paris', target: { handler: 'report' } })
    expect(await client.schedules.get('nightly')).toEqual(await here.schedules.get('nightly'))
    expect(await client.schedules.list({ limit: 5 })).toEqual(await here.schedules.list({ limit: 5 }))
    expect(await client.schedules.explain('nightly')).toEqual(await here.schedules.explain('nightly'))
    const { id } = await client.runs.enqueue({
      target: null,
      payload: { at: '2026-01-01T00:00:00.000Z' },
      notBefore: new Date(Date.UTC(2026, 5, 1)),
    })
    expect(await client.runs.get(id as string)).toEqual(await here.runs.get(id as string))
    expect((await client.runs.get(id as string)).payload).toEqual({ at: '2026-01-01T00:00:00.000Z' })
    expect(await client.sched.plan({ kinds: ['http'] })).toEqual(await here.sched.plan({ kinds: ['http'] }))
    expect(Object.keys(client.queues)).toEqual(Object.keys(here.queues))
  })

  it('throws what was thrown there: code, message, hint and details', async () => {
    const client = porch().client()
    const here = verbsAt(() => porch().desk.context)
    const calls = [
      (verbs: typeof here) => verbs.schedules.get('nobody'),
      (verbs: typeof here) => verbs.runs.get('nonsense'),
      (verbs: typeof here) => verbs.queues.set('mail', { maxConcurrent: 0, surprise: 1 } as never),
      (verbs: typeof here) => verbs.sched.complete('r-15.1.aa'),
      (verbs: typeof here) => verbs.sched.reset({}),
    ]
    for (const call of calls) {
      const [there, near] = [await errorOf(call(client as never)), await errorOf(call(here))]
      expect(there).toMatchObject({ code: near.code, message: near.message, hint: near.hint })
      expect(there.details).toEqual(JSON.parse(JSON.stringify(near.details ?? null)) ?? undefined)
    }
  })

  it('refuses what an address or JSON could not say, as the library does', async () => {
    const client = porch().client()
    const here = verbsAt(() => porch().desk.context)
    for (const input of [{ queue: null }, { queue: 5 }, { limit: '3' }] as never[]) {
      const [there, near] = [await errorOf(client.runs.list(input)), await errorOf(here.runs.list(input))]
      expect(there).toMatchObject({ code: near.code, message: near.message })
    }
    await here.queues.set('default', { maxConcurrent: 2 })
    await here.runs.enqueue({ target: { handler: 'report' } })
    expect(await client.sched.plan({ kinds: [] })).toEqual(await here.sched.plan({ kinds: [] }))
    for (const payload of [{ a: Number.NaN }, { a: 1n }, () => 1]) {
      expect((await errorOf(client.runs.enqueue({ target: null, payload: payload as never }))).code).toBe('invalid')
    }
  })

  it('may do what its token may, and says what cannot be had from afar', async () => {
    expect((await errorOf(porch().client('read').runs.enqueue({ target: null }))).code).toBe('not-allowed')
    const tx = { transaction: {} }
    expect(
      (
        await errorOf(
          porch()
            .client()
            .runs.enqueue({ target: null }, { tx } as never),
        )
      ).message,
    ).toContain('over HTTP')
    const { signal } = new AbortController()
    expect(
      (
        await errorOf(
          porch()
            .client()
            .runs.enqueue({ target: null }, { signal } as never),
        )
      ).code,
    ).toBe('invalid')
  })

  it('follows nobody who leads it elsewhere with what it was to send, and says where that is', async () => {
    const location = 'https://other.example.org/belfry/api/queues/mail?x=1'
    const asked: Request[] = []
    const fetch = async (request: Request) => {
      asked.push(request)
      return new Response('', { status: 308, headers: { location } })
    }
    const client = new BelfryClient({ url: 'http://a', token: 'x', fetch })
    const error = await errorOf(client.queues.set('mail', { maxConcurrent: 2 }))
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('it redirects') })
    expect(error.hint).toContain('https://other.example.org/belfry.')
    expect((await errorOf(client.now())).code).toBe('unavailable')
    expect(asked.map(({ redirect }) => redirect)).toEqual(['manual', 'manual'])
  })

  it.each([
    [200, 'failure', 'failure'],
    [401, 'unauthenticated', 'unauthenticated'],
    [403, 'not-allowed', 'not-allowed'],
    [404, 'failure', 'failure'],
    [429, 'too-many', 'too-many'],
    [500, 'failure', 'failure'],
    [502, 'unavailable', 'commit-unknown'],
    [503, 'unavailable', 'unavailable'],
    [504, 'unavailable', 'commit-unknown'],
  ])('believes whoever stands before a server and answers with a page and status %i', async (status, look, write) => {
    const fetch = async () => new Response('<html>', { status })
    const client = new BelfryClient({ url: 'http://a', token: 'x', fetch })
    expect((await errorOf(client.queues.list())).code).toBe(look)
    const error = await errorOf(client.queues.set('mail', { maxConcurrent: 2 }))
    expect([error.code, error.message]).toEqual([write, expect.stringContaining(String(status))])
  })

  it('says of a certificate that is not believed what would help, and that nothing was sent', async () => {
    const cause = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const client = new BelfryClient({ url: 'https://a', token: 'x', fetch })
    const error = await errorOf(client.queues.set('mail', { maxConcurrent: 2 }))
    expect(error).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') })
    expect(error.message).toContain('its certificate is not trusted, DEPTH_ZERO_SELF_SIGNED_CERT.')
  })

  it('tells an answer that was cut from one that is no JSON', async () => {
    const cut = () => {
      const body = new ReadableStream({ pull: (pulled) => pulled.error(new DOMException('late', 'TimeoutError')) })
      return Promise.resolve(new Response(body))
    }
    const client = new BelfryClient({ url: 'http://a', token: 'x', fetch: cut })
    expect((await errorOf(client.queues.list())).message).toContain('cannot be reached: it did not answer in time')
    expect((await errorOf(client.queues.set('mail', { maxConcurrent: 2 }))).code).toBe('commit-unknown')
  })

  it('says of a server that is not there where it looked', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const client = new BelfryClient({ url: `http://127.0.0.1:${port}/`, token: 'x' })
    const error = await errorOf(client.queues.list())
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(error.message).toBe(`The server at http://127.0.0.1:${port} cannot be reached: ECONNREFUSED.`)
    // What nobody could be asked for was not done.
    expect((await errorOf(client.queues.set('mail', { maxConcurrent: 2 }))).code).toBe('unavailable')
  })
})
