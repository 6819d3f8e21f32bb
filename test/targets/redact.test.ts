import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact, redactor } from '../../src/targets/redact.ts'

const value = 'p&ss "wörd"/+~7!(x)'
const secrets = [{ name: 'KEY', value }]
const percent = (sign: string) => `%${sign.charCodeAt(0).toString(16)}`

describe('a secret does not show', () => {
  it.each<[string, string]>([
    ['as it is', value],
    ['in a URL', encodeURIComponent(value)],
    ['in a URL, by one who writes small digits', encodeURIComponent(value).replace(/%../g, (c) => c.toLowerCase())],
    ['in a URL, by one who writes all signs otherwise', encodeURIComponent(value).replace(/[!()]/g, percent)],
    ['in a path', encodeURI(value)],
    ['in a form', new URLSearchParams({ a: value }).toString().slice(2)],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
    ['in JSON of ASCII alone', JSON.stringify(value).slice(1, -1).replace('ö', '\\u00f6')],
    ['in base64', Buffer.from(value).toString('base64')],
    ['in base64 for URLs', Buffer.from(value).toString('base64url')],
  ])('%s', (_, form) => {
    expect(redact(`<${form}|${form}>`, secrets)).toBe('<[secret KEY]|[secret KEY]>')
  })

  it.each(['', 'u', 'us', 'use', 'user:'])('in base64 behind %j, where it is written otherwise', (before) => {
    const text = Buffer.from(`${before}${value}${before}`).toString('base64')
    const redacted = redact(text, secrets)
    expect(redacted).toContain('[secret KEY]')
    // Of the secret there is left at most what shares a sign with its neighbours.
    expect(redacted.length - '[secret KEY]'.length).toBeLessThanOrEqual(Math.ceil((before.length * 2 * 4) / 3) + 5)
  })

  it('line by line, when it has lines that something else was put between', () => {
    const key = [{ name: 'PEM', value: '-----BEGIN KEY-----\nMIIEvQIBADANBg\n}\n' }]
    expect(redact('> -----BEGIN KEY-----\n> MIIEvQIBADANBg\n> }', key)).toBe('> [secret PEM]\n> [secret PEM]\n> }')
  })

  it('when another begins like it: the longer is taken whole', () => {
    const both = [
      { name: 'SHORT', value: 'abcd' },
      { name: 'LONG', value: 'abcdefgh' },
    ]
    expect(redact('abcdefgh abcdefg', both)).toBe('[secret LONG] [secret SHORT]efg')
  })

  it('where it overlaps with another, or with itself', () => {
    const both = [
      { name: 'LEFT', value: 'abcdef' },
      { name: 'RIGHT', value: 'defghij' },
    ]
    expect(redact('<abcdefghij>', both)).toBe('<[secret RIGHT]>')
    const shorter = { name: 'SHORTER', value: 'ijkl' }
    expect(redact('<defghijkl>', [...both, shorter])).toBe('<[secret RIGHT]>')
    expect(redact('<ababababa|ababcd>', [{ name: 'KEY', value: 'ababa' }])).toBe('<[secret KEY]|ababcd>')
    expect(redact('<belllbelll>', [{ name: 'KEY', value: 'belll' }])).toBe('<[secret KEY][secret KEY]>')
  })

  it('though it is as long as a secret may be, and has as many lines', () => {
    const long = Array.from({ length: 630 }, (_, index) => `${'x'.repeat(40)} line ${index}`).join('\n')
    const key = [{ name: 'LONG', value: long }]
    expect(redact(`<${long}|${encodeURIComponent(long)}|${btoa(long)}>`, key)).toBe(
      '<[secret LONG]|[secret LONG]|[secret LONG]>',
    )
    expect(redact(`> ${'x'.repeat(40)} line 629!`, key)).toBe('> [secret LONG]!')
  })

  it('when it is made of signs that patterns are made of', () => {
    const odd = [{ name: 'ODD', value: '.*+?^$|(){}[]\\/-' }]
    expect(redact('a .*+?^$|(){}[]\\/- b', odd)).toBe('a [secret ODD] b')
    expect(redact('any thing', odd)).toBe('any thing')
  })
})

describe('a text stays as it is', () => {
  it('when there are no secrets, or only such as any text would have', () => {
    expect(redact('abc', [])).toBe('abc')
    expect(redact('abc', [{ name: 'A', value: 'abc' }])).toBe('abc')
    expect(redact('abcd', [{ name: 'A', value: 'abcd' }])).toBe('[secret A]')
  })

  it('where it only begins like a secret', () => {
    expect(redact(value.slice(0, -1), secrets)).toBe(value.slice(0, -1))
  })
})

describe('a text in pieces', () => {
  it('comes out as the whole would, however it is cut', () => {
    // Few letters, so that secrets occur, overlap and begin in vain all the time.
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 7 })
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 12 }), { maxLength: 8 })
    fc.assert(
      fc.property(texts, fc.array(letters, { minLength: 1, maxLength: 3 }), (pieces, values) => {
        const few = values.map((each, index) => ({ name: `S${index}`, value: each }))
        const stream = redactor(few)
        const out = pieces.map((piece) => stream.add(piece)).join('') + stream.end()
        expect(out).toBe(redact(pieces.join(''), few))
        expect(out.replace(/\[secret S\d\]/g, '|')).toBe(plainly(pieces.join(''), values))
      }),
      { numRuns: 2_000 },
    )
  })

  it('that almost is a long secret, over and over, takes no longer for it', () => {
    // At each of its signs a secret could begin, and only many signs later it turns out that none did.
    const almost = `${'a'.repeat(23_999)}c`
    const stream = redactor([{ name: 'KEY', value: `${'a'.repeat(24_000)}b` }])
    for (let round = 0; round < 100; round++) expect(stream.add(almost)).toHaveLength(almost.length)
    expect(stream.add('a'.repeat(25_000))).toHaveLength(1_000)
    expect(stream.add('b')).toBe('[secret KEY]')
  }, 20_000)

  it('that is nothing but a secret over and over is one secret', () => {
    const stream = redactor([{ name: 'KEY', value: 'aaaa' }])
    expect(Array.from({ length: 1_000 }, () => stream.add('aa')).join('')).toBe('')
    expect(stream.add('ab')).toBe('[secret KEY]b')
  })

  it('is held back no longer than it may become a secret', () => {
    const stream = redactor([{ name: 'KEY', value: 'bell-77' }])
    expect(['x be', 'll', '-78 b', 'ell-77', '!'].map((piece) => stream.add(piece))).toEqual([
      'x ',
      '',
      'bell-78 ',
      '[secret KEY]',
      '!',
    ])
    expect(stream.end()).toBe('')
  })
})

/** Likewise, found the long way: a bar in the place of all signs that are part of a secret. */
function plainly(text: string, values: readonly string[]): string {
  const stretches: { start: number; end: number }[] = []
  for (let start = 0; start < text.length; start++) {
    const length = Math.max(0, ...values.filter((value) => text.startsWith(value, start)).map((value) => value.length))
    const last = stretches.at(-1)
    if (length === 0) continue
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, start + length)
    else stretches.push({ start, end: start + length })
  }
  const ends = [0, ...stretches.map(({ end }) => end)]
  return [...stretches.map(({ start }) => start), text.length]
    .map((start, index) => text.slice(ends[index], start))
    .join('|')
}
