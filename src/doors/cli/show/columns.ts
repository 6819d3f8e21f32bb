/** Aligns rows, under headers if there are any. The last column is not padded. */
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
const colourCodes = /\u001b\[[\d;]*m/g

const ascii = /^[ -~]*$/
/** Combining marks. */
const over = /[\p{M}\p{Cf}]/u
/** Double-width characters: East Asian scripts, full-width forms and emoji. */
const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Yi}\p{Emoji_Presentation}\u3000-\u30ff\u3100-\u31ff\uff01-\uff60\uffe0-\uffe6]/u

/** The display width of a text: colours take no column, and some characters two. */
export function shownWidth(text: string): number {
  const plain = text.replace(colourCodes, '')
  if (ascii.test(plain)) return plain.length
  return [...plain].reduce((width, letter) => width + (over.test(letter) ? 0 : wide.test(letter) ? 2 : 1), 0)
}
