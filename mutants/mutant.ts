import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Anchors } from './anchor.ts'

/** A declaration of the product by its name (`Anchors`), a text that stands in it once, and what stands there instead. */
export type Edit = readonly [anchor: string, find: string, replace: string]

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
export function misfits({ edits }: Mutant, anchors: Anchors): string[] {
  return edits.flatMap((edit) => {
    const spot = spotOf(edit, anchors)
    return typeof spot === 'string' ? [spot] : []
  })
}

interface Spot {
  readonly path: string
  readonly at: number
  readonly find: string
  readonly replace: string
}

/** Where an edit goes, or why it goes nowhere. */
function spotOf([anchor, find, replace]: Edit, anchors: Anchors): Spot | string {
  const places = anchors.places(anchor)
  const [place] = places
  if (place === undefined) return `nothing is named ${anchor}`
  if (places.length > 1) return `${anchor} is in ${places.map(({ path }) => path).join(', ')}`
  const text = anchors.text(place.path).slice(place.start, place.end)
  const times = text.split(find).length - 1
  if (times !== 1) return `${anchor} has ${times} times, and not once: ${JSON.stringify(find)}`
  if (find === replace) return `${anchor} stays as it is: ${JSON.stringify(find)}`
  return { path: place.path, at: place.start + text.indexOf(find), find, replace }
}

/** Makes the breakage in the tree of the anchors; the answer takes it back. */
export function breakIn(root: string, { edits }: Mutant, anchors: Anchors): () => void {
  const spots = edits.map((edit) => spotOf(edit, anchors)).filter((spot) => typeof spot !== 'string')
  const before = new Map(spots.map(({ path }) => [path, anchors.text(path)]))
  for (const [path, text] of before) {
    writeFileSync(
      join(root, path),
      edited(
        text,
        spots.filter((spot) => spot.path === path),
      ),
    )
  }
  return () => {
    for (const [path, text] of before) writeFileSync(join(root, path), text)
  }
}

/** From the end, so that what comes before stays where it was. */
function edited(text: string, spots: readonly Spot[]): string {
  const fromEnd = spots.toSorted((one, other) => other.at - one.at)
  return fromEnd.reduce(
    (sofar, { at, find, replace }) => sofar.slice(0, at) + replace + sofar.slice(at + find.length),
    text,
  )
}
