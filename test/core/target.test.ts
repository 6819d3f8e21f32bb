import { describe, expect, it } from 'vitest'
import { needOf, type Target, targetKinds } from '../../src/core/target.ts'

describe('a target', () => {
  it('that is absent needs a host', () => {
    expect([needOf(null), needOf(undefined)]).toEqual([{ need: null }, { need: null }])
  })

  it('of a handler needs a worker with that handler', () => {
    expect(needOf({ handler: 'report' })).toEqual({ need: { kind: 'handler', handler: 'report' } })
  })

  it.each(targetKinds.filter((kind) => kind !== 'handler'))('of kind %s needs a worker for that kind', (kind) => {
    expect(needOf({ [kind]: {}, cwd: 'beside' })).toEqual({ need: { kind } })
  })

  it.each<[Target, string]>([
    [{}, 'has none of handler, command, http, agent, inbox; it needs exactly one'],
    [{ url: 'x' }, 'has none of handler, command, http, agent, inbox; it needs exactly one'],
    [{ http: undefined }, 'has none of handler, command, http, agent, inbox; it needs exactly one'],
    [{ http: {}, handler: 'a' }, 'has handler and http of handler, command, http, agent, inbox; it needs exactly one'],
    [{ handler: '' }, 'names no handler; it needs a text that is not empty'],
    [{ handler: 'x'.repeat(501) }, 'names a handler of 501 characters; it needs at most 500'],
    [{ handler: 'ab\0' }, 'names a handler with a NUL character at position 2; it needs one without'],
    [{ handler: '\ud800' }, 'names a handler with half of a surrogate pair; it needs well-formed Unicode'],
    [{ handler: 7 }, 'names no handler; it needs a text that is not empty'],
  ])('%j is refused with a sentence', (target, problem) => {
    expect(needOf(target)).toEqual({ problem })
  })
})
