import { reasonText } from '../reason-text.ts'

const shownLengthMax = 60

/** A value in a few characters, for messages. */
export function shownJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(abbreviated(value))
  if (Array.isArray(value) && value.length > 0) return `a list of ${value.length}`
  const text = JSON.stringify(value) ?? String(value)
  return text.length > shownLengthMax && typeof value === 'object' ? `an object with ${namesOf(value)}` : text
}

function namesOf(value: object | null): string {
  return abbreviated(Object.keys(value ?? {}).join(', '))
}

/** A text shortened for a message. */
export function abbreviated(text: string): string {
  return reasonText(text, shownLengthMax)
}

/** A value as a clause after the name of its field. */
export function isClause(value: unknown): string {
  if (value === '') return 'is empty'
  if (typeof value === 'string') return `is ${JSON.stringify(abbreviated(value))}`
  if (typeof value === 'object' && value !== null) return `is ${Array.isArray(value) ? 'a list' : 'an object'}`
  return typeof value === 'function' || typeof value === 'symbol' ? `is a ${typeof value}` : `is ${String(value)}`
}
