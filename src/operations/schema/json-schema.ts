import { z } from 'zod'
import type { TargetKind } from '../../targets/kind.ts'
import { withKinds } from '../target/target-form.ts'
import { noteOf } from './schema-note.ts'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Input, output inside this process, or output at the doors. */
export type Direction = 'input' | 'output' | 'at doors'

class Metadata extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType): z.core.GlobalMeta | undefined {
    const { id } = noteOf(schema)
    const told = z.globalRegistry.get(schema)
    return id === undefined ? told : { ...told, id }
  }
}

const metadata = new Metadata()

/**
 * Writes a schema as JSON Schema 2020-12, which OpenAPI 3.1 uses too. A named schema is defined once, under `$defs`; the
 * root is inlined, because some readers do not follow a reference at the root.
 */
export function jsonSchemaOf(schema: z.ZodType, io: Direction, kinds: readonly TargetKind[]): JsonSchema {
  const { $ref, $defs = {}, ...whole } = withForms(schema, io, kinds)
  const name = nameIn($ref)
  const { [name]: root = {}, ...others } = $defs
  return { ...whole, ...root, ...(Object.keys(others).length > 0 && { $defs: others }) }
}

function nameIn($ref = ''): string {
  return $ref.replace('#/$defs/', '')
}

interface Written {
  readonly zodSchema: z.core.$ZodType
  readonly jsonSchema: JsonSchema
}

/** Replaces a value that code judges by the form in its note. */
function withForms(schema: z.ZodType, io: Direction, kinds: readonly TargetKind[]): JsonSchema {
  const forms: JsonSchema['$defs'] = {}
  const override = ({ zodSchema, jsonSchema }: Written) => {
    const { form, isInstant } = noteOf(zodSchema)
    if (jsonSchema.description !== undefined) jsonSchema.description = withKinds(jsonSchema.description, kinds)
    if (io === 'at doors' && isInstant === true) return replace(jsonSchema, instantAtDoors)
    if (form === undefined) return plainly(jsonSchema)
    const { $ref, $defs, $schema: _, ...whole } = withForms(typeof form === 'function' ? form(kinds) : form, io, kinds)
    Object.assign(forms, $defs)
    replace(jsonSchema, $ref === undefined ? whole : { $ref })
  }
  const { $defs, ...whole } = z.toJSONSchema(schema, { io: io === 'input' ? io : 'output', metadata, override })
  const defs = { ...$defs, ...forms }
  return Object.keys(defs).length === 0 ? whole : { ...whole, $defs: defs }
}

const instantAtDoors: JsonSchema = { type: 'string', format: 'date-time' }

function replace(written: JsonSchema, shown: JsonSchema): void {
  const description = written.description?.replace(/ In epoch ms\.$/, '')
  for (const keyword of Object.keys(written)) delete written[keyword]
  Object.assign(written, shown, description !== undefined && { description })
}

/** Leaves out what means nothing outside JavaScript: safe-integer bounds, read-only lists, and names that are text. */
function plainly(written: JsonSchema): void {
  delete written.readOnly
  delete written.propertyNames
  if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum
  if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum
  joinNull(written)
}

/** Writes "text or null" as one type with two names: shorter than a choice of two schemas, and the description stays in place. */
function joinNull(written: JsonSchema): void {
  const [form, none, ...more] = (written.anyOf ?? []) as JsonSchema[]
  if (form === undefined || none?.type !== 'null' || more.length > 0) return
  const { description = form.description } = written
  if (form.$ref !== undefined) {
    written.anyOf = [{ $ref: form.$ref }, none]
  } else if (form.anyOf !== undefined) {
    written.anyOf = [...form.anyOf.filter((one) => (one as JsonSchema).type !== 'null'), none]
  } else if (typeof form.type === 'string') {
    delete written.anyOf
    Object.assign(written, form, { type: [form.type, 'null'] })
    if (form.enum !== undefined) written.enum = [...form.enum, null]
  }
  if (description !== undefined) written.description = description
}
