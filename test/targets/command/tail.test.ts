import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Tail } from '../../../src/targets/command/tail.ts'

describe('a tail', () => {
  it('is the end of everything, in whatever pieces it came, and says whether there was more', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30 })), fc.integer({ min: 1, max: 40 }), (pieces, lengthMax) => {
        const tail = new Tail(lengthMax)
        for (const piece of pieces) tail.add(piece)
        const whole = pieces.join('')
        expect(tail.isCut).toBe(whole.length > lengthMax)
        expect(tail.text).toBe(whole.slice(-lengthMax))
        expect(tail.isCut).toBe(whole.length > lengthMax)
      }),
    )
  })

  it('does not begin with half a character', () => {
    const tail = new Tail(4)
    tail.add('x🔔abc')
    expect(tail.text).toBe('abc')
  })
})
