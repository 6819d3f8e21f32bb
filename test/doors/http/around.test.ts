import { describe, expect, it } from 'vitest'
import { curlOf } from '../../../src/doors/http/docs-page.ts'
import { openApi } from '../../../src/doors/http/openapi.ts'
import { routes } from '../../../src/operations/route.ts'
import { operations } from '../../../src/operations/table.ts'
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

  it('its figures are what Prometheus reads', async () => {
    await porch().json('/api/runs/enqueue-many', { body: { runs: [{}, {}] } })
    porch().desk.events.tell('run.completed', {
      ...{ runId: 'r-1', fence: 1, queue: 'default', scheduleId: null },
      ...{ status: 'completed', reason: 'success', durationMs: 1 },
    })
    porch().desk.clock.advance(3_000)
    const text = await (await porch().ask('/metrics', { as: 'read' })).text()
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

  it('its page has every verb with this door, loads nothing, and runs no script', async () => {
    const response = await porch().ask('/docs', { as: null })
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    const page = await response.text()
    expect(page).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1|example\.org)/)
    for (const { operation, path } of routes) {
      expect(page).toContain(`id="${operation.noun}.${operation.verb}"`)
      expect(page).toContain(path)
    }
    expect(routes.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(operations.filter(({ doors }) => doors.http === true)),
    )
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
    expect(new Set(ids).size).toBe(routes.length)
    expect(text).not.toContain('In epoch ms')
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
