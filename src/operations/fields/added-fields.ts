import { z } from 'zod'
import type { AddedToConfig, AddedToQueue, AddedToRun, AddedToSchedule } from '../../core/added.ts'
import type { TargetKind } from '../../targets/kind.ts'
import type { Problem } from '../input/refuse-input.ts'
import { noted, noteOf } from '../schema/schema-note.ts'
import { patched, withoutDefault } from './patch.ts'

/** What a field is read beside. */
export interface AddedFieldContext {
  readonly field: string
  /** Where relative programs and folders begin. */
  readonly folder: string
  readonly kinds: readonly TargetKind[]
  /** Takes what is wrong with it. */
  readonly problems: Problem[]
}

/** A field that a part adds to a schedule, to the policy of a queue or to a run. It is stored under its own name. */
export interface AddedField {
  /** How it is given. Its description is what every door shows of it; it ends with `Default: …` where it has one. */
  readonly input: z.ZodType
  /** How it is answered, where that is not how it is given. */
  readonly output?: z.ZodType
  /** What is stored of what was given, where that is not what the schema read. */
  readonly read?: (given: unknown, around: AddedFieldContext) => unknown
  /** How people read its value. */
  readonly inWords?: (stored: never, kinds: readonly TargetKind[]) => string
  /** What stands before these words in the sentence about a schedule. Default: its name. */
  readonly clause?: string
}

interface Added {
  readonly schedule: AddedToSchedule
  readonly queue: AddedToQueue
  readonly run: AddedToRun
  readonly config: AddedToConfig
}

/** The fields that parts add, by the noun and by their names. What a schedule and a run both have is handed on to the runs of the schedule. */
export type AddedFields = { readonly [Noun in keyof Added]?: Readonly<Record<string, AddedField>> }

/** All that several parts add. */
export function allAdded(each: readonly (AddedFields | undefined)[]): AddedFields {
  const of = (noun: keyof Added) => Object.assign({}, ...each.map((fields) => fields?.[noun] ?? {}))
  return { schedule: of('schedule'), queue: of('queue'), run: of('run'), config: of('config') }
}

/** Where fields may be added: how it is given whole, how a change of it is given, or how it is answered. */
export interface ExtensionPoint {
  readonly to: keyof Added
  readonly as: 'input' | 'change' | 'output'
}

type Given<Field> = Field extends { readonly given: infer Value } ? Value : never
type InputShape<To extends keyof Added> = {
  readonly [Field in keyof Added[To]]: z.ZodOptional<z.ZodType<unknown, Given<Added[To][Field]>>>
}
type ChangeShape<To extends keyof Added> = {
  readonly [Field in keyof Added[To]]: z.ZodOptional<z.ZodType<unknown, Given<Added[To][Field]> | null>>
}
type OutputShape<To extends keyof Added> = {
  readonly [Field in keyof Added[To]]: z.ZodExactOptional<
    z.ZodType<Added[To][Field] extends { readonly stored: infer Stored } ? Stored : never>
  >
}

/** The schema of an object to which parts may add fields; `withAdded` adds them. */
export function openInput<To extends keyof Added, Shape extends z.core.$ZodLooseShape>(to: To, shape: Shape) {
  return open<Shape & InputShape<To>>({ to, as: 'input' }, shape)
}

export function openChange<To extends keyof Added, Shape extends z.core.$ZodLooseShape>(to: To, shape: Shape) {
  return open<Shape & ChangeShape<To>>({ to, as: 'change' }, shape)
}

export function openOutput<To extends keyof Added, Shape extends z.core.$ZodLooseShape>(to: To, shape: Shape) {
  return open<Shape & OutputShape<To>>({ to, as: 'output' }, shape)
}

function open<Shape extends z.core.$ZodLooseShape>(place: ExtensionPoint, shape: object) {
  return noted(z.strictObject(shape as Shape), { open: place })
}

const made = new WeakMap<AddedFields, WeakMap<z.ZodType, z.ZodType>>()

/** The same schema, with the fields that parts add wherever it has a place for them. */
export function withAdded<Schema extends z.ZodType>(schema: Schema, fields: AddedFields): Schema {
  const known = made.get(fields) ?? new WeakMap<z.ZodType, z.ZodType>()
  made.set(fields, known)
  const found = known.get(schema)
  if (found !== undefined) return found as Schema
  const extended = extendedBy(schema, fields)
  known.set(schema, extended)
  return extended as Schema
}

