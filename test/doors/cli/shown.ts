import { render } from '../../../src/doors/cli/show/render.ts'
import { paintOf, TerminalSheet } from '../../../src/doors/cli/show/terminal-sheet.ts'
import type { AnyOperation } from '../../../src/operations/operation.ts'

interface Writing {
  readonly now?: number
  readonly zone?: string
  readonly isColoured?: boolean
  readonly place?: string
  readonly isRehearsal?: boolean
  readonly spell?: (text: string) => string
}

/** A sheet of a terminal; without colours, at the epoch and in UTC unless something else is said. */
export function sheetOf({ now = 0, zone = 'UTC', isColoured = false, ...more }: Writing = {}): TerminalSheet {
  return new TerminalSheet({ now, zone, paint: paintOf(isColoured), ...more })
}

/** An answer as the command line shows it. */
export function shown(operation: AnyOperation, answer: unknown, writing: Writing = {}): Promise<string> {
  return render(operation, answer, sheetOf(writing))
}
