import type { z } from 'zod'
import { innerSchema } from '../schema/inner-schema.ts'
import { noteOf } from '../schema/schema-note.ts'
import { givenTwice } from './duration-input.ts'
import { parsed } from './long-list.ts'
import { NameSearch } from './nearest-name.ts'
import { isShown, type Problem, refuse } from './refuse-input.ts'

/** The readable part of an input, and the problems of the rest. */
export interface Reading<Value> {
  /** The input as the caller wrote it; problems use these words. */
  readonly given: Readonly<Record<string, unknown>>
  /** Only the valid fields, when there are problems. */
  readonly value: Partial<Value>
  readonly problems: readonly Problem[]
}

/** Reads an input by its schema. `noun` is what the input describes, as in "is not a field of a schedule". */
export function read<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  noun: string,
  search = new NameSearch(),
): Reading<z.output<Schema>> {
  const given = isObject(input) ? input : {}
  const found = parsed(schema, input)
  if ('data' in found) return { given, value: found.data as Partial<z.output<Schema>>, problems: [] }
  const { issues, unread } = found
  const problems = issues.flatMap((issue) => problemsOf(issue, schema, { noun, search }))
  const twins = unreadTwins(schema, given, issues)
  return { given, value: soundPart(schema, given, issues), problems: [...unread, ...problems, ...twins] }
}

/** Finds durations given in both fields while one of them cannot be read: `durationOf` sees only the other. */
function unreadTwins(schema: z.ZodObject, given: unknown, issues: readonly z.core.$ZodIssue[]): Problem[] {
  const found = issues.flatMap(({ path }) => {
    const [place, name] = [path.slice(0, -1), String(path.at(-1)).replace(/Ms$/, '')]
    const { shape = {} } = (schemaAt(schema, place) ?? {}) as { readonly shape?: object }
    const beside = place.reduce((value, step) => (isObject(value) ? value[String(step)] : undefined), given)
    const isTwice = [name, `${name}Ms`].every((each) => each in shape && isObject(beside) && beside[each] !== undefined)
    return isTwice ? [givenTwice(fieldOf([...place, name]), name)] : []
  })
  return [...new Map(found.map((problem) => [problem.field, problem])).values()]
}

/** Reads an input that needs no further checks, and refuses the input when anything is wrong. */
export function readWhole<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  { subject, noun }: { readonly subject: string; readonly noun: string },
): z.output<Schema> {
  const { value, problems } = read(schema, input, noun)
  refuse(subject, problems)
  return value as z.output<Schema>
}

function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null
}

function soundPart<Schema extends z.ZodObject>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
  issues: readonly z.core.$ZodIssue[],
): Partial<z.output<Schema>> {
  const unsound = new Set(issues.map(({ path: [name] }) => name))
  const sound = Object.entries(schema.shape).flatMap(([name, field]) => {
    if (unsound.has(name)) return soundInside(field as z.ZodType, given, { name, issues })
    const parsed = (field as z.ZodType).safeParse(given[name])
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data] as const] : []
  })
  return Object.fromEntries(sound) as Partial<z.output<Schema>>
}

/** The valid part of a nested object: rules about its other fields still apply. */
function soundInside(
  field: z.ZodType,
  given: Readonly<Record<string, unknown>>,
  { name, issues }: { readonly name: string; readonly issues: readonly z.core.$ZodIssue[] },
): (readonly [string, object])[] {
  const [inner, value] = [innerSchema(field), given[name]]
  if (inner?.def.type !== 'object' || !isObject(value) || Array.isArray(value)) return []
  const own = issues
    .filter(({ path }) => path[0] === name)
    .map(({ path, ...issue }) => ({ ...issue, path: path.slice(1) }))
  const sound = soundPart(inner as z.ZodObject, value, own as z.core.$ZodIssue[])
  return Object.keys(sound).length === 0 ? [] : [[name, sound]]
}

interface ProblemContext {
  readonly noun: string
  readonly search: NameSearch
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, telling: ProblemContext): Problem[] {
  const { noun } = telling
  const field = fieldOf(issue.path)
  const at = schemaAt(schema, issue.path)
  const { shape } = (at ?? {}) as Partial<z.ZodObject>
  // For a choice between several forms, the note of the choice says what is expected.
  if (issue.code === 'unrecognized_keys' && shape !== undefined) {
    const known = Object.keys(shape)
    return issue.keys.map((key) => unknownField(fieldOf([...issue.path, key]), key, known, telling))
  }
  if (issue.code === 'custom' && issue.params?.problem !== undefined) {
    const { problem, expected } = issue.params as Omit<Problem, 'field'>
    return [{ field, problem, expected }]
  }
  const problem = issue.input === undefined ? 'is missing' : isSaid(issue)
  return [
    { field: field === '' ? noun.replace(/^an? /, '') : field, problem, expected: expectedOf(issue, at, telling) },
  ]
}

