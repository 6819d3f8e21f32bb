import { beforeEach, describe, expect, it } from 'vitest'
import { HttpDoor } from '../../../src/doors/http/http-door.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { all, both } from '../../../src/store/statement.ts'
import { onPorch, origin } from '../../doors/http/porch.ts'
import { startAt, verbsAt } from '../../operations/desk.ts'
import { listAudit } from '../../store/list-audit.ts'
import { githubHeaders, type Sent, secret, setRoutines, standardHeaders, written } from './stage.ts'

const porch = onPorch()
const { routines, runs } = verbsAt(() => porch().desk.context)
beforeEach(() => setRoutines(porch()))

const paid = JSON.stringify({ type: 'paid', data: { amount: 5 } })
const ask = (path: string, text: string, headers: Readonly<Record<string, string>>) =>
  porch().ask(path, { text, headers, as: null })
const refusal = (path: string, text: string, headers: Readonly<Record<string, string>> = {}) =>
  porch().problem(path, { text, headers, as: null })
const sent = async (text = paid, how: Sent = {}) => {
  const response = await ask('/hooks/paid', text, standardHeaders(text, how))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('a delivery of Standard Webhooks', () => {
  it('makes a run without a token, which is handed what was sent', async () => {
    const { status, body } = await sent()
    expect({ status, body }).toEqual({ status: 202, body: { outcome: 'fired', run: expect.stringMatching(/^r-/) } })
    expect((await runs.get(String(body.run))).payload).toEqual({
      routine: 'paid',
      delivery: 'msg_1',
      type: 'paid',
      receivedAt: '2026-01-05T09:00:00.000Z',
      event: JSON.parse(paid),
    })
    expect(await routines.events('paid')).toMatchObject([
      { actor: 'standard webhook', door: 'webhook', outcome: 'fired' },
    ])
    const [line] = await porch().desk.store.look(listAudit, 'routine paid')
    expect(line).toMatchObject({
      verb: 'routine.fire',
      actor: 'standard webhook',
      door: 'webhook',
      detail: { delivery: 'msg_1' },
    })
  })

  it('that comes again is told the same run, and makes no other', async () => {
    const first = await sent()
    expect(await sent()).toEqual({ status: 202, body: { outcome: 'duplicate', run: first.body.run } })
    porch().desk.clock.advance(60_000)
    expect(await sent(paid, { at: startAt + 60_000 })).toMatchObject({
      body: { outcome: 'duplicate', run: first.body.run },
    })
    expect((await runs.list()).runs).toHaveLength(1)
  })

  it('that nothing is made of is taken in all the same, so that nobody sends it again', async () => {
    expect(await sent('{"type":"refunded"}', { id: 'a' })).toEqual({ status: 202, body: { outcome: 'not-matched' } })
    await routines.disable('paid')
    expect(await sent(paid, { id: 'b' })).toEqual({ status: 202, body: { outcome: 'disabled' } })
    await routines.enable('paid')
    expect(await sent(paid, { id: 'b' })).toEqual({ status: 202, body: { outcome: 'duplicate' } })
    expect((await runs.list()).runs).toEqual([])
  })

  it('is refused alike whatever is wrong with its signature, and leaves nothing behind', async () => {
    const before = await written(porch())
    const good = standardHeaders(paid)
    const { 'webhook-id': _, ...withoutId } = good
    const { 'webhook-timestamp': __, ...withoutTimestamp } = good
    const { 'webhook-signature': ___, ...withoutSignature } = good
    const forged: [string, Record<string, string>][] = [
      [paid, {}],
      [paid, withoutId],
      [paid, withoutTimestamp],
      [paid, withoutSignature],
      [`${paid} `, good],
      [paid.replace('5', '500'), good],
      [paid, { ...good, 'webhook-id': 'msg_2' }],
      [paid, { ...good, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
      [paid, standardHeaders(paid, { at: startAt - 301_000 })],
      [paid, standardHeaders(paid, { at: startAt + 301_000 })],
      [paid, githubHeaders(paid)],
      // Neither is it looked into, nor told that it is no JSON.
      ['{"type":', good],
    ]
    const answers = new Set<string>()
    for (const [body, headers] of forged) {
      const { status, detail, hint, code } = await refusal('/hooks/paid', body, headers)
      answers.add(JSON.stringify({ status, detail, hint, code }))
    }
    expect([...answers].map((text) => JSON.parse(text))).toEqual([
      expect.objectContaining({ status: 401, code: 'unauthenticated', detail: expect.stringMatching(/signature/) }),
    ])
    expect(await written(porch())).toEqual(before)
  })

  it('whose signature is good is told what else is wrong with it', async () => {
    const bad = async (body: string) => refusal('/hooks/paid', body, standardHeaders(body))
    expect(await bad('{"type":')).toMatchObject({
      status: 400,
      code: 'invalid',
      detail: expect.stringMatching(/not whole JSON/),
    })
    expect(await bad('')).toMatchObject({ status: 400, detail: 'The payload is empty.' })
    expect(await bad('{"n":12345678901234567890}')).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/exactly/),
    })
    // A body is refused, and not sent back.
    const { status: ofDigits, detail: digits } = await bad(`{"n":${'9'.repeat(1_000_000)}}`)
    expect([ofDigits, String(digits).length < 200]).toEqual([400, true])
    for (const type of ['x'.repeat(201), 'a\0b', '\ud800']) {
      const refused = await bad(JSON.stringify({ type }))
      expect(refused).toMatchObject({ status: 400, detail: expect.stringMatching(/^The event is refused: type has /) })
    }
    expect(await bad(JSON.stringify({ type: 'paid', x: 'x'.repeat(300_000) }))).toMatchObject({
      status: 413,
      detail: expect.stringMatching(/payload has 300\d{3} bytes as JSON \(expected: at most 262144 bytes\)/),
    })
    expect(await bad('x'.repeat(1_048_577))).toMatchObject({ status: 413 })
    expect(await routines.events('paid')).toEqual([])
  })

  it('is let in by the key that the secret stands for now, whichever of two it is signed with', async () => {
    const old = standardHeaders(paid)
    porch().secrets.set('HOOK', `whsec_${Buffer.from('a new key of 24 bytes or so').toString('base64')}`)
    expect((await refusal('/hooks/paid', paid, old)).status).toBe(401)
    porch().secrets.set('HOOK', secret)
    const two = { ...old, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${old['webhook-signature']}` }
    expect((await ask('/hooks/paid', paid, two)).status).toBe(202)
  })
})

describe('a delivery of GitHub', () => {
  const pushed = JSON.stringify({ ref: 'refs/heads/main' })

  it('is known by its delivery, and has the type that its header tells', async () => {
    const first = (await (await ask('/hooks/pushed', pushed, githubHeaders(pushed))).json()) as { run: string }
    expect(first).toEqual({ outcome: 'fired', run: expect.any(String) })
    expect((await runs.get(first.run)).payload).toMatchObject({
      delivery: 'd-1',
      type: 'push',
      event: JSON.parse(pushed),
    })
    const again = await ask('/hooks/pushed', pushed, githubHeaders(pushed))
    expect(await again.json()).toEqual({ outcome: 'duplicate', run: first.run })
    const issues = await ask(
      '/hooks/pushed',
      pushed,
      githubHeaders(pushed, { id: 'd-2', headers: { 'x-github-event': 'issues' } }),
    )
    expect(await issues.json()).toEqual({ outcome: 'not-matched' })
  })

  it('that only asks whether somebody listens is answered, and not written down', async () => {
    const zen = '{"zen":"Keep it logically awesome."}'
    const response = await ask('/hooks/pushed', zen, githubHeaders(zen, { headers: { 'x-github-event': 'ping' } }))
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 202, body: { outcome: 'ping' } })
    expect(await routines.events('pushed')).toEqual([])
    expect((await refusal('/hooks/pushed', zen, { 'x-github-event': 'ping' })).status).toBe(401)
  })

  it('may be a form', async () => {
    const form = new URLSearchParams({ payload: pushed }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    const response = await ask('/hooks/pushed', form, githubHeaders(form, { headers }))
    const { run } = (await response.json()) as { run: string }
    expect((await runs.get(run)).payload).toMatchObject({ event: JSON.parse(pushed) })
    const empty = 'other=1'
    expect(await refusal('/hooks/pushed', empty, githubHeaders(empty, { headers }))).toMatchObject({ status: 400 })
  })

  it('is refused without a signature, with a wrong one, and without an id', async () => {
    const { 'x-hub-signature-256': _, ...unsigned } = githubHeaders(pushed)
    expect((await refusal('/hooks/pushed', pushed, unsigned)).status).toBe(401)
    expect((await refusal('/hooks/pushed', `${pushed} `, githubHeaders(pushed))).status).toBe(401)
    expect((await refusal('/hooks/pushed', pushed, standardHeaders(pushed))).status).toBe(401)
    const { 'x-github-delivery': __, ...nameless } = githubHeaders(pushed)
    expect(await refusal('/hooks/pushed', pushed, nameless)).toMatchObject({
      status: 400,
      hint: expect.stringMatching(/X-GitHub-Delivery/),
    })
    expect(await routines.events('pushed')).toEqual([])
  })
})

describe('where webhooks are sent', () => {
  it('there is nothing for a routine that is not there, that takes none, or that was deleted', async () => {
    await routines.delete('pushed')
    for (const name of ['nobody', 'unsigned', 'pushed', 'a%2Fb']) {
      const problem = await refusal(`/hooks/${name}`, paid, standardHeaders(paid))
      expect(problem).toMatchObject({ status: 404, code: 'not-found' })
      // The names of others are not told to whoever guesses.
      expect(JSON.stringify(problem)).not.toContain('paid')
    }
    expect((await refusal('/hooks/', paid)).status).toBe(404)
  })

  it('only POST is answered', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await porch().ask('/hooks/paid', { method, as: null })
      expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
    }
  })

  it('a token is neither asked for nor of any use', async () => {
    expect((await porch().problem('/hooks/paid', { text: paid, as: 'admin' })).status).toBe(401)
  })

  it('the host must be right, and the page that it comes from does not matter', async () => {
    const good = standardHeaders(paid)
    expect((await refusal('/hooks/paid', paid, { ...good, host: 'evil.example.org' })).status).toBe(403)
    expect((await ask('/hooks/paid', paid, { ...good, origin: 'https://sender.example.org' })).status).toBe(202)
    expect((await porch().ask('/api/queues', { headers: { origin: 'https://sender.example.org' } })).status).toBe(403)
  })

  it('a secret that cannot be had is told to the operator, and to nobody else', async () => {
    porch().secrets.delete('HOOK')
    const before = await written(porch())
    const problem = await refusal('/hooks/paid', paid, standardHeaders(paid))
    expect(problem).toMatchObject({ status: 503, code: 'unavailable' })
    expect(JSON.stringify(problem)).not.toContain('HOOK')
    expect(String(porch().unforeseen[0])).toContain('The secret HOOK is missing.')
    porch().secrets.set('HOOK', 'no base64 at all!')
    expect((await refusal('/hooks/paid', paid, standardHeaders(paid))).status).toBe(503)
    expect(String(porch().unforeseen[1])).not.toContain('no base64')
    expect(await written(porch())).toEqual(before)
  })

  it('a secret that could be guessed lets nobody in, and the operator is told what it must be', async () => {
    const short = Buffer.from('23 bytes are not enough').toString('base64')
    porch().secrets.set('HOOK', `whsec_${short}`)
    porch().secrets.set('GITHUB', 'hunter2')
    for (const [path, headers] of [
      ['/hooks/paid', standardHeaders(paid)],
      ['/hooks/pushed', githubHeaders(paid)],
    ] as const)
      expect((await refusal(path, paid, headers)).status).toBe(503)
    expect(porch().unforeseen.map(String)).toEqual([
      expect.stringContaining('The secret HOOK is not valid for standard webhooks: it must be whsec_ and'),
      expect.stringContaining('it must be a text of at least 8 bytes'),
    ])
    expect(porch().unforeseen.map(String).join()).not.toContain(short)
  })

  it('nothing is taken in of what has no signature at all', async () => {
    const good = standardHeaders(paid)
    const { 'x-hub-signature-256': _, ...unsigned } = githubHeaders(paid)
    const cases: [string, Readonly<Record<string, string>>][] = [
      ['/hooks/paid', {}],
      ...Object.keys(good).map((name): [string, Record<string, string>] => ['/hooks/paid', { ...good, [name]: '' }]),
      ['/hooks/paid', { ...good, 'webhook-signature': 'v2,abc' }],
      ['/hooks/pushed', unsigned],
      ['/hooks/nobody', good],
    ]
    for (const [path, headers] of cases) {
      let pulls = 0
      const pull = (pulled: ReadableStreamDefaultController) => {
        pulls += 1
        pulled.close()
      }
      const body = new ReadableStream({ pull }, { highWaterMark: 0 })
      const sending = { method: 'POST', headers: { host: '127.0.0.1:4747', ...headers }, body, duplex: 'half' } as const
      const { status } = await porch().door.fetch(new Request(origin + path, sending))
      expect({ path, status, pulls }).toEqual({ path, status: path === '/hooks/nobody' ? 404 : 401, pulls: 0 })
    }
  })

  it('strangers cannot fill the log, neither where a secret is missing nor by leaving before they have sent all', async () => {
    porch().secrets.delete('HOOK')
    const statuses = new Set<number>()
    const signed = standardHeaders(paid)
    for (let tries = 0; tries < 60; tries++) statuses.add((await ask('/hooks/paid', paid, signed)).status)
    expect([...statuses]).toEqual([503, 429])
    expect(porch().unforeseen).toHaveLength(50)
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('aborted')) })
    const left = { method: 'POST', headers: { host: '127.0.0.1:4747', ...signed }, body, duplex: 'half' } as const
    expect((await porch().door.fetch(new Request(`${origin}/hooks/paid`, left))).status).toBe(400)
    expect(porch().unforeseen).toHaveLength(50)
  })

  it('whoever guesses is slowed, and never slows a sender who signs', async () => {
    const statuses = new Set<number>()
    for (let tries = 0; tries < 60; tries++) statuses.add((await ask('/hooks/paid', paid, {})).status)
    expect([...statuses]).toEqual([401, 429])
    expect((await ask('/hooks/nobody', paid, {})).status).toBe(429)
    expect((await sent()).status).toBe(202)
  })

  it('a sender who signs is slowed too, when it sends too often', async () => {
    const { context, events } = porch().desk
    const rate = { perSecond: 1, burst: 2 }
    const door = new HttpDoor({ context, events, version: '1', rate, secretOf: async () => secret })
    const send = async (id: string) => {
      const headers = { host: '127.0.0.1:4747', ...standardHeaders(paid, { id }) }
      return (await door.fetch(new Request(`${origin}/hooks/paid`, { method: 'POST', body: paid, headers }))).status
    }
    expect([await send('a'), await send('b'), await send('c')]).toEqual([202, 202, 429])
    expect((await routines.events('paid')).map(({ deliveryId }) => deliveryId)).toEqual(['b', 'a'])
    door.close()
  })

  it('they are where the door is mounted', async () => {
    const { context, events } = porch().desk
    const door = new HttpDoor({ context, events, version: '1', basePath: '/belfry', secretOf: async () => secret })
    const headers = { host: '127.0.0.1:4747', origin: 'https://sender.example.org', ...standardHeaders(paid) }
    const answers = ['/belfry/hooks/paid', '/hooks/paid'].map(async (path) => {
      return (await door.fetch(new Request(origin + path, { method: 'POST', body: paid, headers }))).status
    })
    expect(await Promise.all(answers)).toEqual([202, 403])
    door.close()
  })

  it('OpenAPI tells of it as of a place without a token', async () => {
    const { paths } = (await porch().json('/openapi.json', { as: null })) as { paths: Record<string, { post: object }> }
    expect(paths['/hooks/{name}']?.post).toMatchObject({
      security: [],
      responses: { 202: {}, 401: {}, 404: {}, 413: {} },
    })
  })
})

describe('a webhook is data, and a routine is made by admins alone', () => {
  it('who may operate fires, enables and disables, and makes and deletes none', async () => {
    const cases = [
      ['read', '/api/routines', {}, 200],
      ['read', '/api/routines/paid/events', {}, 200],
      ['read', '/api/routines/paid/fire', { body: {} }, 403],
      ['operate', '/api/routines/paid/fire', { body: {} }, 200],
      ['admin', '/api/routines/paid/fire', { body: { payload: { type: 'paid' } } }, 200],
      ['operate', '/api/routines/paid/disable', { body: { reason: 'r' } }, 200],
      ['operate', '/api/routines/paid/enable', { body: {} }, 200],
      ['operate', '/api/routines', { body: { name: 'mine', run: {} } }, 403],
      ['operate', '/api/routines/paid', { method: 'DELETE' }, 403],
      ['admin', '/api/routines', { body: { name: 'mine', run: { target: { command: ['true'] } } } }, 201],
      ['admin', '/api/routines/mine', { method: 'DELETE' }, 200],
    ] as const
    for (const [as, path, asked, status] of cases) {
      expect((await porch().ask(path, { ...asked, as })).status, `${as} ${path}`).toBe(status)
    }
  })

  it('an operate token hands no event past the signature, but fires a routine that takes unsigned events', async () => {
    const asked = { body: { payload: { type: 'paid' }, deliveryId: 'past the signature' }, as: 'operate' } as const
    expect(await porch().problem('/api/routines/paid/fire', asked)).toMatchObject({
      code: 'not-allowed',
      hint: expect.stringContaining('/hooks/paid'),
      details: { has: 'operate', needs: 'admin' },
    })
    const events = JSON.stringify(await porch().json('/api/routines/paid/events'))
    expect(events).not.toContain('past the signature')
    const run = { target: { command: ['true'] } }
    await porch().json('/api/routines', { body: { name: 'by-hand', run } })
    expect((await porch().ask('/api/routines/by-hand/fire', asked)).status).toBe(200)
  })

  it('no secret is shown or stored', async () => {
    await sent()
    const shown = [await porch().json('/api/routines'), await porch().json('/api/routines/paid/events')]
    const text = 'select spec from belfry.routine'
    const stored = await databaseOf(porch().desk.store).read(() => all(both('test hooks stored', text)))
    expect(JSON.stringify([shown, stored])).not.toContain(secret.slice(6))
    expect(JSON.stringify(shown)).toContain('HOOK')
  })
})
