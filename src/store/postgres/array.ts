import type { Value } from '../statement.ts'

/**
 * A column as the text of a PostgreSQL array. The driver would do it as well, with every number in quotes and two
 * searches through every text, which was most of what a large enqueue cost this process.
 */
export function arrayText(values: readonly Value[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as Value
    if (index > 0) text += ','
    text += typeof value === 'string' ? quoted(value) : String(value ?? 'NULL')
  }
  return `${text}}`
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}
