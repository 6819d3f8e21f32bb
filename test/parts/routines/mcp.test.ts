import { describe, expect, it } from 'vitest'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import type { OperationContext } from '../../../src/operations/operation-context.ts'
import { call, factsOf, modelAt } from '../../doors/mcp/model.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
const atMcp = async (): Promise<OperationContext> => ({ ...desk().context, actor: { name: 'agent', door: 'mcp' } })
const fired = async (scope: Scope, input: Record<string, unknown>) => {
  const facts = factsOf(await call(await modelAt({ context: atMcp, scope }), 'routine_fire', input))
  return (facts.error as { code?: string } | undefined)?.code ?? facts.outcome
}

describe('an agent with operate that fires a routine', () => {
  it('hands no event past the signature', async () => {
    const signing = { style: 'github', secret: { secret: 'HOOK' } } as const
    await here.routines.create({ name: 'signed', run: { target: null }, signing })
    expect(await fired('operate', { name: 'signed', payload: { ref: 'main' } })).toBe('not-allowed')
    expect(await here.routines.events('signed')).toEqual([])
    expect(await fired('operate', { name: 'signed' })).toBe('fired')
    expect(await fired('admin', { name: 'signed', payload: { ref: 'main' } })).toBe('fired')
  })

  it('hands no payload to a program or to a request with a secret, in a run or in a schedule', async () => {
    const secret = { http: { url: 'https://example.org/', headers: { authorization: { secret: 'KEY' } } } }
    const targets = { program: { command: ['deploy'] as const }, secret }
    for (const [kind, target] of Object.entries(targets)) {
      await here.schedules.put(kind, { every: '1h', target, overlap: 'allow' })
      await here.routines.create({ name: `${kind}-run`, run: { target } })
      await here.routines.create({ name: `${kind}-schedule`, schedule: kind })
      for (const name of [`${kind}-run`, `${kind}-schedule`]) {
        expect(await fired('operate', { name, payload: { ref: 'main' } }), name).toBe('not-allowed')
        expect(await here.routines.events(name), name).toEqual([])
        expect(await fired('operate', { name }), name).toBe('fired')
        expect(await fired('admin', { name, payload: { ref: 'main' } }), name).toBe('fired')
      }
    }
    await here.routines.create({ name: 'plain', run: { target: { handler: 'count' } } })
    expect(await fired('operate', { name: 'plain', payload: { ref: 'main' } })).toBe('fired')
    expect(await fired('operate', { name: 'absent', payload: 1 })).toBe('not-found')
  })
})
