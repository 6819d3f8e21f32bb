import type { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { innerSchema } from '../schema/inner-schema.ts'
import { type Problem, problemsMax } from './refuse-input.ts'

/** The parsed input, or its problems. */
export type Parsed =
  | { readonly data: Readonly<Record<string, unknown>> }
  | { readonly issues: readonly z.core.$ZodIssue[]; readonly unread: readonly Problem[] }

/** A list with more items than this is read item by item. */
const itemsReadAtOnceMax = 1_000

/**
 * Parses an input by its schema. zod alone would report every one of 100,000 bad items, which takes seconds, and would read all
 * of a list before it finds it too long. So a long list is read only until the refusal lists as many problems as it may, and
 * the rest is counted.
 */
export function parsed(schema: z.ZodObject, input: unknown): Parsed {
  const long = isRecord(input) ? longLists(schema, input) : []
  const emptied = Object.fromEntries(long.map(({ name }) => [name, []]))
  const rest = schema.safeParse(long.length === 0 ? input : { ...(input as object), ...emptied }, { reportInput: true })
  const read = long.map((each) => ({ ...each, ...itemsOf(each) }))
  const issues = [
    ...(rest.error?.issues ?? []).filter(({ path: [name] }) => !Object.hasOwn(emptied, String(name))),
    ...read.flatMap((each) => each.issues),
  ]
  if (issues.length > 0) return { issues, unread: read.flatMap((each) => each.unread) }
  return { data: { ...rest.data, ...Object.fromEntries(read.map(({ name, data }) => [name, data])) } }
}

interface LongList {
  readonly name: string
  readonly list: readonly unknown[]
  readonly element: z.ZodType
  readonly maxLength: number | undefined
}

interface Items {
  readonly data: readonly unknown[]
  readonly issues: readonly z.core.$ZodIssue[]
  readonly unread: readonly Problem[]
}

function itemsOf({ name, list, element, maxLength = Number.POSITIVE_INFINITY }: LongList): Items {
  if (list.length > maxLength) return { data: [], issues: [tooMany(name, list, maxLength)], unread: [] }
  const data: unknown[] = []
  const issues: z.core.$ZodIssue[] = []
  for (const [index, item] of list.entries()) {
    const one = element.safeParse(item, { reportInput: true })
    if (one.success) data.push(one.data)
    else for (const issue of one.error.issues) issues.push({ ...issue, path: [name, index, ...issue.path] })
    if (issues.length >= problemsMax) return { data: [], issues, unread: unreadBehind(name, index, list.length) }
  }
  return { data, issues, unread: [] }
}

/** Says how many items were not read because the items before them already have as many problems as a refusal lists. */
export function unreadBehind(field: string, index: number, length: number): Problem[] {
  const count = length - index - 1
  const problem = `has ${count} more items after ${field}[${index}], which were not read`
  return count === 0 ? [] : [{ field, problem, expected: 'the items before them to be corrected first' }]
}

function tooMany(name: string, input: unknown, maximum: number): z.core.$ZodIssue {
  return { code: 'too_big', origin: 'array', inclusive: true, path: [name], input, maximum, message: '' }
}

/** Only fields that the schema knows: an input may have a hundred thousand others. */
function longLists(schema: z.ZodObject, input: Readonly<Record<string, unknown>>): LongList[] {
  const known = listsOf.get(schema) ?? listFields(schema)
  listsOf.set(schema, known)
  return known.flatMap((field) => {
    const list = input[field.name]
    return Array.isArray(list) && list.length > itemsReadAtOnceMax ? [{ ...field, list }] : []
  })
}

/** The lists of each schema, cached: one schema reads a file of a thousand schedules. */
const listsOf = new WeakMap<z.ZodObject, readonly Omit<LongList, 'list'>[]>()

function listFields(schema: z.ZodObject): readonly Omit<LongList, 'list'>[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const inner = innerSchema(field as z.ZodType)
    const { element } = (inner ?? {}) as { readonly element?: z.ZodType }
    return element === undefined ? [] : [{ name, element, maxLength: maxLengthOf(inner) }]
  })
}

function maxLengthOf(schema: z.ZodType | undefined): number | undefined {
  const checks = (schema?.def.checks ?? []).map((check) => check._zod.def as { check: string; maximum?: number })
  return checks.find(({ check }) => check === 'max_length')?.maximum
}
