import { kinds } from '../../kinds.ts'
import type { Scope } from '../../operations/caller-scope.ts'
import { limitWords } from '../../operations/fields/basic-fields.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import { type JsonSchema, jsonSchemaOf } from '../../operations/schema/json-schema.ts'
import { isPaged, shortPageMax } from './short-page.ts'

export type InputSchema = JsonSchema & { readonly type: 'object' }

type Properties = Readonly<Record<string, JsonSchema>>

/** Limits that the verb checks and explains: a model keeps them anyway, or learns from the refusal. */
const judged: ReadonlySet<string> = new Set([
  ...['$schema', 'examples', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern'],
])

/** The shortest schema of a call: without fields beyond this scope, second spellings of durations, repeated definitions, and descriptions that only repeat the name. */
export function inputSchemaOf(operation: AnyOperation, scope: Scope): InputSchema {
  const isAdmin = scope === 'admin'
  const offered = isAdmin ? kinds : kinds.filter(({ startsPrograms }) => startsPrograms !== true)
  const { $defs = {}, ...whole } = jsonSchemaOf(operation.input, 'input', offered)
  const defs = $defs as Properties
  const gone = new Set(isAdmin ? [] : operation.adminFields)
  const written = shortened(whole, { defs, isAdmin }) as JsonSchema
  const told = { ...(written.properties as Properties), ...(isPaged(operation) && { limit: shortLimit(written) }) }
  const properties = Object.entries(told as Properties).filter(([field]) => !gone.has(field))
  const schema = { ...written, type: 'object' as const, properties: Object.fromEntries(properties) }
  const definitionOf = (name: string) => shortened(defs[name] ?? {}, { defs, isAdmin }) as JsonSchema
  return saidOnce(withDefinitions({ ...schema, additionalProperties: false }, definitionOf)) as InputSchema
}

/** Pages are shorter here than at other doors. */
function shortLimit({ properties }: JsonSchema): JsonSchema {
  return { ...(properties as Properties).limit, description: limitWords(shortPageMax) }
}

interface SchemaContext {
  readonly defs: Properties
  readonly isAdmin: boolean
}

function shortened(schema: unknown, around: SchemaContext): unknown {
  if (Array.isArray(schema)) return schema.map((part) => shortened(part, around))
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, ...given } = schema as JsonSchema
  const choice = anyOf === undefined ? {} : choiceOf(anyOf as JsonSchema[], around)
  const fields = Object.entries({ ...given, ...choice }).filter(([keyword]) => !judged.has(keyword))
  const written = fields.map(([keyword, value]) => [keyword, shortenedIn(keyword, value, around)])
  const { additionalProperties, ...rest } = Object.fromEntries(written) as JsonSchema
  return additionalProperties === undefined || additionalProperties === false ? rest : { ...rest, additionalProperties }
}

function shortenedIn(keyword: string, value: unknown, around: SchemaContext): unknown {
  if (keyword === 'properties') return propertiesOf(value as Properties, around)
  return keyword === 'enum' || keyword === 'const' ? value : shortened(value, around)
}

/** Below admin a target may send no secret, so none is offered. */
function choiceOf(forms: readonly JsonSchema[], around: SchemaContext): JsonSchema {
  const left = around.isAdmin ? forms : forms.filter((form) => !isSecret(form, around))
  const [only] = left
  return left.length === 1 && only !== undefined ? only : { anyOf: [...left] }
}

function isSecret({ $ref, properties }: JsonSchema, { defs }: SchemaContext): boolean {
  const told = $ref === undefined ? properties : defs[nameIn($ref)]?.properties
  return told !== undefined && 'secret' in told
}

/** `everyMs` is a second spelling of `every`. Keys that sign are for people to write. */
function propertiesOf(properties: Properties, around: SchemaContext): Properties {
  const fields = Object.entries(properties).filter(
    ([field, schema]) => !(field.endsWith('Ms') && field.slice(0, -2) in properties) && !isKeys(schema),
  )
  return Object.fromEntries(fields.map(([field, schema]) => [field, shortened(schema, around) as JsonSchema]))
}

