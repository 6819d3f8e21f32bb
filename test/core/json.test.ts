import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonProblem } from '../../src/core/json/json.ts'

class Money {
  readonly cents = 5
}

const circle: Record<string, unknown> = {}
circle.round = circle
const hole: unknown[] = [1]
hole[2] = 3

describe('what JSON cannot say is named with its place', () => {
  it.each<[unknown, string, string]>([
    [undefined, '', 'is undefined'],
    [() => 1, '', 'is a function'],
    [Symbol('a'), '', 'is a symbol'],
    [{ a: { b: 1n } }, '.a.b', 'is a bigint'],
    [{ a: [0, Number.NaN] }, '.a[1]', 'is NaN'],
    [[Number.NEGATIVE_INFINITY], '[0]', 'is -Infinity'],
    [{ 'a b': new Map([[1, 2]]) }, '["a b"]', 'is an instance of Map'],
    [new Set([1]), '', 'is an instance of Set'],
    [{ price: new Money() }, '.price', 'is an instance of Money'],
    [{ at: new Date(Number.NaN) }, '.at', 'is an invalid date'],
    [Object.create({ handler: 'a' }), '', 'is an object with a prototype of its own'],
    [[1, undefined], '[1]', 'is undefined'],
    [hole, '[1]', 'is undefined'],
    [new Date(5), '', 'is a Date, which JSON can express only as text'],
    [{ a: [new Date(5)] }, '.a[0]', 'is a Date, which JSON can express only as text'],
    [{ a: { toJSON: () => ({ b: 1 }) } }, '.a', 'has a toJSON method'],
    [Object.assign([1], { toJSON: () => [2] }), '', 'has a toJSON method'],
  ])('%o', (value, path, problem) => {
    expect(jsonProblem(value)).toEqual({ path, problem })
  })

  it('a value that contains itself is refused, with a path that can be read', () => {
    const found = jsonProblem({ circle })
    expect(found?.problem).toContain('contains itself')
    expect(found?.path).toMatch(/^\.circle\.round.*…$/)
    expect(found?.path.length).toBeLessThan(90)
  })

  it('a getter that throws is a problem of the value, not of whoever looked', () => {
    const thrower = {
      get secret() {
        throw new Error('locked')
      },
    }
    expect(jsonProblem(thrower)).toEqual({ path: '', problem: 'cannot be read: locked' })
  })
})

describe('what JSON can say', () => {
  it('is no problem, whatever it is', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => jsonProblem(value) === null))
    expect(
      jsonProblem({ a: undefined, bare: Object.assign(Object.create(null), { b: 1 }), toJSON: 'no function' }),
    ).toBeNull()
  })

  it('comes back as it was: nothing that is let through is dropped or replaced', () => {
    const odd = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true })
    fc.assert(
      fc.property(odd, (value) => {
        if (jsonProblem(value) !== null) return
        const text = JSON.stringify(value)
        expect(JSON.stringify(JSON.parse(text))).toBe(text)
        expect(JSON.parse(text)).toEqual(withoutMinusZero(value))
      }),
    )
  })
})

describe('whoever lets a value be converted', () => {
  it.each<[unknown, { path: string; problem: string } | null]>([
    [{ at: new Date(5), made: { toJSON: () => [1] } }, null],
    [{ at: new Date(Number.NaN) }, { path: '.at', problem: 'is an invalid date' }],
    [{ a: { toJSON: () => undefined } }, { path: '.a', problem: 'is undefined' }],
    [{ a: { toJSON: () => ({ b: 1n }) } }, { path: '.a.b', problem: 'is a bigint' }],
  ])('gets what toJSON says judged in its place: %o', (value, found) => {
    expect(jsonProblem(value, { converts: true })).toEqual(found)
  })

  it('is not held up by a toJSON that answers itself for ever', () => {
    const self: object = { toJSON: () => self }
    expect(jsonProblem(self, { converts: true })?.problem).toContain('contains itself')
  })
})

/** JSON has only one zero, and both are equal to everybody but this comparison. */
function withoutMinusZero(value: unknown): unknown {
  if (typeof value === 'number') return value + 0
  if (Array.isArray(value)) return value.map(withoutMinusZero)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutMinusZero(inner)])
  return Object.fromEntries(entries)
}
