import { durationMsMax, formatDuration } from './duration.ts'
import { jsonProblem, plainData } from './json/json.ts'
import { isRecord } from './json/record.ts'
import { isShown, type Problem } from './problem.ts'
import { needOf, type Target } from './target.ts'

/**
 * A field of a noun, declared once: its values, its meaning, its default. The stored type, the schemas of input and output, the
 * validation and the CLI flags all follow from the tables of fields.
 */
export interface Field<Value = unknown, Kind extends string = string> extends Saying<Value> {
  readonly kind: Kind
  readonly isRequired?: true
  /** Of numbers. */
  readonly min?: number
  readonly max?: number
  /** Of texts. */
  readonly lengthMax?: number
  /** The allowed values of a choice. */
  readonly words?: readonly string[]
  /** The fields of an object. */
  readonly fields?: Fields
  /** The allowed values, in words. */
  readonly expected: string
  /** The problem with a value, as a clause after the name of the field; `null` if it is valid. */
  problem(value: unknown): string | null
  /** For the compiler alone. */
  readonly value?: Value
}

/** The description of a field of any kind. */
interface Saying<Value> {
  /** Its meaning, in one sentence or two. */
  readonly says: string
  /** Further words about the input that the output need not repeat, such as an example or what the field excludes. */
  readonly hint?: string
  /** The value of the field when it is not given. */
  readonly default?: Value
  /** The default in words, where it is not a single value. */
  readonly defaultSays?: string
  /** For an object: an example. */
  readonly example?: string
  /** For an object: whether each of its fields has its own CLI flag, as `--backoff-base` for `backoff.base`. */
  readonly hasFlags?: true
}

export type Fields = Readonly<Record<string, Field>>

export function required<Of extends Field>(field: Of): Of & { readonly isRequired: true } {
  return { ...field, isRequired: true }
}

export function integer(min: number, max: number, said: Saying<number>): Field<number, 'integer'> {
  const expected = `an integer from ${min} to ${max}`
  return { ...said, kind: 'integer', min, max, expected, problem: shownUnless((value) => isWhole(value, min, max)) }
}

export function real(min: number, max: number, said: Saying<number>): Field<number, 'number'> {
  const fits = (value: unknown) => typeof value === 'number' && value >= min && value <= max
  return { ...said, kind: 'number', min, max, expected: `a number from ${min} to ${max}`, problem: shownUnless(fits) }
}

export function flag(said: Saying<boolean>): Field<boolean, 'flag'> {
  return {
    ...said,
    kind: 'flag',
    expected: 'true or false',
    problem: shownUnless((value) => typeof value === 'boolean'),
  }
}

export function choice<const Word extends string>(
  words: readonly Word[],
  said: Saying<NoInfer<Word>>,
): Field<Word, 'choice'> {
  const fits = (value: unknown) => words.includes(value as Word)
  return { ...said, kind: 'choice', words, expected: `one of ${words.join(', ')}`, problem: shownUnless(fits) }
}

/** Given as text with a unit, or in ms under its name plus `Ms`; stored and returned in ms under that name. */
export function duration(
  said: Saying<number> & { readonly min?: number; readonly max?: number },
): Field<number, 'duration'> {
  const { min = 1, max = durationMsMax, ...rest } = said
  return { ...integer(min, max, rest), kind: 'duration' }
}

export function instant(said: Saying<number>): Field<number, 'instant'> {
  return { ...integer(0, 8.64e15, said), kind: 'instant' }
}

export const nameLengthMax = 200
export const keyLengthMax = 500

/** Text that both databases store unchanged: PostgreSQL refuses NUL, and half a surrogate pair would be replaced. */
export function text<Kind extends 'text' | 'name' | 'key'>(
  kind: Kind,
  lengthMax: number,
  said: Saying<string>,
): Field<string, Kind> {
  return {
    ...said,
    kind,
    lengthMax,
    expected: `a text of 1 to ${lengthMax} characters without NUL and half surrogates`,
    problem(value) {
      if (typeof value !== 'string') return isShown(value)
      if (value === '') return 'is empty'
      if (value.length > lengthMax) return `has ${value.length} characters`
      if (value.includes('\0')) return `has a NUL character at position ${value.indexOf('\0')}`
      return value.isWellFormed() ? null : 'has half of a surrogate pair'
    },
  }
}

/** Text that is validated together with its neighbours. */
export function plain(said: Saying<string>): Field<string, 'plain'> {
  return { ...said, kind: 'plain', expected: 'a text', problem: () => null }
}

/** An object with fields of its own. */
export function group<Inner extends Fields>(
  fields: Inner,
  said: Saying<StoredOf<Inner>>,
): Field<StoredOf<Inner>, 'group'> & { readonly fields: Inner } {
  return { ...said, kind: 'group', fields, expected: 'an object', problem: shownUnless(isRecord) }
}

