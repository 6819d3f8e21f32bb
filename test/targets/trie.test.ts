import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Trie } from '../../src/targets/trie.ts'

// Few letters, so that the texts are parts, beginnings and ends of each other all the time.
const letters = (lengthMin: number, lengthMax: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'ö'), minLength: lengthMin, maxLength: lengthMax })

const lengthOf = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length))

describe('a reader of many texts at once', () => {
  it('knows at each sign which of them has just ended, and how much may be the beginning of another', () => {
    const texts = fc.uniqueArray(letters(1, 5), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(texts, letters(0, 30), (known, text) => {
        const trie = new Trie(known)
        let node = 0
        for (let at = 0; at < text.length; at++) {
          node = trie.next(node, text.charCodeAt(at))
          const read = text.slice(0, at + 1)
          const ended = known.filter((each) => read.endsWith(each))
          expect(known[trie.ended(node)]?.length ?? 0).toBe(lengthOf(ended))
          const begun = known.flatMap((each) =>
            Array.from(each, (_, length) => each.slice(0, length)).filter((beginning) => read.endsWith(beginning)),
          )
          expect(trie.openLength(node)).toBe(lengthOf(begun))
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds nothing where there is nothing to find', () => {
    const trie = new Trie([])
    const node = trie.next(0, 97)
    expect([trie.ended(node), trie.openLength(node)]).toEqual([-1, 0])
  })
})
