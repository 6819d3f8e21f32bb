import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatId, type IdKind, parseId } from '../../src/core/id.ts'

const kinds: IdKind[] = ['run', 'schedule', 'worker']
const anyKind = fc.constantFrom(...kinds)
const anyNumber = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }),
  fc.maxSafeNat().filter((value) => value > 0),
)

it('an id is a letter for its noun, the count of its digits, and its digits', () => {
  expect(formatId('run', 1234)).toBe('r-2ya')
  expect(kinds.map((kind) => formatId(kind, 1))).toEqual(['r-11', 's-11', 'w-11'])
  expect(formatId('run', Number.MAX_SAFE_INTEGER)).toBe('r-b2gosa7pa2gv')
})

it('an id read back is the number it was made of, and an id of no other noun', () => {
  fc.assert(
    fc.property(anyKind, anyNumber, (kind, value) => {
      const text = formatId(kind, value)
      expect(kinds.map((other) => parseId(other, text))).toEqual(kinds.map((other) => (other === kind ? value : null)))
    }),
  )
})

it('ids in the order of their texts are in the order of their numbers', () => {
  fc.assert(
    fc.property(anyNumber, anyNumber, (a, b) => {
      expect(formatId('run', a) < formatId('run', b)).toBe(a < b)
    }),
  )
})

const noIds = [
  '',
  'r',
  'r-',
  'r-1',
  'r-10',
  'r-200',
  'r-2YA',
  'R-2ya',
  'r-3ya',
  'r-201',
  'r-2ya ',
  ' r-2ya',
  'r-2y.',
  'r_2ya',
  'r-1-1',
  'r-b2gosa7pa2gw',
  'r-czzzzzzzzzzzz',
  `r-2${'y'.repeat(1_000_000)}`,
]

it.each(noIds.map((text) => [text.slice(0, 20), text]))('%j is no id: every run has one spelling only', (_, text) => {
  expect(parseId('run', text)).toBeNull()
})

it.each([undefined, null, 15, {}, ['r-2ya'], Symbol('r-2ya')])('%o is no text and so no id', (value) => {
  expect(parseId('run', value)).toBeNull()
})

it('no text is an id unless it is the spelling of its number', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[rsw]-[0-9a-z]{1,14}$/), anyKind, (text, kind) => {
      const value = parseId(kind, text)
      if (value !== null) expect(formatId(kind, value)).toBe(text)
    }),
  )
})
