import { describe, expect, it } from 'vitest'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import type { OperationContext } from '../../../src/operations/operation-context.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { call, factsOf, modelAt } from './model.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
const atMcp = async (): Promise<OperationContext> => ({ ...desk().context, actor: { name: 'agent', door: 'mcp' } })
const model = (scope: Scope) => modelAt({ context: atMcp, scope })

const codeOf = (answer: Parameters<typeof factsOf>[0]) => (factsOf(answer).error as { code?: string } | undefined)?.code

describe('an agent with operate', () => {
  it('leases work that was left to outside hosts, and ends it, as any host', async () => {
    await here.runs.enqueue({ target: null, payload: 'a letter' })
    const client = await model('operate')
    const leased = factsOf(await call(client, 'sched_lease', { host: 'agent' }))
    const [{ lease } = { lease: '' }] = leased.leases as { lease: string }[]
    expect(factsOf(await call(client, 'sched_renew', { lease }))).toMatchObject({ renewed: true })
    expect(factsOf(await call(client, 'sched_complete', { lease }))).toMatchObject({ status: 'completed' })
  })

  it('may not lease with handlers or kinds, nor drain with them: work with a target is done by workers', async () => {
    const { id } = await here.runs.enqueue({ target: { handler: 'report' } })
    const client = await model('operate')
    for (const taking of [{ handlers: ['report'] }, { kinds: ['handler'] }, { handlers: [] }]) {
      expect(codeOf(await call(client, 'sched_lease', { host: 'agent', ...taking }))).toBe('not-allowed')
      expect(codeOf(await call(client, 'queue_drain', { name: 'default', host: 'agent', ...taking }))).toBe(
        'not-allowed',
      )
    }
    expect(await here.runs.get(id)).toMatchObject({ status: 'ready', fence: 0 })
  })

  it('may not end the run of a worker by the id of its lease, wherever it has read that', async () => {
    const { id } = await here.runs.enqueue({ target: { handler: 'report' } })
    const { leases } = await here.sched.lease('worker', { handlers: ['report'] })
    const { lease } = leases[0] as { lease: string }
    const client = await model('operate')
    const ends: [string, object][] = [
      ['sched_complete', {}],
      ['sched_release', {}],
      ['sched_park', { reason: 'because' }],
      ['sched_renew', {}],
    ]
    for (const [name, more] of ends) {
      expect(codeOf(await call(client, name, { lease, ...more })), name).toBe('not-allowed')
    }
    const renewal = factsOf(await call(client, 'sched_renew', { lease })).error as { message: string }
    expect(renewal.message).toMatch(/only an admin may renew its lease\.$/)
    expect(factsOf(await call(client, 'sched_renew_many', { leases: [lease] }))).toMatchObject([{ renewed: false }])
    expect(await here.runs.get(id)).toMatchObject({ status: 'leased', fence: 1 })
    const admin = await model('admin')
    expect(factsOf(await call(admin, 'sched_complete', { lease }))).toMatchObject({ status: 'completed' })
  })
})
