import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { listAudit } from '../../store/list-audit.ts'
import { onPorch } from './porch.ts'

const porch = onPorch()
const target = { http: { url: 'https://example.org/hook' } }

describe('a verb over HTTP', () => {
  it('makes a schedule, tells where it is, and its ETag lets it be changed by who has seen it', async () => {
    const made = await porch().ask('/api/schedules', { body: { name: 'a b/c', every: '1h', target } })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe('/api/schedules/a%20b%2Fc')
    const tag = made.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"s-\w+\.1"$/)
    const path = '/api/schedules/a%20b%2Fc'
    const seen = await porch().ask(path)
    expect(await seen.json()).toMatchObject({
      name: 'a b/c',
      everyMs: 3_600_000,
      createdAt: '2026-01-05T09:00:00.000Z',
    })
    const change = { method: 'PATCH', body: { priority: 3 } }
    expect(seen.headers.get('etag')).toBe(tag)
    const changed = await porch().ask(path, { ...change, headers: { 'if-match': tag } })
    expect(changed.headers.get('etag')).toBe(tag.replace('.1"', '.2"'))
    const other = { method: 'PATCH', body: { priority: 4 } }
    for (const before of [tag, '"1"']) {
      const late = await porch().problem(path, { ...other, headers: { 'if-match': before } })
      expect(late, before).toMatchObject({ status: 412, code: 'conflict', details: { version: 2 } })
    }
    expect(await porch().problem(path, { ...change, headers: { 'if-match': 'x' } })).toMatchObject({ status: 400 })
    expect((await porch().ask(path, { ...other, headers: { 'if-match': '"2"' } })).status).toBe(200)
  })

  it('does not take a schedule that was deleted and made anew for the one that somebody has seen', async () => {
    const body = { name: 'x', every: '1h', target }
    const tag = (await porch().ask('/api/schedules', { body })).headers.get('etag') ?? ''
    await porch().json('/api/schedules/x', { method: 'DELETE' })
    const anew = (await porch().ask('/api/schedules', { body })).headers.get('etag') ?? ''
    expect(anew).not.toBe(tag)
    const asked = [
      ['/api/schedules/x', { method: 'PATCH', body: { priority: 3 } }],
      ['/api/schedules/x', { method: 'PUT', body: { every: '2h', target } }],
      ['/api/schedules/x', { method: 'PUT', body: { every: '1h', target } }],
    ] as const
    for (const [path, how] of asked) {
      const late = await porch().problem(path, { ...how, headers: { 'if-match': tag } })
      expect(late).toMatchObject({ status: 412, code: 'conflict', details: { version: 1, id: anew.slice(1, -3) } })
    }
    expect(await porch().json('/api/schedules/x')).toMatchObject({ version: 1, everyMs: 3_600_000 })
    expect((await porch().ask('/api/schedules/x', { ...asked[0][1], headers: { 'if-match': anew } })).status).toBe(200)
    const queue = { method: 'PUT', body: { maxConcurrent: 1 }, headers: { 'if-match': anew } }
    expect((await porch().problem('/api/queues/mail', queue)).status).toBe(400)
  })

  it('refuses names that no URL can contain to whatever would be made by them', async () => {
    for (const name of ['.', '..']) {
      const asked = [
        ['/api/schedules', { body: { name, every: '1h', target } }, 'name'],
        ['/api/schedules', { body: { name: 'x', queue: name, every: '1h', target } }, 'queue'],
        ['/api/runs', { body: { target: null, queue: name } }, 'queue'],
        ['/api/tokens', { body: { name } }, 'name'],
      ] as const
      for (const [path, how, field] of asked) {
        expect(await porch().problem(path, how), path).toMatchObject({
          status: 400,
          details: { problems: [{ field, expected: expect.stringContaining('no URL can contain') }] },
        })
      }
      const refused = await porch()
        .client()
        .queues.set(name, { maxConcurrent: 1 })
        .catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'invalid' })
    }
    expect((await porch().json('/api/queues')).length).toBe(0)
  })

  it('answers 200 where nothing was made, and 201 for a new run only, by the key that a proxy may repeat', async () => {
    const body = { name: 'twice', every: '1h', target }
    expect((await porch().ask('/api/schedules', { body })).status).toBe(201)
    expect((await porch().ask('/api/schedules', { body })).status).toBe(200)
    const headers = { 'idempotency-key': 'k-1' }
    const first = await porch().ask('/api/runs', { body: { target: null, payload: 1 }, headers })
    const again = await porch().ask('/api/runs', { body: { target: null, payload: 1 }, headers })
    expect([first.status, again.status]).toEqual([201, 200])
    const [{ id }, { id: same }] = [(await first.json()) as { id: string }, (await again.json()) as { id: string }]
    expect(same).toBe(id)
    expect(first.headers.get('location')).toBe(`/api/runs/${id}`)
    const other = await porch().problem('/api/runs', { body: { target: null, payload: 2 }, headers })
    expect(other).toMatchObject({ status: 409, code: 'conflict' })
  })

  it('refuses a wish in a header that the verb cannot keep, and does nothing', async () => {
    await porch().json('/api/schedules', { body: { name: 'x', every: '1h', target } })
    const asked = [
      ['/api/schedules/x', { method: 'DELETE', headers: { 'if-match': '"9"' } }],
      ['/api/schedules/x/run', { method: 'POST', headers: { 'idempotency-key': 'k' } }],
      ['/api/runs/enqueue-many', { body: { runs: [{ target: null }] }, headers: { 'idempotency-key': 'k' } }],
      ['/api/schedules/x', { method: 'PATCH', body: { priority: 1 }, headers: { 'if-match': '*' } }],
      ['/api/schedules/y', { method: 'PUT', body: { every: '1h' }, headers: { 'if-none-match': '*' } }],
    ] as const
    for (const [path, how] of asked) expect(await porch().problem(path, how), path).toMatchObject({ status: 400 })
    expect(await porch().json('/api/schedules')).toMatchObject([{ name: 'x', version: 1 }])
    expect((await porch().json('/api/runs')).runs).toEqual([])
    const fresh = { method: 'PUT', body: { maxConcurrent: 2 }, headers: { 'if-none-match': '*' } }
    expect((await porch().ask('/api/queues/mail', fresh)).status).toBe(200)
    expect((await porch().problem('/api/queues/mail', { ...fresh, body: { maxConcurrent: 3 } })).status).toBe(409)
  })

  it('reads numbers, lists, yes and no from the address, and refuses what it does not know there', async () => {
    await porch().json('/api/runs/enqueue-many', {
      body: { runs: [{ target: null }, { target: null }, { target: null }] },
    })
    expect((await porch().json('/api/runs?limit=2')).runs).toHaveLength(2)
    const wrong = await porch().problem('/api/runs?limit=two&stauts=ready')
    expect(wrong).toMatchObject({ status: 400, code: 'invalid' })
    expect((wrong.details as { problems: { field: string }[] }).problems.map(({ field }) => field)).toEqual([
      'limit',
      'stauts',
    ])
    expect(await porch().problem('/api/runs?limit=1&limit=2')).toMatchObject({ code: 'invalid' })
    const plan = await porch().json('/api/sched/plan?kinds=http,command&limit=1')
    expect(plan.leases).toHaveLength(1)
    expect(await porch().problem('/api/schedules?deleted=yes')).toMatchObject({ code: 'invalid' })
  })

  it('leads from each page of a list to the next, with what was asked for besides', async () => {
    for (const name of ['a%2Fb', 'c', 'd'])
      await porch().json(`/api/queues/${name}`, { method: 'PUT', body: { maxConcurrent: 1 } })
    const names: unknown[] = []
    for (let path: string | undefined = '/api/queues?limit=2'; path !== undefined; ) {
      const response: Response = await porch().ask(path)
      names.push(((await response.json()) as { name: string }[]).map(({ name }) => name))
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    }
    expect(names).toEqual([['a/b', 'c'], ['d']])
    await porch().json('/api/runs/enqueue-many', {
      body: { runs: [{ target: null }, { target: null }, { target: null }] },
    })
    const runs = await porch().ask('/api/runs?queue=default&limit=2')
    expect(runs.headers.get('link')).toMatch(/^<\/api\/runs\?queue=default&limit=2&before=[^&>]+>; rel="next"$/)
  })

  it('leads on from the history of a schedule whose name is part of the path', async () => {
    await porch().json('/api/schedules', { body: { name: 'a/b', cron: '0 * * * *', zone: 'UTC', target } })
    for (let hour = 0; hour < 3; hour++) {
      porch().desk.clock.advance(3_600_000)
      await porch().desk.store.fireDue({ limit: 10 })
      const [lease] = await porch().desk.lease()
      await porch().desk.store.settle([{ ...(lease as NonNullable<typeof lease>), outcome: { kind: 'success' } }])
    }
    const instants: string[] = []
    for (let path: string | undefined = '/api/schedules/a%2Fb/history?limit=2'; path !== undefined; ) {
      const response: Response = await porch().ask(path)
      expect(response.status, path).toBe(200)
      expect(path).toMatch(/^\/api\/schedules\/a%2Fb\/history\?limit=2(&before=[^&]+)?$/)
      instants.push(...((await response.json()) as { from: string }[]).map(({ from }) => from))
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    }
    expect(instants).toHaveLength(3)
    expect(instants).toEqual([...instants].sort().reverse())
  })

  it('rehearses what can be rehearsed, and says of the rest that it cannot', async () => {
    const headers = { 'belfry-dry-run': 'true' }
    const body = { name: 'x', every: '1h', target }
    expect((await porch().ask('/api/schedules', { body, headers })).status).toBe(201)
    expect((await porch().problem('/api/schedules/x')).status).toBe(404)
    expect(await porch().problem('/api/runs/r-15/cancel', { method: 'POST', headers })).toMatchObject({
      code: 'invalid',
    })
    expect(await porch().problem('/api/schedules', { body, headers: { 'belfry-dry-run': 'maybe' } })).toMatchObject({
      code: 'invalid',
    })
  })

  it('writes down who did it, and through which door', async () => {
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 3 } })
    const [entry] = await porch().desk.store.look(listAudit, 'queue mail')
    expect(entry).toMatchObject({ actor: 'a adminer', door: 'http', verb: 'queue.create' })
  })

  it('refuses a body that is no object, no JSON, of another type, or says otherwise than the address', async () => {
    for (const text of ['[1]', '"x"', '{"name":', '{"payload":12345678901234567890}', '\u0000']) {
      expect(await porch().problem('/api/runs', { text }), text).toMatchObject({ status: 400, code: 'invalid' })
    }
    const xml = { text: '<a/>', headers: { 'content-type': 'text/xml' } }
    expect(await porch().problem('/api/runs', xml)).toMatchObject({ status: 415 })
    const other = { method: 'PUT', body: { name: 'other', maxConcurrent: 1 } }
    expect(await porch().problem('/api/queues/mail', other)).toMatchObject({ status: 400 })
    expect(await porch().problem('/api/runs?queue=mail', { body: {} })).toMatchObject({ status: 400 })
    const large = { text: JSON.stringify({ payload: 'x'.repeat(1_100_000) }) }
    expect(await porch().problem('/api/runs', large)).toMatchObject({ status: 413 })
    expect(porch().unforeseen).toEqual([])
  })

  it('says what is where nothing is, and what can be done where something is', async () => {
    expect(await porch().problem('/api/nothing')).toMatchObject({ status: 404, code: 'not-found' })
    const response = await porch().ask('/api/runs', { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, POST')
    expect((await porch().ask('/mcp')).headers.get('allow')).toBe('POST')
    expect((await porch().problem('/api/runs/')).hint).toContain('slash')
  })

  it('tells nobody what it is that nobody foresaw, but the log', async () => {
    porch().desk.store.look = () => Promise.reject(new Error('the password is xyzzy'))
    const problem = await porch().problem('/api/queues')
    expect(problem).toMatchObject({ status: 500, code: 'failure' })
    expect(JSON.stringify(problem)).not.toContain('xyzzy')
    expect(porch().unforeseen).toHaveLength(1)
    // Also what the store itself says went wrong: it may hold what was stored.
    const inside = new BelfryError('failure', 'The row of xyzzy cannot be read.', { details: { row: 'xyzzy' } })
    porch().desk.store.look = () => Promise.reject(inside)
    expect(JSON.stringify(await porch().problem('/api/queues'))).not.toContain('xyzzy')
    expect(porch().unforeseen).toEqual([expect.any(Error), inside])
  })

  it('is under whatever path it is mounted at', async () => {
    const { HttpDoor } = await import('../../../src/doors/http/http-door.ts')
    const { context, events } = porch().desk
    const door = new HttpDoor({ context, events, version: '1', basePath: '/tools/belfry/' })
    const headers = { authorization: `Bearer ${porch().tokens.get('admin')}` }
    const at = (path: string, init: RequestInit = {}) =>
      door.fetch(
        new Request(`http://app.example.org${path}`, {
          ...init,
          headers: { ...headers, 'content-type': 'application/json' },
        }),
      )
    expect((await at('/tools/belfry/api/queues')).status).toBe(200)
    const made = await at('/tools/belfry/api/runs', { method: 'POST', body: '{"target":null}' })
    expect(made.headers.get('location')).toMatch(/^\/tools\/belfry\/api\/runs\/r-/)
    const missing = (await (await at('/tools/belfry/api/runs/r-3zzz')).json()) as { type: string }
    expect(missing.type).toBe('/tools/belfry/docs#error-not-found')
    expect((await at('/api/queues')).status).toBe(404)
    door.close()
  })
})
