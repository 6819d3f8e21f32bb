import { describe, expect, it } from 'vitest'
import { reasonText } from '../../src/core/reason-text.ts'

describe('a reason', () => {
  it.each([
    ['ended\nFATAL: forged', 'ended FATAL: forged'],
    ['\u001b[31mred\u001b[0m', '[31mred [0m'],
    ['a\u202Eb\u2028c\u0000d', 'a b c d'],
    ['  spaced  \t out ', 'spaced out'],
    ['half \uD83D', 'half \uFFFD'],
    ['', ''],
  ])('%j becomes the one line %j', (text, line) => expect(reasonText(text)).toBe(line))

  it('has at most 300 characters, says when more was there, and breaks no character', () => {
    expect(reasonText('a'.repeat(300))).toBe('a'.repeat(300))
    expect(reasonText('a'.repeat(301))).toBe(`${'a'.repeat(299)}…`)
    expect(reasonText('😀'.repeat(300)).isWellFormed()).toBe(true)
    expect(reasonText('a'.repeat(10_000_000))).toHaveLength(300)
  })
})
