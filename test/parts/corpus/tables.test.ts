import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const tests = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(`${docs}corpus.md`, 'utf8')
const rows = [...page.matchAll(/^\| ([WP]\d\d?(?:[–, ]+[WP]\d\d)*) \| (.+) \|$/gm)].map(
  ([, names = '', text = '']) => ({ names, text }),
)

/** The single names in `P01–P03` and `P04, P05`. */
function namesIn(names: string): string[] {
  const [first = '', last] = names.split('–')
  if (last === undefined) return names.split(', ')
  const [from, to] = [Number(first.slice(1)), Number(last.slice(1))]
  return Array.from({ length: to - from + 1 }, (_, at) => `P${String(from + at).padStart(2, '0')}`)
}

/** The titles of the tests that may be about corpora. */
const titles = new Set(
  ['core', 'parts/corpus'].flatMap((folder) =>
    readdirSync(`${tests}${folder}`)
      .filter((name) => name.endsWith('.test.ts') && name !== 'tables.test.ts')
      .flatMap((name) => [
        ...readFileSync(`${tests}${folder}/${name}`, 'utf8').matchAll(/\(\s*(['`])((?:(?!\1).)+)\1, /g),
      ])
      .map(([, , title]) => title as string),
  ),
)

it('the tables beside jeeves-meta have a row for each weakness and each point of parity', () => {
  const found = rows.flatMap(({ names }) => namesIn(names))
  const all = [
    ...Array.from({ length: 27 }, (_, at) => `W${at + 1}`),
    ...Array.from({ length: 34 }, (_, at) => `P${String(at + 1).padStart(2, '0')}`),
  ]
  expect(found.toSorted()).toEqual(all.toSorted())
})

it.each(rows)('$names names a test by its own sentence, or a decision that says how it differs', ({ text }) => {
  const sentences = [...text.matchAll(/\*([^*]+)\*(?= of|;|:| \||$)/g)].map(([, sentence]) => sentence as string)
  const decisions = [...text.matchAll(/\]\((decisions\/[^)]+)\)/g)].map(([, path]) => path as string)
  expect(sentences.filter((sentence) => !titles.has(sentence))).toEqual([])
  expect(decisions.filter((path) => !existsSync(docs + path))).toEqual([])
  expect(sentences.length + decisions.length).toBeGreaterThan(0)
})
