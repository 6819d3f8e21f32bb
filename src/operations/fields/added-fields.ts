import { z } from 'zod'
import type { AddedToAttempt, AddedToConfig, AddedToQueue, AddedToRun, AddedToSchedule } from '../../core/added.ts'
import type { Target } from '../../core/target.ts'
import type { Timing } from '../../core/timing/timing.ts'
import type { TargetKind } from '../../targets/kind.ts'
import type { Problem } from '../input/refuse-input.ts'
import { noted, noteOf } from '../schema/schema-note.ts'
import { patched, withoutDefault } from './patch.ts'

/** The context in which a field is read. */
export interface AddedFieldContext {
  readonly field: string
  /** The folder that relative programs and folders are resolved against. */
  readonly folder: string
  readonly kinds: readonly TargetKind[]
  /** Collects problems. */
  readonly problems: Problem[]
}

/** A field that a part adds to schedules, queue policies or runs. It is stored under its own name. */
export interface AddedField {
  /** The input schema. Its description appears at every door, and ends with `Default: …` where there is a default. */
  readonly input: z.ZodType
  /** The output schema, where it differs from the input. */
  readonly output?: z.ZodType
  /** The stored value, where it differs from the parsed input. */
  readonly read?: (given: unknown, around: AddedFieldContext) => unknown
  /**
   * What is wrong with its stored value, given the rest of a schedule or run. It is checked again when the rest
   * changes.
   */
  readonly unfit?: (stored: never, beside: BesideField) => UnfitProblem | null
  /**
   * For a schedule only: whether the field is stored among the options that are copied to runs, so that workers know
   * it.
   */
  readonly isCopied?: true
  /**
   * For a schedule only: an agent may not set the field (`always`), or may set it on a schedule that it creates but not change it
   * afterwards (`changes`). The field decides how far agents may go, so an agent that writes it would bound itself.
   */
  readonly ofPersons?: 'always' | 'changes'
  /** The value in words. */
  readonly inWords?: (stored: never, kinds: readonly TargetKind[]) => string
  /** For an attempt only: a word for the list of runs. */
  readonly inList?: (stored: never) => string | undefined
  /** The text before these words in the sentence about a schedule. Default: the name of the field. */
  readonly clause?: string
}

/** A problem of a field of a part; `at` is the place inside the field: `[0].then`. */
export interface UnfitProblem extends Omit<Problem, 'field'> {
  readonly at?: string
}

/** The stored fields that surround a field of a part. */
export interface BesideField {
  readonly target: Target | null | undefined
  /** For a schedule only. */
  readonly timing?: Timing | undefined
}

interface Added {
  readonly schedule: AddedToSchedule
  readonly queue: AddedToQueue
  readonly run: AddedToRun
  /** A field of an attempt; it appears in answers only. */
  readonly attempt: AddedToAttempt
  readonly config: AddedToConfig
}

/** The fields that parts add, by noun and name. A field of both schedule and run is copied from a schedule to its runs. */
export type AddedFields = { readonly [Noun in keyof Added]?: Readonly<Record<string, AddedField>> }

export function allAdded(each: readonly (AddedFields | undefined)[]): AddedFields {
  const of = (noun: keyof Added) => Object.assign({}, ...each.map((fields) => fields?.[noun] ?? {}))
  return { schedule: of('schedule'), queue: of('queue'), run: of('run'), attempt: of('attempt'), config: of('config') }
}

/** The places where fields can be added: a whole input, a change, or an answer. */
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

/** The schema of an object that parts may extend; `withAdded` adds their fields. */
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

/** The same schema with the added fields, at any depth. */
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

/** Rebuilds only the schemas around an extensible object; all other schemas stay the same objects. */
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

/** The names of a schedule's fields that are stored among the options, which are copied to its runs. */
export function namesOfCopied({ schedule = {}, run = {} }: AddedFields): string[] {
  return [...Object.keys(run), ...Object.keys(schedule).filter((name) => schedule[name]?.isCopied === true)]
}

function shapeOf({ to, as }: ExtensionPoint, fields: AddedFields): Inner {
  const copied = Object.entries(fields.schedule ?? {}).filter(([, { isCopied }]) => isCopied === true)
  const added = [...Object.entries(fields[to] ?? {}), ...(to === 'run' && as === 'output' ? copied : [])]
  if (as === 'output') {
    const said = ({ input, output = input }: AddedField) => output.describe(withoutDefault(input.description ?? ''))
    return Object.fromEntries(added.map(([name, field]) => [name, said(field).exactOptional()]))
  }
  const shape = Object.fromEntries(added.map(([name, { input }]) => [name, input.optional()]))
  return as === 'input' ? shape : patched(shape)
}

/** The added fields of a stored value as rows: name and words. */
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

/** What the added fields of an attempt say in a list of runs. */
export function addedInList(fields: Readonly<Record<string, AddedField>> = {}, stored: object): string[] {
  return Object.entries(fields).flatMap(([name, { inList }]) => {
    const value = (stored as Readonly<Record<string, unknown>>)[name]
    return value === undefined ? [] : (inList?.(value as never) ?? [])
  })
}

/** The names of the added fields of a schedule that only persons write, on a new schedule or on an existing one. */
export function namesOfPersons(
  fields: Readonly<Record<string, AddedField>> = {},
  { isNew }: { readonly isNew: boolean },
): string[] {
  return Object.keys(fields).filter((name) => {
    const { ofPersons } = fields[name] as AddedField
    return ofPersons === 'always' || (ofPersons === 'changes' && !isNew)
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

/** What is wrong with added fields, given the other stored fields. */
export function unfitProblems(
  fields: Readonly<Record<string, AddedField>> = {},
  stored: object,
  beside: BesideField,
): Problem[] {
  return Object.entries(fields).flatMap(([field, { unfit }]) => {
    const value = (stored as Readonly<Record<string, unknown>>)[field]
    const problem = unfit === undefined || value == null ? null : unfit(value as never, beside)
    if (problem === null) return []
    const { at = '', ...rest } = problem
    return [{ field: `${field}${at}`, ...rest }]
  })
}

/** The stored form of the added fields in an input. `null` is kept: in a change it removes a field. */
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
