export type DiffLine = readonly [sign: ' ' | '-' | '+', line: string]

/** Above this many pairs of lines the middle of two texts is shown as replaced. */
const pairsMax = 4_000_000

/** How one list of lines became another. */
export function lineDiff(a: readonly string[], b: readonly string[]): DiffLine[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const same = (lines: readonly string[]) => lines.map((line): DiffLine => [' ', line])
  const middle = differing(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))]
}

function differing(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > pairsMax)
    return [...a.map((line) => ['-', line] as const), ...b.map((line) => ['+', line] as const)]
  /** The length of the longest common part of what follows each pair of lines. */
  const width = b.length + 1
  const longest = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const isSame = i < a.length && j < b.length && a[i] === b[j]
    const isGone = !isSame && i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))
    lines.push(isSame ? [' ', a[i] ?? ''] : isGone ? ['-', a[i] ?? ''] : ['+', b[j] ?? ''])
    if (isSame || isGone) i += 1
    if (!isGone) j += 1
  }
  return lines
}

/** The lines that differ, each with a few around it; `null` stands for those left out. */
export function diffHunks(lines: readonly DiffLine[], around = 2): (DiffLine | null)[] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(([sign]) => sign !== ' ')
  const shown = lines.map((line, index) => (isNear(index) ? line : null))
  return shown.filter((line, index) => line !== null || shown[index - 1] !== null)
}
