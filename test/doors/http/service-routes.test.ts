import { describe, expect, it } from 'vitest'
import { curlOf } from '../../../src/doors/http/docs-page.ts'
import { openApi } from '../../../src/doors/http/openapi.ts'
import { serviceEndpoints } from '../../../src/doors/http/service-endpoints.ts'
import { routes } from '../../../src/routes.ts'
import { onPorch } from './porch.ts'

const porch = onPorch()

describe('beside the verbs', () => {
  it('it says that it lives and is ready without a token, and how it is with one', async () => {
    expect((await porch().ask('/live', { as: null })).status).toBe(200)
    expect((await porch().ask('/ready', { as: null })).status).toBe(200)
    expect((await porch().ask('/health', { as: null })).status).toBe(401)
    const health = await porch().json('/health', { as: 'read' })
    expect(health).toMatchObject({ status: expect.stringMatching(/healthy|degraded/), at: '2026-01-05T09:00:00.000Z' })
    await porch().desk.store.close()
    expect((await porch().ask('/ready', { as: null })).status).toBe(503)
  })

  it('a model is offered the tools that the address names, and one that does not exist is refused before anything is served', async () => {
    const headers = { accept: 'application/json, text/event-stream' }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const named = async (query: string, as: 'read' | 'operate') => {
      const answer = await porch().ask(`/mcp${query}`, { body, headers, as })
      const { result } = (await answer.json()) as { result: { tools: { name: string }[] } }
      return result.tools.map(({ name }) => name)
    }
    expect(await named('', 'operate')).toHaveLength(15)
    expect(await named('?tools=routine,run_output', 'read')).toEqual([
      'run_output',
      'routine_get',
      'routine_list',
      'routine_events',
    ])
    for (const query of ['?tools=everything', '?tools=queue_set', '?tools=']) {
      const problem = await porch().problem(`/mcp${query}`, { body, headers, as: 'operate' })
      expect(problem, query).toMatchObject({ status: 400, code: 'invalid' })
    }
  })

  it.each(serviceEndpoints)(
    '$path is asked for by $method, and says so to every other method',
    async ({ path, method, scope }) => {
      const right = await porch().ask(path, { method, ...(method === 'POST' && { body: {} }) })
      expect(right.status).not.toBe(404)
      expect(right.status).not.toBe(405)
      await right.body?.cancel()
      for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((word) => word !== method)) {
        const response = await porch().ask(path, { method: other })
        expect({ other, status: response.status }).toEqual({ other, status: 405 })
        expect(response.headers.get('allow')).toBe(method)
      }
      const stranger = await porch().ask(path, { method, as: null, ...(method === 'POST' && { body: {} }) })
      expect(stranger.status === 401).toBe(scope !== null)
    },
  )

  it('tells the time of the store, and of what went wrong inside no more than that it did', async () => {
    expect(await porch().json('/api/now', { as: 'read' })).toEqual({ now: '2026-01-05T09:00:00.000Z' })
    expect(await porch().client('read').now()).toBe(porch().desk.clock.now())
    porch().desk.store.condition = () => Promise.reject(new Error('the password is xyzzy'))
    const health = await porch().ask('/health')
    expect(health.status).toBe(503)
    expect(await health.text()).not.toContain('xyzzy')
    expect(porch().unforeseen).toHaveLength(1)
  })

  it('its figures say where they are not all', async () => {
    const runs = Array.from({ length: 51 }, (_, priority) => ({ target: null, priority }))
    await porch().json('/api/runs/enqueue-many', { body: { runs: runs.slice(1) } })
    const figures = async () => (await porch().ask('/metrics')).text()
    expect(await figures()).toContain('belfry_queue_figures_are_at_least{queue="default"} 0')
    expect(await porch().json('/api/queues/default/stats')).toMatchObject({ oldestInLineIsAtLeast: false })
    await porch().json('/api/runs', { body: { target: null, priority: 0 } })
    expect(await figures()).toContain('belfry_queue_figures_are_at_least{queue="default"} 1')
    expect(await porch().json('/api/queues/default/stats')).toMatchObject({ oldestInLineIsAtLeast: true })
    expect(await figures()).toContain('belfry_queues_left_out 0')
    const queues = Array.from({ length: 200 }, (_, index) => ({ target: null, queue: `q${index}` }))
    await porch().json('/api/runs/enqueue-many', { body: { runs: queues } })
    expect(await figures()).toContain('belfry_queues_left_out 1')
  })

  it('its figures are what Prometheus reads', async () => {
    await porch().json('/api/runs/enqueue-many', { body: { runs: [{ target: null }, { target: null }] } })
    porch().desk.events.tell('run.completed', {
      ...{ runId: 'r-1', fence: 1, queue: 'default', scheduleId: null },
      ...{ status: 'completed', reason: 'success', durationMs: 1, source: 'enqueued' },
    })
    porch().desk.events.tell('run.used', {
      ...{ runId: 'r-1', fence: 1, queue: 'default', scheduleId: null, kind: 'agent', name: 'claude' },
      usage: { tokensIn: 1_500, tokensOut: 380, money: { amount: 31_207, currency: 'USD' } },
    })
    porch().desk.clock.advance(3_000)
    const text = await (await porch().ask('/metrics', { as: 'read' })).text()
    expect(text).toContain('belfry_tokens_total{kind="agent",name="claude",of="in"} 1500')
    expect(text).toContain('belfry_cost_total{kind="agent",name="claude",currency="USD"} 0.031207')
    expect(text).not.toContain('of="cached"')
    expect(text).toContain('belfry_runs{queue="default",state="ready"} 2')
    expect(text).toContain('belfry_queue_oldest_seconds{queue="default"} 3')
    expect(text).toContain('belfry_runs_ended_total{queue="default",status="completed"} 1')
    for (const name of [
      'lateness_seconds',
      'retries_total',
      'occurrences_skipped_total',
      'leases_lost_total',
      'event_loop_delay_seconds',
    ]) {
      expect(text, name).toContain(`belfry_${name}`)
    }
    expect((await porch().ask('/metrics', { as: null })).status).toBe(401)
  })
})