/** For a text that is too long, the length says more than the beginning. */
function isSaid({ code, input }: z.core.$ZodIssue): string {
  if (code === 'too_small' && input === '') return 'is empty'
  return code === 'too_big' && typeof input === 'string' ? `has ${input.length} characters` : isShown(input)
}

function unknownField(field: string, key: string, known: readonly string[], { noun, search }: ProblemContext): Problem {
  const problem = `is not a field of ${noun}`
  if (known.length === 0) return { field, problem, expected: 'nothing' }
  // Only the first unknown fields are shown with the list of known ones; repeated a hundred times, the list would
  // hide the fields.
  if (search.isOver) return { field, problem, expected: `a field of ${noun}` }
  const meant = otherWord(key, known) ?? search.nearest(key, known)
  return {
    field,
    problem,
    expected: meant === undefined ? `one of ${withoutTwins(known).join(', ')}` : `${meant}, if that was meant`,
  }
}

/** A word for this field from another verb, too different in spelling to be found as a misspelling. */
const otherWords: Readonly<Record<string, string>> = { for: 'ttl', forMs: 'ttlMs' }

function otherWord(key: string, known: readonly string[]): string | undefined {
  const meant = Object.hasOwn(otherWords, key) ? otherWords[key] : undefined
  return meant !== undefined && known.includes(meant) ? meant : undefined
}

/** A duration has two fields, `every` and `everyMs`; the list shows only the first. */
function withoutTwins(known: readonly string[]): readonly string[] {
  return known.filter((name) => !(name.endsWith('Ms') && known.includes(name.slice(0, -2))))
}

/** A path as a caller writes it: `retention.completed`, `tags[2]`. */
function fieldOf(path: readonly PropertyKey[]): string {
  const [first = '', ...rest] = path
  return String(first) + rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
}

const forms: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

/** A schema's own note states the expected value best. */
function expectedOf(issue: z.core.$ZodIssue, schema: z.ZodType | undefined, { search }: ProblemContext): string {
  const expected = schema === undefined ? undefined : noteOf(schema).expected
  if (expected !== undefined) return expected
  switch (issue.code) {
    case 'invalid_value':
      return choice(issue, search)
    case 'too_small':
      return boundsOf(schema) ?? limit('at least', issue.minimum, issue.origin)
    case 'too_big':
      return boundsOf(schema) ?? limit('at most', issue.maximum, issue.origin)
    case 'invalid_type':
      return boundsOf(schema) ?? forms[issue.expected] ?? issue.expected
    default:
      return issue.message
  }
}

function choice({ values, input }: z.core.$ZodIssueInvalidValue, search: NameSearch): string {
  const known = values.map(String)
  const meant = typeof input === 'string' ? search.nearest(input, known) : undefined
  return `${meant === undefined ? '' : `${meant}, if that was meant; `}one of ${known.join(', ')}`
}

/**
 * All bounds of a number or a text, whichever one is broken: with only some of them the caller might need
 * another try.
 */
function boundsOf(schema: z.ZodType | undefined): string | undefined {
  const { minLength, maxLength, minValue, maxValue, format } = (schema ?? {}) as Partial<z.ZodString & z.ZodNumber>
  if (schema?.def.type === 'string' && minLength != null && maxLength != null) {
    return `a text of ${minLength} to ${maxLength} characters`
  }
  if (schema?.def.type !== 'number') return undefined
  const [min, max] = [minValue, maxValue].map((bound) => (isBound(bound) ? bound : undefined))
  const noun = format === 'safeint' ? 'an integer' : 'a number'
  if (min === undefined && max === undefined) return noun
  if (max === undefined) return `${noun}, ${min} or more`
  return min === undefined ? `${noun}, ${max} at most` : `${noun} from ${min} to ${max}`
}

/** zod gives every integer the safe-integer bounds, which are not a rule of ours. */
function isBound(value: number | null | undefined): boolean {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function limit(bound: string, amount: number | bigint, origin: string): string {
  if (origin === 'string') return `${bound} ${amount} ${amount === 1 ? 'character' : 'characters'}`
  return origin === 'array' ? `${bound} ${amount} of them` : `${bound} ${amount}`
}

/** The schema that judges the value at a path, without wrappers. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  let inner: z.ZodType | undefined = innerSchema(schema)
  for (const step of path) {
    if (inner === undefined) return undefined
    const { shape, element } = inner as unknown as { shape?: Record<PropertyKey, z.ZodType>; element?: z.ZodType }
    inner = innerSchema(shape?.[step] ?? (typeof step === 'number' ? element : undefined))
  }
  return inner
}
