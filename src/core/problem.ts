/** One problem of an input: the field, what is wrong with it, and what is expected. */
export interface Problem {
  readonly field: string
  /** A clause after the field's name. */
  readonly problem: string
  readonly expected: string
}

/** A value as a clause, shortened. */
export function isShown(value: unknown): string {
  if (typeof value === 'string') return `is ${quoted(value)}`
  if (Array.isArray(value)) return 'is a list'
  if (typeof value === 'object' && value !== null) return 'is an object'
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || value === null
  return isPlain ? `is ${value}` : `is of the type ${typeof value}`
}

const shownLengthMax = 60

export function quoted(text: string): string {
  return JSON.stringify(text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text)
}
