import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import {
  canonicalJson,
  checkInstant,
  checkInteger,
  checkText,
  hashOf,
  jsonText,
  keepableText,
} from '../../src/store/check.ts'

function refusal(check: () => unknown): { message: string; field: unknown } {
  try {
    check()
  } catch (error) {
    if (error instanceof BelfryError && error.code === 'invalid')
      return { message: error.message, field: error.details?.field }
    throw error
  }
  return expect.unreachable('was accepted')
}

describe('a text', () => {
  it.each([
    [undefined, 'name is undefined; it must be a text.'],
    [7, 'name is number; it must be a text.'],
    ['', 'name is empty; it must be a text of 1 to 5 characters.'],
    ['abcdef', 'name has 6 characters; it must be at most 5.'],
    ['ab\0c', 'name has a NUL character at position 2; it must be a text without it.'],
    ['\ud800', 'name has half of a surrogate pair; it must be well-formed Unicode.'],
  ])('%j is refused with its field, what is wrong, and what would be right', (value, message) => {
    expect(refusal(() => checkText(value, 'name', 5))).toEqual({ message, field: 'name' })
  })

  it('comes back as it was given', () => {
    for (const text of ['a', 'abcde', ' a ', 'é̂🔔']) expect(checkText(text, 'name', 5)).toBe(text)
  })
})

describe('an integer', () => {
  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, -1, 11, 2n])('%s is refused from 0 to 10', (value) => {
    const message = `limit is ${String(value)}; it must be an integer from 0 to 10.`
    expect(refusal(() => checkInteger(value, 'limit', 0, 10))).toEqual({ message, field: 'limit' })
  })

  it('at either bound is accepted', () => {
    expect([checkInteger(0, 'limit', 0, 10), checkInteger(10, 'limit', 0, 10)]).toEqual([0, 10])
  })

  it('is an instant only while a date can hold it', () => {
    expect(new Date(checkInstant(8.64e15, 'at')).getTime()).toBe(8.64e15)
    refusal(() => checkInstant(8.64e15 + 1, 'at'))
    refusal(() => checkInstant(-1, 'at'))
  })
})

describe('JSON text', () => {
  it.each([[undefined], [() => 1], [Symbol('a')]])('of %s is refused instead of being dropped', (value) => {
    expect(refusal(() => jsonText(value, 'payload')).message).toMatch(
      /^payload is (a )?\w+; it must be plain data that JSON can express/,
    )
  })

  it('of what holds such a thing is refused with its place', () => {
    expect(refusal(() => jsonText({ a: [new Map()] }, 'payload'))).toEqual({
      message: 'payload.a[0] is an instance of Map; it must be plain data that JSON can express.',
      field: 'payload.a[0]',
    })
  })

  it('of what cannot be written is refused with the reason', () => {
    const circle: Record<string, unknown> = {}
    circle.circle = circle
    expect(refusal(() => jsonText(circle, 'payload')).message).toMatch(/^payload\.circle.* contains itself/)
    expect(refusal(() => jsonText({ big: 1n }, 'payload')).message).toMatch(/^payload\.big is a bigint/)
  })

  it('is measured in bytes, not in characters', () => {
    expect(jsonText('é', 'payload', 4)).toBe('"é"')
    expect(refusal(() => jsonText('é', 'payload', 3)).message).toBe(
      'payload has 4 bytes as JSON; it must be at most 3 bytes.',
    )
    expect(refusal(() => jsonText('abc', 'payload', 3)).message).toBe(
      'payload has 5 bytes as JSON; it must be at most 3 bytes.',
    )
  })

  it('is the same for equal data, in whatever order the keys were set, at every depth', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalJson(turned)).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(hashOf(turned)).toBe(hashOf(value))
      }),
    )
  })

  it('of other data has another hash', () => {
    const values = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: { 1: 1 } }, [1, 2], [2, 1], 'a', null]
    expect(new Set(values.map(hashOf)).size).toBe(values.length)
  })
})

it('what a program wrote is kept whole, with marks for what no database keeps', () => {
  expect(keepableText('a\0b')).toBe('a\u2400b')
  expect(keepableText('a\ud800b')).toBe('a\ufffdb')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const kept = keepableText(text)
      expect(kept).toHaveLength(text.length)
      expect(kept.isWellFormed() && !kept.includes('\0')).toBe(true)
    }),
  )
})