/** The names of two secrets, of which one replaces the other. */
function isKeys({ properties = {} }: JsonSchema): boolean {
  return 'secret' in (properties as Properties) && 'previous' in (properties as Properties)
}

function nameIn($ref: string): string {
  return $ref.replace('#/$defs/', '')
}

/** Definitions used twice go under `$defs`; one used once is inlined. */
function withDefinitions(schema: InputSchema, definitionOf: (name: string) => JsonSchema): InputSchema {
  const uses = new Map<string, number>()
  const count = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      const before = uses.get(name as string) ?? 0
      uses.set(name as string, before + 1)
      if (before === 0) count(definitionOf(name as string))
    }
  }
  count(schema)
  const inlined = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inlined)
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...rest } = part as JsonSchema
    const name = $ref === undefined ? undefined : nameIn($ref)
    if (name !== undefined && uses.get(name) === 1) return inlined({ ...definitionOf(name), ...rest })
    return Object.fromEntries(Object.entries(part).map(([keyword, value]) => [keyword, inlined(value)]))
  }
  const shared = [...uses].filter(([, times]) => times > 1).map(([name]) => [name, inlined(definitionOf(name))])
  const whole = inlined(schema) as InputSchema
  return shared.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(shared) }
}

/** A field of the same name and meaning at another depth keeps its shape but loses its sentence. */
function saidOnce(schema: unknown, said = new Set<string>()): unknown {
  if (Array.isArray(schema)) return schema.map((part) => saidOnce(part, said))
  if (typeof schema !== 'object' || schema === null) return schema
  const { properties, ...rest } = schema as JsonSchema
  const fields = Object.entries((properties ?? {}) as Properties).map(([field, { description, ...told }]) => {
    const sentence = `${field}: ${description}`
    const isNew = description !== undefined && !said.has(sentence)
    said.add(sentence)
    return [field, { ...(saidOnce(told, said) as JsonSchema), ...(isNew && { description }) }]
  })
  const others = Object.entries(rest).map(([keyword, value]) => [keyword, saidOnce(value, said)])
  return { ...Object.fromEntries(others), ...(properties !== undefined && { properties: Object.fromEntries(fields) }) }
}

/** The same fields without the sentences and shapes that the other tool already gives. */
export function wordless({ properties, $defs = {}, ...schema }: InputSchema, other: InputSchema): InputSchema {
  const explained = other.properties as Properties
  const fields = Object.entries(properties as Properties).map(([field, told]) => {
    const { description } = told
    if (field in explained) return [field, shapeless(bare(told) as JsonSchema)]
    const own = withoutShapes(bare(told), bareEach(explained)) as JsonSchema
    return [field, { ...own, ...(description !== undefined && { description }) }]
  })
  const shared = bareEach($defs as Properties)
  const whole = { ...(bare(schema) as InputSchema), properties: Object.fromEntries(fields) }
  return withDefinitions(whole, (name) => shared[name] ?? {})
}

/** Nested fields that the other tool has too, such as the target of a run, lose their shape as well. */
function withoutShapes(schema: unknown, explained: Properties): unknown {
  if (Array.isArray(schema) || typeof schema !== 'object' || schema === null) return schema
  const { properties = {}, items, ...rest } = schema as JsonSchema
  const fields = Object.entries(properties as Properties).map(([field, told]) => {
    return [field, JSON.stringify(told) === JSON.stringify(explained[field]) ? shapeless(told) : told]
  })
  return {
    ...rest,
    ...(items !== undefined && { items: withoutShapes(items, explained) }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
  }
}

/** A field with fields of its own is shown as any value here. */
function shapeless(schema: JsonSchema): JsonSchema {
  return /"(properties|\$ref)"/.test(JSON.stringify(schema)) ? {} : schema
}

function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare)
  if (typeof schema !== 'object' || schema === null) return schema
  const { description: _, ...rest } = schema as JsonSchema
  const written = Object.entries(rest).map(([keyword, value]) => {
    const isNamed = keyword === 'properties' || keyword === '$defs'
    return [keyword, isNamed ? bareEach(value as Properties) : bare(value)]
  })
  return Object.fromEntries(written)
}

function bareEach(named: Properties): Properties {
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, bare(schema) as JsonSchema]))
}
