/** How many letters may differ before a name counts as another name and not as a misspelling. */
const wrongLettersMax = 3
const partLengthMin = 4

/** The known name that was most likely meant, if one is near enough. A longer name may have more wrong letters; a name that only adds or lacks a word matches by the part they share. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const lower = name.toLowerCase()
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceOf(lower, candidate.toLowerCase())
    if (best === undefined || distance < best.distance) best = { name: candidate, distance }
  }
  if (best === undefined || lower === '') return undefined
  return best.distance <= Math.min(wrongLettersMax, Math.floor(lower.length / 3)) ? best.name : undefined
}

/** Each search compares a name with every known name, which is too slow for a million unknown names. */
const searchesMax = 20

/** The searches of one request: only the first unknown names are searched for. */
export class NameSearch {
  #left = searchesMax

  get isOver(): boolean {
    return this.#left === 0
  }

  nearest(name: string, known: Iterable<string>): string | undefined {
    if (this.isOver) return undefined
    this.#left -= 1
    return nearest(name, known)
  }
}

/** The edit distance: letters inserted, dropped, replaced or swapped with a neighbour. */
function distanceOf(a: string, b: string): number {
  if (a === b) return 0
  if (Math.min(a.length, b.length) >= partLengthMin && (a.includes(b) || b.includes(a))) return 1
  if (Math.abs(a.length - b.length) > wrongLettersMax) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1))
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
