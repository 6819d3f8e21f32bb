import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${root}docs/promises.md`, 'utf8')
const promises = page.split(/^## (?=\d)/m).slice(1)
const checkedBy = /^- \[`([^`]+)`\]\(\.\.\/([^)]+)\): \*(.+)\*$/gm

/** How a sentence stands in code: in quotes of its own, so that a longer one is not taken for it. */
function isTold(path: string, sentence: string): boolean {
  const text = existsSync(root + path) ? readFileSync(root + path, 'utf8') : ''
  return [`'${sentence}'`, `\`${sentence}\``, `"${sentence}"`].some((told) => text.includes(told))
}

describe('the page of promises', () => {
  it('numbers them without a gap', () => {
    expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(promises.map((_, index) => index + 1))
    expect(promises.length).toBeGreaterThan(8)
  })

  it.each(promises.map((promise) => [promise.split('\n')[0] as string, promise] as const))(
    'names tests that are there for %s',
    (_, promise) => {
      const named = [...promise.matchAll(checkedBy)]
      expect(named.length).toBeGreaterThan(0)
      // A line that looks like a reference and cannot be read as one would be checked by nobody.
      expect(promise.match(/^- \[/gm)?.length).toBe(named.length)
      for (const [, shown, path, sentence] of named) {
        expect(shown).toBe(path)
        expect({ path, sentence, isTold: isTold(path as string, sentence as string) }).toMatchObject({ isTold: true })
      }
    },
  )
})
