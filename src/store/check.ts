import { createHash } from 'node:crypto'
import { bounded } from '../core/bounded-text.ts'
import { callerKinds } from '../core/caller.ts'
import { BelfryError } from '../core/error.ts'
import { nameLengthMax } from '../core/field-table.ts'
import { jsonProblem, plainData } from '../core/json/json.ts'
import { isRecord } from '../core/json/record.ts'

export { keyLengthMax } from '../core/field-table.ts'
export { priorityMax } from '../core/run/work-fields.ts'
export { nameLengthMax }

/** Refuses text that the two databases would store differently, or not at all. `where` names the field for the caller. */
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
 * Whether a text can be a name or key at all. A search for any other text finds nothing: PostgreSQL rejects the parameter, and
 * a lone surrogate would match another character.
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

/** Refuses a value that is not an object, and names unknown fields: a misspelt option must not be ignored. */
export function checkFields(value: unknown, where: string, fields: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(where, `is ${value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value}`, 'an object')
  }
  for (const name of Object.keys(value)) {
    if (!fields.has(name)) throw invalid(`${where}.${name}`, 'is not known', `one of ${[...fields].join(', ')}`)
  }
}

export function checkChoice<Word extends string>(value: unknown, where: string, words: readonly Word[]): Word {
  if (!words.includes(value as Word)) {
    const is = typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)
    throw invalid(where, `is ${is}`, `one of ${words.join(', ')}`)
  }
  return value as Word
}

const actorFields: ReadonlySet<string> = new Set(['name', 'door', 'kind', 'within'])

export function checkActor(actor: unknown): void {
  if (actor === undefined) throw invalid('actor', 'is missing', 'an object with a name and a door')
  checkFields(actor, 'actor', actorFields)
  const { name, door, kind } = actor as Record<string, unknown>
  checkText(name, 'actor.name', nameLengthMax)
  checkText(door, 'actor.door', nameLengthMax)
  if (kind !== undefined) checkChoice(kind, 'actor.kind', callerKinds)
}

/** The JSON text of a value. A value that JSON cannot express is refused, with its path, and not dropped. */
export function jsonText(value: unknown, where: string, bytesMax = Number.POSITIVE_INFINITY): string {
  const found = jsonProblem(value)
  if (found !== null) throw invalid(where + found.path, found.problem, plainData)
  const text = JSON.stringify(value)
  const bytes = text.length > bytesMax ? text.length : Buffer.byteLength(text)
  if (bytes > bytesMax) throw invalid(where, `has ${bytes} bytes as JSON`, `at most ${bytesMax} bytes`)
  return text
}

/** JSON with sorted keys, so that equal data have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url')
}

const saidLengthMax = 1_000

export function invalid(where: string, problem: string, expected: string): BelfryError {
  const field = bounded(where, saidLengthMax)
  const told = { field, problem: bounded(problem, saidLengthMax), expected }
  const message = `${field} ${told.problem}; it must be ${expected}.`
  return new BelfryError('invalid', message, { details: { field, problems: [told] } })
}

/** Runs every check and reports all problems in one error. */
export function checkAll<Checks extends Readonly<Record<string, () => unknown>>>(
  checks: Checks,
): { [Name in keyof Checks]: ReturnType<Checks[Name]> } {
  const refusals: BelfryError[] = []
  const values = Object.entries(checks).map(([name, check]) => {
    try {
      return [name, check()]
    } catch (error) {
      if (!(error instanceof BelfryError)) throw error
      refusals.push(error)
      return [name, undefined]
    }
  })
  const [first] = refusals
  if (first === undefined) return Object.fromEntries(values)
  if (refusals.length === 1) throw first
  const problems = refusals.flatMap(({ details }) => details?.problems)
  throw new BelfryError('invalid', refusals.map(({ message }) => message).join(' '), { details: { problems } })
}

/**
 * Text from a program, for people to read. NUL becomes a visible mark because neither database stores it; lone surrogates become
 * the replacement character, as both databases would make them.
 */
export function keepableText(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed()
}
