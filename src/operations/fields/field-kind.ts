import type { z } from 'zod'
import { type Note, noteOf } from '../schema/schema-note.ts'

/** How a field is written where all there is is text: at a command line, or in the query of an address. */
export type FieldKind = 'text' | 'file' | 'duration' | 'instant' | 'integer' | 'number' | 'boolean' | 'list' | 'json'

type Def = { readonly type: string; readonly innerType?: z.ZodType; readonly in?: z.ZodType; readonly out?: z.ZodType }

/** A field without what makes it optional, and whether null takes it away. */
export function unwrapped(schema: z.ZodType): { inner: z.ZodType; isRemovable: boolean } {
  const { type, innerType } = schema.def as unknown as Def
  if (innerType === undefined || (type !== 'optional' && type !== 'nullable')) {
    return { inner: schema, isRemovable: false }
  }
  const { inner, isRemovable } = unwrapped(innerType)
  return { inner, isRemovable: isRemovable || type === 'nullable' }
}

export function kindOf(schema: z.ZodType): FieldKind {
  const { type, in: first, out, innerType } = schema.def as unknown as Def
  switch (type) {
    case 'pipe':
      // What is preprocessed is read by what comes behind it.
      return kindOf((first?.def.type === 'transform' ? out : first) as z.ZodType)
    case 'string':
      return textKindOf(noteOf(schema))
    case 'enum':
      return 'text'
    case 'number':
      return (schema as z.ZodNumber).format === 'safeint' ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return 'list'
    case 'readonly':
      return kindOf(innerType as z.ZodType)
    default:
      return 'json'
  }
}

function textKindOf({ expected = '', file }: Note): FieldKind {
  if (file !== undefined) return 'file'
  if (expected.startsWith('a duration')) return 'duration'
  return expected.startsWith('an instant') ? 'instant' : 'text'
}

/** A number that was written as text; what is none is handed on, for the schema says best what would be right. */
export function numberOf(kind: 'integer' | 'number', text: string): number | string {
  const form = kind === 'integer' ? /^-?(0|[1-9]\d{0,14})$/ : /^-?(0|[1-9]\d*)(\.\d+)?$/
  return form.test(text) ? Number(text) : text
}
