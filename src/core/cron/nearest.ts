/**
 * The candidate that takes the fewest single-character edits to become `text`, or undefined when all
 * of them are so far away that a suggestion would only confuse. Letter case costs nothing.
 */
export function nearest(text: string, candidates: readonly string[], editsMax: number): string | undefined {
  let best: string | undefined
  let bestEdits = editsMax + 1
  const wanted = text.toLowerCase()
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestEdits) continue
    const edits = editDistance(wanted, candidate.toLowerCase())
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, at(above, j) + 1, at(row, j - 1) + 1))
    }
  }
  return at(row, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
