import { shownWidth } from './sheet.ts'

/** Rows under their headers, aligned; without headers the rows alone. The last column is as wide as it likes. */
export function columns(headers: readonly string[] | null, rows: readonly (readonly string[])[]): string {
  const lines = headers === null ? rows : [headers, ...rows]
  const count = Math.max(0, ...lines.map((line) => line.length))
  const widths = Array.from({ length: count }, (_, column) => {
    return Math.max(...lines.map((line) => shownWidth(line[column] ?? '')))
  })
  return lines.map((line) => aligned(line, widths)).join('\n')
}

const gap = '  '

function aligned(line: readonly string[], widths: readonly number[]): string {
  const cells = line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - shownWidth(cell)))
  return cells.join(gap).trimEnd()
}

export function indented(text: string, by = 2): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by))
}
