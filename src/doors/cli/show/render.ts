import type { AnyOperation } from '../../../operations/operation.ts'
import { type Facts, indented, type Listing, type Sheet } from '../../../operations/show.ts'

/** Formats an answer as its verb declares. */
export async function render({ show }: AnyOperation, answer: unknown, sheet: Sheet): Promise<string> {
  if (show === undefined) return JSON.stringify(answer, null, 2)
  if (typeof show === 'function') return show(answer, sheet) ?? ''
  if ('load' in show) return (await show.load())(answer, sheet) ?? ''
  const below = show.below?.(answer, sheet) ?? null
  const lines = 'facts' in show ? factLines(show, answer, sheet) : listLines(show, answer as readonly unknown[], sheet)
  return [...lines, ...(below === null ? [] : [below])].join('\n')
}

function factLines({ head, facts, added }: Facts<unknown>, answer: unknown, sheet: Sheet): string[] {
  const lines = sheet.facts(facts, answer, added)
  return head === undefined ? [lines] : [head(answer, sheet), indented(lines)]
}

function listLines({ columns, none }: Listing<unknown, unknown>, rows: readonly unknown[], sheet: Sheet): string[] {
  if (rows.length > 0 || none === undefined) return [sheet.table(columns, rows)]
  return [typeof none === 'string' ? none : none(sheet)]
}
