/**
 * The store counts ids and shows them as short text: a letter for the noun, then the number of base-36 digits, then the digits
 * (`r-2ya` is run 1234 in base 36). The leading count makes the texts sort as the numbers do, so that every layer and both
 * databases rank runs alike.
 */
export type IdKind = keyof typeof letters | { readonly letter: string }

const letters = { run: 'r', schedule: 's', worker: 'w', token: 't', hold: 'h' } as const
const digitsMax = Number.MAX_SAFE_INTEGER.toString(36).length

export function formatId(kind: IdKind, value: number): string {
  const digits = value.toString(36)
  return `${typeof kind === 'string' ? letters[kind] : kind.letter}-${digits.length.toString(36)}${digits}`
}

/** The number of an id, or `null` for text that is not an id of that kind in its one canonical spelling. */
export function parseId(kind: IdKind, text: unknown): number | null {
  if (typeof text !== 'string') return null
  const digits = text.slice(3)
  if (digits.length === 0 || digits.length > digitsMax) return null
  const value = Number.parseInt(digits, 36)
  return Number.isSafeInteger(value) && value > 0 && formatId(kind, value) === text ? value : null
}
