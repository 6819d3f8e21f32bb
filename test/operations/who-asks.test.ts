import { describe, expect, it } from 'vitest'
import { tokenOperations } from '../../src/operations/token/noun.ts'
import type { Store } from '../../src/store/port.ts'
import { operations } from '../../src/table.ts'
import { onPorch, type Porch } from '../doors/http/porch.ts'
import { call, modelAt } from '../doors/mcp/model.ts'
import { listAudit } from '../store/list-audit.ts'
import { atDesk, verbsAt } from './desk.ts'

/** Shows the token of an agent that may do everything that agents may. */
async function agentAt(porch: Porch) {
  const { token } = await tokenOperations.create.call(porch.desk.context, {
    name: 'reviewer',
    scope: 'admin',
    for: 'agent',
  })
  return { authorization: `Bearer ${token}` }
}

const tried = (store: Store, subject: string) => store.look(listAudit, subject)

describe('an agent over HTTP', () => {
  const porch = onPorch()

  it('may not do what only persons may, whatever its scope, and the audit says that it tried', async () => {
    const headers = await agentAt(porch())
    await porch().json('/api/holds/stop', { body: { reason: 'Incident 4711' } })
    const asked = { body: {}, headers }
    expect(await porch().problem('/api/holds/go', asked)).toMatchObject({
      status: 403,
      code: 'not-allowed',
      hint: 'Ask a person to do it.',
    })
    expect(await porch().json('/api/holds')).toHaveLength(1)
    expect(await tried(porch().desk.store, 'namespace')).toMatchObject([
      { actor: 'reviewer', caller: 'agent', verb: 'hold.go', detail: { refused: 'not-allowed' } },
    ])
  })

  it('cannot make itself a token of a person, nor claim to be one', async () => {
    const headers = await agentAt(porch())
    const body = { name: 'me', scope: 'admin', for: 'person' }
    expect(await porch().problem('/api/tokens', { body, headers })).toMatchObject({ code: 'not-allowed' })
    for (const claim of [{ kind: 'person' }, { actor: { kind: 'person' } }]) {
      const asked = { body: { reason: 'x', ...claim }, headers }
      expect(await porch().problem('/api/holds/stop', asked)).toMatchObject({ code: 'not-allowed' })
    }
    const claimed = { ...headers, 'belfry-caller': 'person', 'x-forwarded-user': 'person' }
    expect(await porch().problem('/api/holds/stop', { body: {}, headers: claimed })).toMatchObject({
      code: 'not-allowed',
    })
  })

  it('does what agents may, and the audit tells it from a person', async () => {
    const headers = await agentAt(porch())
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 3 }, headers })
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 4 } })
    expect((await tried(porch().desk.store, 'queue mail')).map(({ caller }) => caller)).toEqual(['person', 'agent'])
    expect(await porch().json('/api/tokens')).toContainEqual(
      expect.objectContaining({ name: 'reviewer', for: 'agent' }),
    )
  })
})

describe('a model', () => {
  const desk = atDesk()
  const { holds } = verbsAt(() => desk().context)

  it('is an agent, whoever opened the store', async () => {
    await holds.stop({})
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    expect(await call(model, 'hold_go', {})).toMatchObject({ isError: true })
    expect(await tried(desk().store, 'namespace')).toMatchObject([
      { actor: 'tester', caller: 'agent', verb: 'hold.go', detail: { refused: 'not-allowed' } },
    ])
    await call(model, 'queue_set', { name: 'mail', maxConcurrent: 3 })
    expect(await tried(desk().store, 'queue mail')).toMatchObject([{ caller: 'agent' }])
    expect(await holds.list({})).toHaveLength(1)
  })
})

it('no verb of persons is offered to a model', () => {
  const ofPersons = operations.filter(({ persons }) => persons === true)
  expect(ofPersons.map(({ noun, verb }) => `${noun}.${verb}`)).toEqual(
    expect.arrayContaining(['hold.stop', 'hold.go', 'hold.put', 'hold.lift', 'token.create', 'token.revoke']),
  )
  for (const { doors, verb } of ofPersons) expect(doors.mcp, verb).not.toBe(true)
})
