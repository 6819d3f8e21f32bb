import type { z } from 'zod'
import { kinds } from '../../../kinds.ts'
import { type FieldKind, kindOf, unwrapped } from '../../../operations/fields/field-kind.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { noteOf } from '../../../operations/schema/schema-note.ts'
import { withKinds } from '../../../operations/target/target-form.ts'

/** A field of an input as a flag. */
export interface Field {
  readonly name: string
  /** The nested field of that object, for a flag of a nested field. */
  readonly part?: string
  /** `--max-runs` of `maxRuns`. */
  readonly flag: string
  readonly kind: FieldKind
  /** The allowed words, where there is a fixed list. */
  readonly choices?: readonly string[]
  readonly says: string
  /** Its values contain commas, and are not split at them. */
  readonly keepsCommas?: true
  /** The expected value, for JSON whose schema states it best. */
  readonly expected?: string
  /** Whether null removes it. */
  readonly isRemovable: boolean
}

/** The fields of a verb's input that are flags: all but its arguments. A duration has one flag, with units: `--every 500ms`. */
export function fieldsOf({ input, takes }: Pick<AnyOperation, 'input' | 'takes'>): Field[] {
  const shape = input.shape as Readonly<Record<string, z.ZodType>>
  const names = Object.keys(shape).filter((name) => !takes.includes(name) && !isTwin(name, shape))
  return names.flatMap((name) => [fieldOf(name, shape[name] as z.ZodType), ...partsOf(name, shape[name] as z.ZodType)])
}

/** The flags of nested fields: `--backoff-base 5s` is `--backoff '{"base":"5s"}'`. */
function partsOf(name: string, schema: z.ZodType): Field[] {
  const { inner } = unwrapped(schema)
  if (noteOf(inner).hasFlags !== true) return []
  const shape = (inner as z.ZodObject).shape as Readonly<Record<string, z.ZodType>>
  const parts = Object.keys(shape).filter((part) => !isTwin(part, shape))
  return parts.map((part) => {
    const field = fieldOf(part, shape[part] as z.ZodType)
    return { ...field, name, part, flag: `${flagOf(name)}${field.flag.slice(1)}`, isRemovable: false }
  })
}

/** The arguments of a verb as its usage names them; the text of a file is given by its path. */
export function argumentsOf({ input, takes }: Pick<AnyOperation, 'input' | 'takes'>): Field[] {
  const shape = input.shape as Readonly<Record<string, z.ZodType>>
  return takes.map((name) => {
    const field = fieldOf(name, shape[name] as z.ZodType)
    return { ...field, flag: field.kind === 'file' ? 'FILE' : name.toUpperCase() }
  })
}

/** Whether `--in` stands for its `at`. A verb may have a field of that name. */
export function takesIn({ input: { shape } }: Pick<AnyOperation, 'input'>): boolean {
  return 'at' in shape && !('in' in shape)
}

function isTwin(name: string, shape: Readonly<Record<string, unknown>>): boolean {
  return name.endsWith('Ms') && name.slice(0, -2) in shape
}

export function flagOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function fieldOf(name: string, schema: z.ZodType): Field {
  const { inner, isRemovable } = unwrapped(schema)
  const choices = choicesOf(inner)
  const kind = kindOf(inner)
  const described = descriptionOf(schema).replace(/ Null takes it away\.$/, '')
  const says = kind === 'file' ? `${described} A path, or - for stdin.` : described
  const { flag = kind === 'file' ? `${flagOf(name)}-file` : flagOf(name), keepsCommas } = noteOf(inner)
  const expected = kind === 'json' || kind === 'command' ? noteOf(inner).expected : undefined
  const told = {
    ...(choices !== undefined && { choices }),
    ...(keepsCommas && { keepsCommas }),
    ...(expected !== undefined && { expected }),
  }
  return { name, flag, kind, ...told, says, isRemovable }
}

/** A description belongs to the schema inside the optional wrapper. */
function descriptionOf(schema: z.ZodType): string {
  const { innerType } = schema.def as unknown as { readonly innerType?: z.ZodType }
  if (schema.description !== undefined) return withKinds(schema.description, kinds)
  return innerType === undefined ? '' : descriptionOf(innerType)
}

function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  return schema.def.type === 'enum' ? (schema as z.ZodEnum).options.map(String) : undefined
}

const placeholders: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  file: 'path',
  duration: 'duration',
  instant: 'instant',
  integer: 'n',
  number: 'number',
  boolean: '',
  list: 'a,b',
  json: 'json',
  command: 'line',
}

const placeholderLengthMax = 30

/** The placeholder after a flag in help: `--every <duration>`, `--overlap <skip|queue|allow|cancel>`. */
export function placeholderOf({ kind, choices }: Pick<Field, 'kind' | 'choices'>): string {
  const words = choices?.join('|') ?? ''
  return words === '' || words.length > placeholderLengthMax ? placeholders[kind] : words
}

/** The help of a flag. Allowed words that do not fit into the placeholder are listed here. */
export function helpOf(field: Field): string {
  const { choices, says } = field
  return choices === undefined || placeholderOf(field).includes('|') ? says : `${says} One of ${choices.join(', ')}.`
}
