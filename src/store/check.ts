import { createHash } from 'node:crypto'
import { BelfryError } from '../core/error.ts'

export const nameLengthMax = 200
export const keyLengthMax = 500
export const payloadBytesMax = 256 * 1024
export const priorityMax = 1_000_000

/** Refuses what the two databases would keep differently, or not at all. `where` is the field, as the caller knows it. */
export function checkText(value: unknown, where: string, lengthMax: number): string {
  if (typeof value !== 'string') throw invalid(where, `is ${typeof value}`, 'a text')
  if (value === '') throw invalid(where, 'is empty', `a text of 1 to ${lengthMax} characters`)
  if (value.length > lengthMax) throw invalid(where, `has ${value.length} characters`, `at most ${lengthMax}`)
  const nulAt = value.indexOf('\0')
  if (nulAt >= 0) throw invalid(where, `has a NUL character at position ${nulAt}`, 'a text without it')
  if (!value.isWellFormed()) throw invalid(where, 'has half of a surrogate pair', 'well-formed Unicode')
  return value
}

/**
 * Whether a text could be a name or key at all. Looking for one that could not finds nothing: PostgreSQL would not even
 * take the question, and half a surrogate pair would be taken for another character.
 */
export function canBeName(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
}

export function checkInteger(value: unknown, where: string, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw invalid(where, `is ${String(value)}`, `an integer from ${min} to ${max}`)
  }
  return value
}

/** An instant that both databases and JavaScript's dates can hold. */
export function checkInstant(value: unknown, where: string): number {
  return checkInteger(value, where, 0, 8.64e15)
}

/** The JSON text of a value. What JSON cannot say is refused instead of being dropped. */
export function jsonText(value: unknown, where: string, bytesMax = Number.POSITIVE_INFINITY): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw invalid(where, `cannot be written as JSON: ${(error as Error).message}`, 'plain data')
  }
  if (text === undefined) throw invalid(where, `is ${typeof value}`, 'plain data that JSON can say')
  const bytes = text.length > bytesMax ? text.length : Buffer.byteLength(text)
  if (bytes > bytesMax) throw invalid(where, `has ${bytes} bytes as JSON`, `at most ${bytesMax}`)
  return text
}

/** JSON with the keys in one order, so that equal data have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url')
}

export function invalid(where: string, problem: string, expected: string): BelfryError {
  return new BelfryError('invalid', `${where} ${problem}; it must be ${expected}.`, { details: { field: where } })
}

/**
 * Text that a program produced and people will read: NUL becomes a visible mark, because neither database keeps it, and
 * half surrogates become the replacement character, as both databases would make them on their own.
 */
export function keepableText(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed()
}
