import { describe, expect, it } from 'vitest'
import { readJson } from '../../src/core/json/json-text.ts'

describe('JSON that is sent', () => {
  it.each(['12345678901234567890', '-9007199254740993', '[1, 9007199254740993]'])(
    'is refused where reading %s would make another number of it',
    (text) => {
      expect(readJson(text)).toMatchObject({ problem: expect.stringContaining('cannot be stored exactly') })
    },
  )

  it.each([
    '0.30000000000000004',
    '-48.858370099999998',
    '9007199254740991',
    '1.7976931348623157e308',
    '"9007199254740993"',
  ])('is read where it says %s, which programs write', (text) => {
    expect(readJson(text)).toEqual({ value: JSON.parse(text) })
  })
})
