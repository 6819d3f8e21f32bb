import { z } from 'zod'
import type { TargetKind } from '../../targets/kind.ts'
import { withKinds } from '../target/target-form.ts'
import { noteOf } from './schema-note.ts'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** What is given, what is answered in this process, or what is answered at the doors to the outside. */
export type Direction = 'input' | 'output' | 'at doors'

/** Descriptions are those of zod's own registry; the ids are ours. */
class Metadata extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType): z.core.GlobalMeta | undefined {
    const { id } = noteOf(schema)
    const told = z.globalRegistry.get(schema)
    return id === undefined ? told : { ...told, id }
  }
}

const metadata = new Metadata()

/**
 * A schema as other programs read it: JSON Schema 2020-12, which is also that of OpenAPI 3.1. What has a name is told
 * once, under `$defs`; only the whole itself is told in its place, because some who read it look no further.
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

/** What is looked at by other means than schemas is shown by the form that its note has. */
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

/**
 * Leaves out what says nothing to others: that integers are no larger than JavaScript's, that a list is read-only here,
 * and that names are texts.
 */
function plainly(written: JsonSchema): void {
  delete written.readOnly
  delete written.propertyNames
  if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum
  if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum
  joinNull(written)
}

/** "A text or null" is shorter than a choice of two schemas, and has its description where it is looked for. */
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