/** A value that JSON would drop or replace would not be stored, so it is refused. */
export function data<Value, Kind extends string>(kind: Kind, said: Saying<Value>): Field<Value, Kind> {
  return { ...said, kind, expected: plainData, problem: unkept }
}

/** Like `data`, for an object. */
export function record(said: Saying<Record<string, unknown>>): Field<Record<string, unknown>, 'record'> {
  return { ...said, kind: 'record', expected: `an object of ${plainData}`, problem: unkeptObject }
}

export function target(said: Saying<Target>): Field<Target | null, 'target'> {
  return {
    ...said,
    kind: 'target',
    expected: `an object with exactly one kind of target, of ${plainData}`,
    problem(value) {
      if (value === null) return null
      const found = unkeptObject(value)
      if (found !== null) return found
      const answer = needOf(value as Target)
      return 'problem' in answer ? answer.problem : null
    },
  }
}

function shownUnless(fits: (value: unknown) => boolean): (value: unknown) => string | null {
  return (value) => (fits(value) ? null : isShown(value))
}

function unkeptObject(value: unknown): string | null {
  return isRecord(value) ? unkept(value) : isShown(value)
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
}

function unkept(value: unknown): string | null {
  const found = jsonProblem(value)
  if (found === null) return null
  return found.path === '' ? found.problem : `cannot be stored: its ${found.path} ${found.problem}`
}

export type ValueOf<Of> = Of extends { readonly value?: infer Value } ? Value : never
type StoredName<Name, Of> = Name extends string
  ? Of extends { readonly kind: 'duration' }
    ? `${Name}Ms`
    : Name
  : never

/** The stored form of fields: durations in ms, instants in epoch ms. */
export type StoredOf<Of> = {
  readonly [Name in keyof Of as Of[Name] extends { readonly isRequired: true } ? never : StoredName<Name, Of[Name]>]?:
    | ValueOf<Of[Name]>
    | undefined
} & {
  readonly [Name in keyof Of as Of[Name] extends { readonly isRequired: true }
    ? StoredName<Name, Of[Name]>
    : never]: ValueOf<Of[Name]>
}

interface NamedField {
  readonly given: string
  /** The name under which it is stored and returned. */
  readonly stored: string
  readonly field: Field
}

const known = new WeakMap<Fields, readonly NamedField[]>()

/** The fields of a table with their names, computed once: work is read and validated a thousand times a second by the same few tables. */
export function namedFields(fields: Fields): readonly NamedField[] {
  const found = known.get(fields)
  if (found !== undefined) return found
  const named = Object.entries(fields).map(([given, field]) => {
    return { given, stored: field.kind === 'duration' ? `${given}Ms` : given, field }
  })
  known.set(fields, named)
  return named
}

export interface Judged {
  /** The noun of the fields: `a schedule`. */
  readonly noun: string
  /** A prefix of their names: `timing.`. */
  readonly prefix?: string
  /** Fields that are validated elsewhere. */
  readonly others?: readonly string[]
}

/** All problems of stored fields, each checked by itself, and unknown names. */
export function fieldProblems(fields: Fields, stored: Readonly<Record<string, unknown>>, judged: Judged): Problem[] {
  const { noun, prefix = '', others = [] } = judged
  const problems: Problem[] = []
  const inside: Problem[] = []
  const names: string[] = []
  for (const { stored: name, field } of namedFields(fields)) {
    const { expected, isRequired, fields: inner } = field
    const value = stored[name]
    const problem = value !== undefined ? field.problem(value) : isRequired ? 'is missing' : null
    if (problem !== null) problems.push({ field: prefix + name, problem, expected })
    else if (inner !== undefined && isRecord(value)) {
      inside.push(...fieldProblems(inner, value, { noun, prefix: `${prefix}${name}.` }))
    }
    names.push(name)
  }
  for (const name of Object.keys(stored)) {
    if (names.includes(name) || others.includes(name)) continue
    problems.push({
      field: prefix + name,
      problem: `is not a field of ${noun}`,
      expected: `one of ${names.join(', ')}`,
    })
  }
  return [...problems, ...inside]
}

/** The description of a field for a caller that gives it. */
export function givenSentence({ kind, says, hint, default: value, defaultSays }: Field): string {
  const shown = kind === 'duration' && value !== undefined ? formatDuration(value as number) : value
  const standard = defaultSays ?? (shown === undefined ? undefined : String(shown))
  return [says, hint, standard === undefined ? undefined : `Default: ${standard}.`].filter(Boolean).join(' ')
}
