import type { z } from 'zod'
import { nearest } from './nearest.ts'
import { noteOf } from './note.ts'
import { isShown, type Problem, refuse } from './problem.ts'

/** What could be read of an input, and everything that is wrong with the rest. */
export interface Reading<Value> {
  /** What was asked for, as it was written: problems are told in these words. */
  readonly given: Readonly<Record<string, unknown>>
  /** Only the fields that are sound, where there are problems. */
  readonly value: Partial<Value>
  readonly problems: readonly Problem[]
}

/** Reads an input by its schema. `noun` is what the input says, as in "is not a field of a schedule". */
export function read<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  noun: string,
): Reading<z.output<Schema>> {
  const given = isObject(input) ? input : {}
  const parsed = schema.safeParse(input, { reportInput: true })
  if (parsed.success) return { given, value: parsed.data as Partial<z.output<Schema>>, problems: [] }
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, schema, noun))
  return { given, value: soundPart(schema, given), problems }
}

/** Reads an input that needs no further look, and refuses it when anything is wrong. */
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
): Partial<z.output<Schema>> {
  const sound = Object.entries(schema.shape).flatMap(([name, field]) => {
    const parsed = (field as z.ZodType).safeParse(given[name])
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data] as const] : []
  })
  return Object.fromEntries(sound) as Partial<z.output<Schema>>
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, noun: string): Problem[] {
  const field = fieldOf(issue.path)
  const at = schemaAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys((at as z.ZodObject).shape)
    return issue.keys.map((key) => unknownField(fieldOf([...issue.path, key]), key, known, noun))
  }
  if (issue.code === 'custom' && issue.params?.problem !== undefined) {
    const { problem, expected } = issue.params as Omit<Problem, 'field'>
    return [{ field, problem, expected }]
  }
  const problem = issue.input === undefined ? 'is missing' : isSaid(issue)
  return [{ field: field === '' ? noun.replace(/^an? /, '') : field, problem, expected: expectedOf(issue, at) }]
}

/** Of a text that is too long its length says more than its beginning. */
function isSaid({ code, input }: z.core.$ZodIssue): string {
  if (code === 'too_small' && input === '') return 'is empty'
  return code === 'too_big' && typeof input === 'string' ? `has ${input.length} characters` : isShown(input)
}

function unknownField(field: string, key: string, known: readonly string[], noun: string): Problem {
  const problem = `is not a field of ${noun}`
  if (known.length === 0) return { field, problem, expected: 'nothing' }
  const meant = nearest(key, known)
  return {
    field,
    problem,
    expected: meant === undefined ? `one of ${known.join(', ')}` : `${meant}, if that was meant`,
  }
}

/** A path as one would write it: `retention.completed`, `tags[2]`. */
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

/** A schema with a note of its own says best what would be right. */
function expectedOf(issue: z.core.$ZodIssue, schema: z.ZodType | undefined): string {
  const expected = schema === undefined ? undefined : noteOf(schema).expected
  if (expected !== undefined) return expected
  switch (issue.code) {
    case 'invalid_value':
      return choice(issue)
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

function choice({ values, input }: z.core.$ZodIssueInvalidValue): string {
  const known = values.map(String)
  const meant = typeof input === 'string' ? nearest(input, known) : undefined
  return `${meant === undefined ? '' : `${meant}, if that was meant; `}one of ${known.join(', ')}`
}

/** All that a number or a text must be, however it is wrong: whoever hears half of it has to ask twice. */
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

/** Every integer has the bounds of the exact ones, which nobody set. */
function isBound(value: number | null | undefined): boolean {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function limit(bound: string, amount: number | bigint, origin: string): string {
  if (origin === 'string') return `${bound} ${amount} ${amount === 1 ? 'character' : 'characters'}`
  return origin === 'array' ? `${bound} ${amount} of them` : `${bound} ${amount}`
}

/** The schema that judged what lies at a path, without the wrappings of its field. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  let inner: z.ZodType | undefined = unwrapped(schema)
  for (const step of path) {
    if (inner === undefined) return undefined
    const { shape, element } = inner as unknown as { shape?: Record<PropertyKey, z.ZodType>; element?: z.ZodType }
    inner = unwrapped(shape?.[step] ?? (typeof step === 'number' ? element : undefined))
  }
  return inner
}

function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  const {
    innerType,
    in: first,
    out,
  } = (schema?.def ?? {}) as { innerType?: z.ZodType; in?: z.ZodType; out?: z.ZodType }
  if (innerType !== undefined) return unwrapped(innerType)
  if (first === undefined) return schema
  return unwrapped(first.def.type === 'transform' ? out : first)
}
