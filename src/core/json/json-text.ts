import { bounded } from '../bounded-text.ts'
import { jsonFault } from './json-fault.ts'

/** The value of a JSON text, or the problem with it: a clause after "is". */
export type ReadJson = { readonly value: unknown } | { readonly problem: string; readonly expected?: string }

/** Parses JSON from people and programs. A number that JavaScript would change is refused; a problem comes with its position. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { problem: 'empty' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: unreadable(text) }
  }
  const inexact = inexactNumber(text)
  if (inexact === undefined) return { value }
  const shown = bounded(inexact, digitsShownMax)
  return {
    problem: `JSON with the number ${shown}, which cannot be stored exactly`,
    expected: `a text instead: "${shown}"`,
  }
}

/** A body may consist of the digits of one number, so the text shown is shortened. */
const digitsShownMax = 40

/** An integer with more digits than a double holds: parsing would change it. */
function inexactNumber(json: string): string | undefined {
  const outsideTexts = json.replace(/"(?:[^"\\]|\\.)*"/gs, '""')
  // Digits after a point are a fraction, which programs write with full precision.
  const integers = outsideTexts.match(/-?(?<![\d.])\d{16,}(?![\d.eE])/g) ?? []
  return integers.find((digits) => !Number.isSafeInteger(Number(digits)))
}

function unreadable(text: string): string {
  const fault = jsonFault(text)
  if (fault === null) return 'not JSON'
  const { line, column, isEnd, belongs } = fault
  const where = text.includes('\n') ? `line ${line}, character ${column}` : `character ${column}`
  return isEnd ? `not whole JSON: it ends where ${belongs} belongs` : `not JSON at ${where}, where ${belongs} belongs`
}
