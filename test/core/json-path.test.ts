import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atJsonPath, formatJsonPath, isSameJson, parseJsonPath } from '../../src/core/json/json-path.ts'

const keys = fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.nat(20))

describe('a JSON path', () => {
  it.each([
    ['status', ['status']],
    ['items[0].id', ['items', 0, 'id']],
    ['[2][0]', [2, 0]],
    ['headers["x-id"].a', ['headers', 'x-id', 'a']],
    ['["a.b"]', ['a.b']],
    ['["\\"]"]', ['"]']],
    ['x-request-id', ['x-request-id']],
    ['größe.0', ['größe', '0']],
  ])('%s is read', (text, path) => expect(parseJsonPath(text)).toEqual(path))

  it.each([
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a[',
    'a[]',
    'a[-1]',
    'a[x]',
    'a[0]b',
    'a b',
    '$',
    '$.a',
    '$[0]',
    "a['b']",
    '["\\q"]',
  ])('%j is none', (text) => expect(parseJsonPath(text)).toBeNull())

  it('that was written from any keys is read back as these keys', () => {
    fc.assert(
      fc.property(fc.array(keys, { minLength: 1, maxLength: 5 }), (path) => {
        const written = formatJsonPath(path)
        expect(parseJsonPath(written)).toEqual(path)
      }),
    )
  })

  it('leads to what the data say, and to nothing that objects and lists merely inherit', () => {
    const data = { items: [{ id: 7, none: null }], text: 'abc' }
    expect(atJsonPath(data, ['items', 0, 'id'])).toEqual({ value: 7 })
    expect(atJsonPath(data, ['items', 0, 'none'])).toEqual({ value: null })
    expect(atJsonPath(data, ['items', 1, 'id'])).toEqual({ until: ['items'] })
    expect(atJsonPath(data, ['items', 'length'])).toEqual({ until: ['items'] })
    expect(atJsonPath(data, ['text', 'length'])).toEqual({ until: ['text'] })
    expect(atJsonPath(data, ['constructor', 'name'])).toEqual({ until: [] })
    expect(atJsonPath(data, ['__proto__'])).toEqual({ until: [] })
    expect(atJsonPath(null, ['a'])).toEqual({ until: [] })
  })
})

describe('the same JSON', () => {
  it('is what has the same canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(isSameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true)
        expect(isSameJson(one, other)).toBe(canonical(one) === canonical(other))
      }),
    )
  })

  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [[], {}, false],
    [{}, [], false],
    [null, {}, false],
    ['1', 1, false],
  ])('%j and %j: %s', (one, other, same) => expect(isSameJson(one, other)).toBe(same))
})

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