describe('OpenAPI', () => {
  it('is 3.1, names each operation once, and every reference leads somewhere', async () => {
    const document = (await porch().json('/openapi.json', { as: null })) as ReturnType<typeof openApi>
    expect(document).toEqual(JSON.parse(JSON.stringify(openApi('1.2.3'))))
    expect(document.openapi).toBe('3.1.0')
    const { schemas } = document.components as { schemas: Record<string, unknown> }
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(schemas).toHaveProperty(name as string)
    expect(text).not.toContain('$defs')
    const ids = [...text.matchAll(/"operationId":"([\w.]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(routes.length + serviceEndpoints.length)
    expect(ids.length).toBe(routes.length + serviceEndpoints.length)
    expect(text).not.toContain('In epoch ms')
  })

  it('tells of every status that a request itself can be refused with, where it can', () => {
    const { paths } = openApi('1.2.3') as { paths: Record<string, Record<string, { responses: object }>> }
    const statuses = (path: string, method: string) =>
      Object.keys(paths[path]?.[method]?.responses ?? {}).filter((status) => status >= '401' && status !== '404')
    expect(statuses('/api/runs', 'get')).toEqual(['401', '403', '405', '429', '500', '503'])
    expect(statuses('/api/runs', 'post')).toEqual(['401', '403', '405', '409', '413', '415', '429', '500', '503'])
    expect(statuses('/api/schedules/{name}', 'patch')).toContain('412')
    expect(statuses('/live', 'get')).toEqual(['405', '500'])
    expect(statuses('/health', 'get')).toEqual(['401', '403', '405', '429', '500', '503'])
    for (const { path, method } of serviceEndpoints) expect(paths[path]).toHaveProperty(method.toLowerCase())
  })

  it('no two verbs are found at one place, and no lease id in any path', () => {
    const places = routes.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
    expect(new Set(places).size).toBe(places.length)
    expect(places.join(' ')).not.toContain('lease}')
  })

  it('an example is typed as it can be run', () => {
    const lines = Object.fromEntries(
      routes.map((route) => [
        `${route.operation.noun} ${route.operation.verb}`,
        curlOf(route, route.operation.examples[0] ?? {}),
      ]),
    )
    expect(lines['schedule delete']).toMatch(
      /^curl -sS -X DELETE -H "Authorization: Bearer \$TOKEN" "\$BELFRY\/api\/schedules\//,
    )
    expect(lines['run list']).toBe('curl -sS -H "Authorization: Bearer $TOKEN" "$BELFRY/api/runs"')
    expect(lines['schedule resume']).toContain('-X POST')
  })
})
