import { describe, expect, it } from 'vitest'
import { traceparentOf, traceparentProblem } from '../../src/core/trace.ts'

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'

describe('a trace', () => {
  it.each([
    given,
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-will-be-like',
  ])('%s is sound', (text) => expect(traceparentProblem(text)).toBeNull())

  it.each([
    ['', /parts/],
    ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', /parts/],
    ['00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01', /parts/],
    [` ${given}`, /parts/],
    [`${given}\n`, /parts/],
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', /version/],
    [`${given}-more`, /text after its flags/],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', /trace id/],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', /parent id/],
    [`cc${given.slice(2)}-${'x'.repeat(1_000)}`, /parts/],
    [7, /is number/],
    [null, /is null/],
    [undefined, /is undefined/],
  ])('%j is refused', (text, problem) => expect(traceparentProblem(text)).toMatch(problem))

  it('that was given goes on: same trace, same flags, and a parent of the attempt’s own', () => {
    const handedOn = traceparentOf({ given, seed: 'r-11/1/claim' })
    expect(traceparentProblem(handedOn)).toBeNull()
    const [version, traceId, parentId, flags] = handedOn.split('-')
    expect([version, traceId, flags]).toEqual(['00', given.slice(3, 35), '00'])
    expect(parentId).not.toBe(given.slice(36, 52))
  })

  it('of a later version is handed on in the version we write', () => {
    const later = `cc${given.slice(2, -2)}01-more`
    expect(traceparentOf({ given: later, seed: 'a' })).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-01$/)
  })

  it('begins anew, sampled, when none or a broken one was given', () => {
    const fresh = traceparentOf({ seed: 'r-11/1/claim' })
    expect(traceparentProblem(fresh)).toBeNull()
    expect(fresh).toMatch(/-01$/)
    expect(traceparentOf({ given: 'nonsense', seed: 'r-11/1/claim' })).toBe(fresh)
  })

  it('is the same for the same attempt and another one for each other attempt', () => {
    const seeds = ['r-11/1/a', 'r-11/2/a', 'r-12/1/a', 'r-11/1/b']
    expect(seeds.map((seed) => traceparentOf({ seed }))).toEqual(seeds.map((seed) => traceparentOf({ seed })))
    expect(new Set(seeds.map((seed) => traceparentOf({ seed }).slice(3, 35))).size).toBe(4)
    expect(new Set(seeds.map((seed) => traceparentOf({ given, seed }).slice(36, 52))).size).toBe(4)
  })
})
