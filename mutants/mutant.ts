import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A place in a file of the product, by a text that stands there once and nowhere else, and what stands there instead. */
export type Edit = readonly [path: string, find: string, replace: string]

/** Tests that should notice: a whole file, or those of it whose names match. */
export interface Suite {
  readonly file: string
  readonly only?: string
}

/** One deliberate breakage of the product. */
export interface Mutant {
  readonly id: string
  /** What is now broken, in a sentence. */
  readonly hazard: string
  readonly edits: readonly Edit[]
  /** Those that should catch it, the quickest first. */
  readonly suites: readonly (string | Suite)[]
}

/** The cases of the conformance suite whose names match. They begin with the store's, which the test runner quotes. */
export function conformance(only: string): Suite {
  const quoted = only.replace(/^(memory:|SQLite file|PostgreSQL) /, "$1'? ")
  return { file: 'test/conformance/conformance.test.ts', only: quoted }
}

export function suitesOf({ suites }: Mutant): Suite[] {
  return suites.map((suite) => (typeof suite === 'string' ? { file: suite } : suite))
}

/** Says why a breakage cannot be made in this tree: an edit must fit one place, and must change something. */
export function misfits({ edits }: Mutant, root: string): string[] {
  const texts = new Map<string, string>()
  return edits.flatMap(([path, find, replace]) => {
    const text = texts.get(path) ?? textOf(root, path)
    if (text === null) return [`${path} does not exist`]
    const places = text.split(find).length - 1
    texts.set(
      path,
      text.replace(find, () => replace),
    )
    if (places !== 1) return [`${path} has ${places} times, and not once: ${JSON.stringify(find)}`]
    return find === replace ? [`${path} stays as it is: ${JSON.stringify(find)}`] : []
  })
}

function textOf(root: string, path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return null
  }
}

/** Makes the breakage in a tree; the answer takes it back. */
export function breakIn(root: string, { edits }: Mutant): () => void {
  const before = new Map<string, string>()
  for (const [path, find, replace] of edits) {
    const file = join(root, path)
    const text = readFileSync(file, 'utf8')
    if (!before.has(file)) before.set(file, text)
    // A function, because `$1` in a replacement text would be read as a place of the pattern.
    writeFileSync(
      file,
      text.replace(find, () => replace),
    )
  }
  return () => {
    for (const [file, text] of before) writeFileSync(file, text)
  }
}