type Inner = Readonly<Record<string, z.ZodType>>

/** Only what lies around a place for fields is made anew: the rest stays the same object. */
function extendedBy(schema: z.ZodType, fields: AddedFields): z.ZodType {
  const def = schema.def as unknown as Readonly<Record<string, unknown>>
  const changes: Record<string, unknown> = {}
  for (const name of ['innerType', 'element', 'valueType', 'in', 'out']) {
    const inner = def[name]
    if (inner instanceof z.ZodType && withAdded(inner, fields) !== inner) changes[name] = withAdded(inner, fields)
  }
  if (Array.isArray(def.options)) {
    const options = def.options.map((option: z.ZodType) => withAdded(option, fields))
    if (options.some((option, index) => option !== (def.options as unknown[])[index])) changes.options = options
  }
  if (def.type === 'object') {
    const shape = shapeWith(def.shape as Inner, noteOf(schema).open, fields)
    if (shape !== def.shape) changes.shape = shape
  }
  if (Object.keys(changes).length === 0) return schema
  const copy = z.core.clone(schema, { ...def, ...changes } as never)
  const said = z.globalRegistry.get(schema)
  if (said !== undefined) z.globalRegistry.add(copy, said)
  return noted(copy, noteOf(schema))
}

function shapeWith(shape: Inner, place: ExtensionPoint | undefined, fields: AddedFields): Inner {
  const entries = Object.entries(shape).map(([name, inner]) => [name, withAdded(inner, fields)] as const)
  const more = place === undefined ? {} : shapeOf(place, fields)
  const isSame = Object.keys(more).length === 0 && entries.every(([name, inner]) => inner === shape[name])
  return isSame ? shape : { ...Object.fromEntries(entries), ...more }
}

function shapeOf({ to, as }: ExtensionPoint, fields: AddedFields): Inner {
  const added = Object.entries(fields[to] ?? {})
  if (as === 'output') {
    const said = ({ input, output = input }: AddedField) => output.describe(withoutDefault(input.description ?? ''))
    return Object.fromEntries(added.map(([name, field]) => [name, said(field).exactOptional()]))
  }
  const shape = Object.fromEntries(added.map(([name, { input }]) => [name, input.optional()]))
  return as === 'input' ? shape : patched(shape)
}

/** The added fields of what is stored, as rows for people: what stands before the words of each, and the words. */
export function addedInWords(
  fields: Readonly<Record<string, AddedField>> = {},
  stored: object,
  { kinds, as }: { readonly kinds: readonly TargetKind[]; readonly as: 'clauses' | 'facts' },
): [label: string, words: string][] {
  return Object.entries(fields).flatMap(([name, { inWords = (value: unknown) => JSON.stringify(value), clause }]) => {
    const value = (stored as Readonly<Record<string, unknown>>)[name]
    const label = as === 'clauses' ? (clause ?? name) : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return value === undefined ? [] : [[label, inWords(value as never, kinds)]]
  })
}

/** The names of the added fields that are targets. */
export function namesOfTargets(fields: Readonly<Record<string, AddedField>> = {}): string[] {
  return Object.keys(fields).filter((name) => noteOf((fields[name] as AddedField).input).isTarget === true)
}

/** The targets among the added fields of what is stored. */
export function addedTargets(fields: Readonly<Record<string, AddedField>> = {}, stored: object): unknown[] {
  return namesOfTargets(fields).map((name) => (stored as Readonly<Record<string, unknown>>)[name])
}

/** What is to be stored of the added fields that were given. `null` is kept: in a change it takes a field away. */
export function readAdded(
  fields: Readonly<Record<string, AddedField>> = {},
  given: object,
  around: Omit<AddedFieldContext, 'field'>,
): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([field, { read }]) => {
    const value = (given as Readonly<Record<string, unknown>>)[field]
    if (value === undefined) return []
    const stored = value === null || read === undefined ? value : read(value, { ...around, field })
    return stored === undefined ? [] : [[field, stored]]
  })
  return Object.fromEntries(entries)
}
