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

describe('a long secret does not leave through an encoding with line breaks', () => {
  const long = Array.from({ length: 9 }, (_, index) => `sk_live_${index}_Zür|ch?`).join('~')
  const key = [{ name: 'KEY', value: long }]
  const bytes = Buffer.from(long)
  const base64 = bytes.toString('base64')
  const digits = bytes.toString('hex')
  const wrapped = (text: string, width: number, between = '\n') =>
    (text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? []).join(between)
  const rows = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, row) => bytes.subarray(row * 16, row * 16 + 16))
  const dumped = (line: (offset: string, hex: string, shown: string) => string, group: RegExp) =>
    rows
      .map((row, index) => {
        const shown = row.toString('latin1').replace(/[^ -~]/g, '.')
        return line((index * 16).toString(16).padStart(8, '0'), row.toString('hex').replace(group, '$& ').trim(), shown)
      })
      .join('\n')
  const words = (row: Buffer) =>
    Buffer.from(row.subarray(0, row.length & ~1))
      .swap16()
      .toString('hex')

  it.each<[string, string]>([
    ['as base64 writes it', wrapped(base64, 76)],
    ['as PEM does, for Windows', wrapped(base64, 64, '\r\n')],
    ['indented', wrapped(base64, 40, '\n    ')],
    ['inside a JSON text', wrapped(base64, 76, '\\n')],
    ['in base64 for URLs', wrapped(bytes.toString('base64url'), 76)],
    ['as it is, folded', wrapped(long, 30)],
    ['as xxd -p writes it', wrapped(digits, 60)],
    ['as od -An -tx1 does', wrapped(wrapped(digits, 2, ' '), 48, '\n ')],
    ['in capitals with colons, as openssl does', wrapped(wrapped(digits.toUpperCase(), 2, ':'), 45, '\n    ')],
    ['as the array of xxd -i', wrapped(digits.replace(/../g, '0x$&, ').slice(0, -2), 72, '\n  ')],
    ['as escapes', wrapped(digits.replace(/../g, '\\x$&'), 80)],
  ])('%s', (_, text) => {
    // Of an escape its backslash may stay.
    expect(redact(`< ${text} >`, key)).toMatch(/^< \\?\[secret KEY\] >$/)
  })

  it.each<[string, string]>([
    ['xxd', dumped((offset, hex, shown) => `${offset}: ${hex.padEnd(39)}  ${shown}`, /..../g)],
    [
      'hexdump -C',
      dumped((offset, hex, shown) => `${offset}  ${hex.padEnd(47).replace(/^(.{23})/, '$1 ')}  |${shown}|`, /../g),
    ],
    ['od -tx1', dumped((offset, hex) => `${offset.slice(1)} ${hex}`, /../g)],
    ['hexdump', rows.map((row, index) => `00000${index}0 ${wrapped(words(row), 4, ' ')}`).join('\n')],
  ])('as %s dumps it, nor in the column of text beside the digits', (_, text) => {
    const redacted = redact(`before\n${text}\nafter`, key)
    expect(redacted).toMatch(/^before\n0+:? +\[secret KEY\](\nafter|..?.?.?\nafter)$/)
  })

  it('nor leaves what stands between the digits and the text of a short secret in one line', () => {
    const short = [{ name: 'KEY', value: 'Tr0ub4dor&3!' }]
    const row = Buffer.from('Tr0ub4dor&3!').toString('hex').replace(/..../g, '$& ')
    expect(redact(`00000000: ${row}.  <Tr0ub4dor&3!>\nafter`, short)).toBe('00000000: [secret KEY]\nafter')
  })

  it.each([1, 2, 3, 20, 75, 76])('behind %i other bytes, wherever the break falls', (before) => {
    const text = wrapped(Buffer.concat([Buffer.alloc(before, 'x'), bytes, bytes]).toString('base64'), 76)
    const redacted = redact(text, key)
    // At most what shares a sign with a neighbour stays, and the few signs of it that end a line.
    expect(redacted.replaceAll('[secret KEY]', '').replaceAll('\n', '').length).toBeLessThanOrEqual(
      Math.ceil((before * 4) / 3) + 9,
    )
  })

  it('however the lines come in, and a line that only ends like it does not wait for the next', () => {
    const text = `ready ${base64.slice(0, 3)}\n${wrapped(base64, 76)}\n${dumped((offset, hex, shown) => `${offset}: ${hex}  ${shown}`, /..../g)}\nend`
    const whole = redact(text, key)
    expect(whole).toMatch(/^ready .{3}\n\[secret KEY\]\n0+: \[secret KEY\]\nend$/)
    for (const size of [1, 2, 7, 76, 77, 300]) {
      const stream = redactor(key)
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      expect(pieces.map((piece) => stream.add(piece)).join('') + stream.end(), `in pieces of ${size}`).toBe(whole)
    }
    expect(redactor(key).add(`ready ${base64.slice(0, 3)}\n`)).toBe(`ready ${base64.slice(0, 3)}\n`)
  })

  it('and a text that is no dump keeps its words and numbers', () => {
    const text = 'deadbeef 00000000: 0a1b 2c3d  text\n12 34 56\nnothing to see\n'
    expect(redact(text, key)).toBe(text)
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

  const live = { name: 'KEY', value: 'sk-live-0123456789abcdef' }
  const base64 = Buffer.from(live.value).toString('base64')
  const digits = Buffer.from(live.value).toString('hex')
  it.each<[string, string, string]>([
    ['base64 and then blanks', base64.slice(0, 6), ' '],
    ['base64 and then line breaks', base64.slice(0, 6), '\n'],
    ['one sign of base64 and then blanks', base64.slice(0, 1), ' '],
    ['digits and then dashes', digits.slice(0, 8), '-'],
    ['a dump and then other lines', `00000000: ${digits.slice(0, 8)}\n`, 'nothing to see\n'],
    ['digits, each of them far from the next', digits.slice(0, 2), `${' '.repeat(1_000)}7${' '.repeat(1_000)}3`],
  ])('is not held back for ever where it begins like a secret: %s', (_, beginning, filling) => {
    const stream = redactor([live])
    const piece = filling.repeat(Math.ceil(65_536 / filling.length))
    let read = beginning.length
    let given = stream.add(beginning).length
    for (let round = 0; round < 32; round++) {
      given += stream.add(piece).length
      read += piece.length
      expect(read - given).toBeLessThan(8_192)
    }
    expect(given + stream.end().length).toBe(read)
    // What follows is read as ever.
    stream.add(piece)
    expect(stream.add(`\n${base64}|`) + stream.end()).toContain('\n[secret KEY]|')
  })

  it('that holds a long secret with a great many blanks in all is redacted, and cut anywhere it is the same', () => {
    const long = { name: 'KEY', value: Array.from({ length: 900 }, (_, index) => `part${index}`).join('~') }
    const wide = Buffer.from(long.value).toString('hex').replace(/../g, '$&     ').trimEnd()
    const text = `<${wide}|${base64.slice(0, 9)}${' '.repeat(5_000)}${base64.slice(9)}>`
    const whole = redact(text, [long, live])
    expect(whole).toMatch(/^<\[secret KEY\]\|\S{9} {5000}/)
    for (const size of [1, 999, 4_096]) {
      const stream = redactor([long, live])
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      expect(pieces.map((piece) => stream.add(piece)).join('') + stream.end(), `in pieces of ${size}`).toBe(whole)
    }
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
