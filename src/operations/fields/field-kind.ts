import type { z } from 'zod'
import { type Note, noteOf } from '../schema/schema-note.ts'

/** How a field is written as text: at a command line, or in a query string. */
export type FieldKind =
  | 'text'
  | 'file'
  | 'duration'
  | 'instant'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'list'
  | 'json'
  | 'command'

type Def = { readonly type: string; readonly innerType?: z.ZodType; readonly in?: z.ZodType; readonly out?: z.ZodType }

/** A field without its optional wrapper, and whether null removes it. */
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
      // The schema after a preprocess step decides.
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
      // Objects contain commas, so a list of them is written whole.
      return unwrapped((schema as z.ZodArray<z.ZodType>).element).inner.def.type === 'object' ? 'json' : 'list'
    case 'readonly':
      return kindOf(innerType as z.ZodType)
    default:
      return noteOf(schema).isCommandLine === true ? 'command' : 'json'
  }
}

function textKindOf({ expected = '', file }: Note): FieldKind {
  if (file !== undefined) return 'file'
  if (expected.startsWith('a duration')) return 'duration'
  return expected.startsWith('an instant') ? 'instant' : 'text'
}

/** A number written as text; any other text is passed on, because the schema reports it best. */
export function numberOf(kind: 'integer' | 'number', text: string): number | string {
  const form = kind === 'integer' ? /^-?(0|[1-9]\d{0,14})$/ : /^-?(0|[1-9]\d*)(\.\d+)?$/
  return form.test(text) ? Number(text) : text
}
