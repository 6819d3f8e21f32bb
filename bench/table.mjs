/** A table for a terminal: numbers to the right, words to the left. */
export function textTable({ columns, rows }) {
  const widths = columns.map((column, index) => Math.max(...[column, ...rows.map((row) => row[index])].map(lengthOf)))
  const isNumeric = numericColumns({ columns, rows })
  const line = (row) =>
    row
      .map((cell, index) => (isNumeric[index] ? cell.padStart(widths[index]) : cell.padEnd(widths[index])))
      .join('  ')
      .trimEnd()
  return [line(columns), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n')
}

export function markdownTable({ columns, rows }) {
  const isNumeric = numericColumns({ columns, rows })
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${isNumeric.map((right) => (right ? '--:' : '---')).join('|')}|`, ...rows.map(line)].join(
    '\n',
  )
}

/** Columns that hold a number in every row that says anything; the first names what the row is about. */
function numericColumns({ columns, rows }) {
  return columns.map((_, index) => {
    const told = rows.map((row) => row[index]).filter((cell) => cell !== '')
    return index > 0 && told.length > 0 && told.every((cell) => number.test(cell))
  })
}

/** A figure, or a range of two, with its unit and a remark in brackets; a dash stands for none. */
const number = /^[\d–][\d.,– ]*(×|ms|MB)?( \(.*\))?$/

function lengthOf(cell) {
  return [...cell].length
}
