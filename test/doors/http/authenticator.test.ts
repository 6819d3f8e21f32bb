import { describe, expect, it } from 'vitest'
import { hostsOf } from '../../../src/operations/input/listen-address.ts'
import { tokenOperations } from '../../../src/operations/token/noun.ts'
import { findToken } from '../../../src/store/tokens/find-token.ts'
import { onPorch, origin } from './porch.ts'

const porch = onPorch()

describe('at the gate', () => {
  it('nobody is let in without a good token, and nobody learns what was wrong with it', async () => {
    const none = await porch().problem('/api/queues', { as: null })
    expect(none).toMatchObject({ status: 401, code: 'unauthenticated', detail: 'The request has no token.' })
    const good = porch().tokens.get('admin') ?? ''
    const forged = [
      good.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      good.replace('t-', 't-1'),
      'belfry_t-15_00',
      'x',
      '',
    ]
    for (const token of forged) {
      const problem = await porch().problem('/api/queues', { as: null, headers: { authorization: `Bearer ${token}` } })
      expect(problem).toMatchObject({ status: 401, detail: 'The token is not valid.' })
    }
    const response = await porch().ask('/api/queues', { as: null })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    const basic = { authorization: `Basic ${good}` }
    expect((await porch().problem('/api/queues', { as: null, headers: basic })).status).toBe(401)
  })

  it('a token lets nobody in once it was revoked, or has expired', async () => {
    const { context, clock } = porch().desk
    const { token } = await tokenOperations.create.call(context, { name: 'short', scope: 'read', expires: '1m' })
    const headers = { authorization: `Bearer ${token}` }
    expect((await porch().ask('/api/queues', { as: null, headers })).status).toBe(200)
    clock.advance(60_000)
    expect(await porch().problem('/api/queues', { as: null, headers })).toMatchObject({
      detail: 'The token has expired.',
    })
    await porch().json('/api/tokens/a%20reader/revoke', { method: 'POST' })
    expect(await porch().problem('/api/queues', { as: 'read' })).toMatchObject({ detail: 'The token was revoked.' })
  })

  it('only its hash is kept, and its use is noted', async () => {
    await porch().json('/api/queues', { as: 'read' })
    const listed = async () =>
      (await porch().json('/api/tokens')) as unknown as { name: string; usedAt: string | null }[]
    const usedAt = async () => (await listed()).find(({ name }) => name === 'a reader')?.usedAt
    await expect.poll(usedAt).toBe('2026-01-05T09:00:00.000Z')
    const secret = (porch().tokens.get('read') ?? '').split('_').at(-1) ?? 'x'
    const known = await porch().desk.store.look(findToken, 't-11')
    expect(JSON.stringify([await listed(), known])).not.toContain(secret)
  })

  it('each may do what its scope says and no more, and what starts programs is for admins alone', async () => {
    const target = { command: ['true'] }
    const cases = [
      ['read', '/api/queues', {}, 200],
      ['read', '/api/runs', { body: {} }, 403],
      ['operate', '/api/runs', { body: { target: null } }, 201],
      ['operate', '/api/runs', { body: { target } }, 403],
      ['operate', '/api/runs/enqueue-many', { body: { runs: [{}, { target }] } }, 403],
      ['operate', '/api/schedules', { body: { name: 'x', every: '1h', target } }, 403],
      ['operate', '/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 2 } }, 403],
      ['operate', '/api/tokens', { body: { name: 'mine', scope: 'admin' } }, 403],
      ['admin', '/api/runs', { body: { target } }, 201],
      ['admin', '/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 2 } }, 200],
    ] as const
    for (const [as, path, asked, status] of cases) {
      expect((await porch().ask(path, { ...asked, as })).status, `${as} ${path}`).toBe(status)
    }
    const problem = await porch().problem('/api/runs', { body: { target }, as: 'operate' })
    expect(problem).toMatchObject({ code: 'not-allowed', details: { has: 'operate', needs: 'admin' } })
  })

  it('what a program is handed is for admins to change too, though the input names no program', async () => {
    const target = { command: ['/bin/sh'] }
    await porch().json('/api/schedules', { body: { name: 'shell', every: '1h', target } })
    const payload = '$(touch here)'
    for (const [path, asked] of [
      ['/api/schedules/shell', { method: 'PATCH', body: { payload } }],
      ['/api/schedules/shell', { method: 'PUT', body: { every: '2h', target: null } }],
      ['/api/schedules/shell/run', { body: { payload } }],
    ] as const) {
      expect(await porch().problem(path, { ...asked, as: 'operate' }), path).toMatchObject({
        code: 'not-allowed',
        details: { has: 'operate', needs: 'admin' },
      })
    }
    expect((await porch().ask('/api/schedules/shell/run', { method: 'POST', as: 'operate' })).status).toBe(200)
    expect((await porch().ask('/api/schedules/shell', { method: 'PATCH', body: { payload } })).status).toBe(200)
  })

  it('an operate token may not change the payload of a stored request that carries a secret', async () => {
    const target = { http: { url: 'https://example.org/', headers: { authorization: { secret: 'KEY' } } } }
    const payload = { pay: 'ada' }
    await porch().json('/api/schedules', { body: { name: 'pay', every: '1h', target, payload } })
    const other = { pay: 'mallory' }
    for (const [path, asked] of [
      ['/api/schedules/pay', { method: 'PATCH', body: { payload: other } }],
      ['/api/schedules/pay', { method: 'PATCH', body: { payload: null } }],
      ['/api/schedules/pay', { method: 'PUT', body: { every: '1h', target, payload: other } }],
      ['/api/schedules/pay/run', { body: { payload: other } }],
      ['/api/schedules/pay/run', { body: { payload: null } }],
    ] as const) {
      const refused = await porch().problem(path, { ...asked, as: 'operate' })
      expect(refused, `${path} ${JSON.stringify(asked)}`).toMatchObject({
        code: 'not-allowed',
        details: { has: 'operate', needs: 'admin' },
      })
    }
    expect(await porch().json('/api/schedules/pay')).toMatchObject({ payload })
    // What is sent stays as the admin wrote it, so when and in which order is still for operators to say.
    for (const [path, asked] of [
      ['/api/schedules/pay', { method: 'PATCH', body: { every: '2h', priority: 1, payload } }],
      ['/api/schedules/pay/run', { method: 'POST' }],
    ] as const) {
      expect((await porch().ask(path, { ...asked, as: 'operate' })).status, path).toBe(200)
    }
    expect((await porch().ask('/api/schedules/pay', { method: 'PATCH', body: { payload: other } })).status).toBe(200)
  })

  it('a program that is told of failures is for admins too, and so is a schedule that has one', async () => {
    const target = { http: { url: 'https://example.org/' } }
    const command = { command: ['/bin/sh'] }
    for (const field of ['onFailure', 'onPark', 'onRecover', 'onOverdue']) {
      const name = `of ${field}`
      const body = { name, every: '1h', target, [field]: command }
      const asOperator = await porch().problem('/api/schedules', { body, as: 'operate' })
      expect(asOperator, field).toMatchObject({ code: 'not-allowed', details: { has: 'operate', needs: 'admin' } })
      await porch().json('/api/schedules', { body })
      for (const change of [{ priority: 1 }, { [field]: null }]) {
        const asked = { method: 'PATCH', body: change, as: 'operate' } as const
        const refused = await porch().problem(`/api/schedules/${encodeURIComponent(name)}`, asked)
        expect(refused, field).toMatchObject({ code: 'not-allowed', details: { needs: 'admin' } })
      }
    }
    const mild = { name: 'mild', every: '1h', target, onFailure: target }
    expect((await porch().ask('/api/schedules', { body: mild, as: 'operate' })).status).toBe(201)
    const change = { method: 'PATCH', body: { priority: 1 }, as: 'operate' } as const
    expect((await porch().ask('/api/schedules/mild', change)).status).toBe(200)
    for (const [path, asked] of [
      ['/api/store/notify', { body: { onFailure: target } }],
      ['/api/queues/mail', { method: 'PUT', body: { onFailure: target } }],
    ] as const) {
      expect((await porch().ask(path, { ...asked, as: 'operate' })).status, path).toBe(403)
      expect((await porch().ask(path, asked)).status, path).toBe(200)
    }
  })

  it('a request to another host, or from a page of another, is refused before anything else', async () => {
    for (const headers of [
      { host: 'evil.example.org' },
      { host: '127.0.0.1:80' },
      { origin: 'http://evil.example.org' },
      { origin: 'null' },
    ]) {
      expect(await porch().problem('/api/queues', { headers })).toMatchObject({ status: 403, code: 'not-allowed' })
    }
    expect((await porch().ask('/live', { headers: { host: 'evil.example.org' } })).status).toBe(403)
    expect((await porch().ask('/api/queues', { headers: { origin } })).status).toBe(200)
  })

  it('a request names the port that the server listens at, or none where that is the one nobody writes', () => {
    const hosts = ['127.0.0.1', 'localhost', '[::1]']
    const named = (port: number) => hosts.map((host) => `${host}:${port}`)
    expect(hostsOf({ host: '127.0.0.1' }, 4747)).toEqual(named(4747))
    expect(hostsOf({ host: '127.0.0.1' }, 80)).toEqual([...named(80), ...hosts])
  })

  it('no answer lets a page of another read it, be it a preflight', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const response = await porch().ask('/api/queues', { method, headers: { 'access-control-request-method': 'GET' } })
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
  })

  it('whoever asks too often is told when to ask again, and a guesser never slows those who are known', async () => {
    const statuses = new Set<number>()
    for (let tries = 0; tries < 60; tries++) statuses.add((await porch().ask('/api/queues', { as: null })).status)
    expect([...statuses]).toEqual([401, 429])
    const slow = await porch().ask('/api/queues', { as: null })
    expect(slow.headers.get('retry-after')).toBe('1')
    expect((await porch().ask('/api/queues')).status).toBe(200)
    for (let tries = 0; tries < 2_000; tries++) await porch().ask('/api/queues', { as: 'read' })
    expect(await porch().problem('/api/queues', { as: 'read' })).toMatchObject({ status: 429, code: 'too-many' })
    porch().desk.clock.advance(1_000)
    expect((await porch().ask('/api/queues', { as: 'read' })).status).toBe(200)
  })
})
