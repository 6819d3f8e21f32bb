/**
 * The candidate with the fewest single-character edits to `text`, or undefined when all are too far away to help. Letter case
 * costs nothing.
 */
export function nearest(text: string, candidates: readonly string[], editsMax: number): string | undefined {
  let best: string | undefined
  let bestEdits = editsMax + 1
  const wanted = text.toLowerCase()
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestEdits) continue
    const edits = editDistance(wanted, candidate.toLowerCase(), bestEdits - 1)
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}

/** Infinity for more than `editsMax`, which most candidates show in their first letters. */
function editDistance(a: string, b: string, editsMax: number): number {
  const far = editsMax + 1
  let row = Array.from({ length: b.length + 1 }, (_, column) => Math.min(column, far))
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = new Array<number>(b.length + 1).fill(far)
    if (i <= editsMax) row[0] = i
    let fewest = Math.min(i, far)
    // A column farther from the diagonal needs more edits than allowed.
    for (let j = Math.max(1, i - editsMax); j <= Math.min(b.length, i + editsMax); j++) {
      const replaced = at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const edits = Math.min(replaced, at(above, j) + 1, at(row, j - 1) + 1)
      row[j] = edits
      fewest = Math.min(fewest, edits)
    }
    if (fewest > editsMax) return Number.POSITIVE_INFINITY
  }
  return at(row, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] as number
}
