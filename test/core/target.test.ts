import { describe, expect, it } from 'vitest'
import { needOf, type Target } from '../../src/core/target.ts'

describe('a target', () => {
  it('that is absent needs a host', () => {
    expect([needOf(null), needOf(undefined)]).toEqual([{ need: null }, { need: null }])
  })

  it('of a handler needs a worker with that handler', () => {
    expect(needOf({ handler: 'report' })).toEqual({ need: { kind: 'handler', name: 'report' } })
  })

  it.each(['command', 'http', 'anything'])('of kind %s needs a worker for that kind', (kind) => {
    expect(needOf({ [kind]: {}, cwd: 'beside' })).toEqual({ need: { kind } })
  })

  it('that has a lane needs the executor of that name', () => {
    expect(needOf({ agent: {}, lane: 'claude' })).toEqual({ need: { kind: 'agent', name: 'claude' } })
  })

  it.each<[Target, string]>([
    [{}, 'has no kind; it needs exactly one kind'],
    [{ cwd: '/x', env: {}, lane: 'a' }, 'has no kind; it needs exactly one kind'],
    [{ http: undefined }, 'has no kind; it needs exactly one kind'],
    [{ http: {}, handler: 'a' }, 'has http and handler; it needs exactly one kind'],
    [{ http: {}, url: 'x' }, 'has http and url; it needs exactly one kind'],
    [{ agent: {}, lane: '' }, 'names no agent; it needs a text that is not empty'],
    [{ agent: {}, lane: 'ab\0' }, 'names a agent with a NUL character at position 2; it needs one without'],
    [{ handler: '' }, 'names no handler; it needs a text that is not empty'],
    [{ handler: 'x'.repeat(501) }, 'names a handler of 501 characters; it needs at most 500'],
    [{ handler: 'ab\0' }, 'names a handler with a NUL character at position 2; it needs one without'],
    [{ handler: '\ud800' }, 'names a handler with half of a surrogate pair; it needs well-formed Unicode'],
    [{ handler: 7 }, 'names no handler; it needs a text that is not empty'],
  ])('%j is refused with a sentence', (target, problem) => {
    expect(needOf(target)).toEqual({ problem })
  })
})
