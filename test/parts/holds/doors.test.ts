import { describe, expect, it } from 'vitest'
import { defaultTools } from '../../../src/doors/mcp/tool-sets.ts'
import { toolsFor } from '../../../src/doors/mcp/tools.ts'
import { onPorch } from '../../doors/http/porch.ts'
import { call, factsOf, modelAt, wholeOf } from '../../doors/mcp/model.ts'
import { atDesk, startAt, verbsAt } from '../../operations/desk.ts'

describe('a model', () => {
  const desk = atDesk()
  const { holds } = verbsAt(() => desk().context)

  it('reads the holds, with a tool that is not in its default set', async () => {
    const { id } = await holds.stop({ reason: 'Incident 4711' }).then(({ hold }) => hold)
    const model = await modelAt({ context: async () => desk().context, scope: 'read' })
    expect(JSON.stringify(wholeOf(await call(model, 'hold_list')))).toContain('Incident 4711')
    expect(JSON.stringify(factsOf(await call(model, 'hold_list')))).toContain(id)
    expect(defaultTools.filter((name) => name.startsWith('hold'))).toEqual([])
  })

  it('can neither put nor lift one, nor stop or start everything, whatever its scope', async () => {
    expect(toolsFor('admin').flatMap(({ name }) => (name.startsWith('hold') ? [name] : []))).toEqual(['hold_list'])
    const { hold } = await holds.stop({ reason: 'Incident 4711' })
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    const inputs = {
      hold_put: { on: 'namespace', reason: 'x' },
      hold_lift: { id: hold.id },
      hold_stop: {},
      hold_go: {},
    }
    for (const [tool, input] of Object.entries(inputs)) {
      expect(await call(model, tool, input), tool).toMatchObject({ isError: true })
    }
    expect((await holds.list({})).map(({ id }) => id)).toEqual([hold.id])
  })
})

describe('over HTTP', () => {
  const porch = onPorch()

  it('a reader sees the holds and an operator puts and lifts them', async () => {
    const body = { on: 'kind:http', reason: 'The proxy is moved.', for: '2h' }
    expect(await porch().problem('/api/holds', { body, as: 'read' })).toMatchObject({ status: 403 })
    const { id, until } = await porch().json('/api/holds', { body, as: 'operate' })
    expect(until).toBe(new Date(startAt + 2 * 3_600_000).toISOString())
    expect(await porch().json('/api/holds', { as: 'read' })).toMatchObject([
      { id, by: expect.stringContaining('operate') },
    ])
    expect(await porch().json(`/api/holds/${id}/lift`, { body: {}, as: 'operate' })).toMatchObject({ inForce: false })
    expect(await porch().problem('/api/holds/go', { body: {}, as: 'operate' })).toMatchObject({ status: 409 })
  })

  it('/health is degraded by a stop and says so, and is not unhealthy: everything goes on by one command', async () => {
    await porch().json('/api/holds/stop', { body: { reason: 'Incident 4711' }, as: 'operate' })
    const { status, reasons } = await porch().json('/health', { as: 'read' })
    expect(status).toBe('degraded')
    expect(reasons).toContainEqual({ check: 'holds', state: 'note', says: '1 hold in force: namespace.' })
  })
})
