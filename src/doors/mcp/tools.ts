import { type JsonSchema, jsonSchemaOf } from '../../operations/json-schema.ts'
import { type AnyOperation, verbWords } from '../../operations/operation.ts'
import { operations } from '../../operations/table.ts'

/** A verb as a model is told of it. What is said here never depends on anybody's data. */
export interface Tool {
  readonly operation: AnyOperation
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema & { readonly type: 'object' }
  readonly outputSchema: JsonSchema & { readonly type: 'object' }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: false
  }
}

/** What is destructive is asked for twice: the second time with what the first was answered. */
export const confirmField = 'confirm'

/** Verbs that come to the same when they are asked for again. */
const repeatable: ReadonlySet<string> = new Set([
  'put',
  'set',
  'update',
  'pause',
  'resume',
  'clearHints',
  'backfill',
  'reprioritise',
  'cancel',
  'delete',
  'revoke',
  'enable',
  'disable',
  'notify',
])

/** `schedule_clear_hints`. */
function nameOf({ noun, verb }: AnyOperation): string {
  return `${noun}_${verbWords(verb).replaceAll('-', '_')}`
}

export const tools: readonly Tool[] = operations.filter(({ doors }) => doors.mcp === true).map(toolOf)

function toolOf(operation: AnyOperation): Tool {
  const { noun, verb, says, effect } = operation
  const isDestructive = effect === 'destructive'
  const how = isDestructive ? ' It is done when it is asked for again with the confirm that it answers.' : ''
  return {
    operation,
    name: nameOf(operation),
    title: `${noun} ${verbWords(verb)}`,
    description: says + how,
    inputSchema: inputOf(operation, isDestructive),
    outputSchema: outputOf(operation),
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: isDestructive,
      idempotentHint: effect === 'read' || repeatable.has(verb),
      openWorldHint: false,
    },
  }
}

function inputOf({ input }: AnyOperation, isDestructive: boolean): Tool['inputSchema'] {
  const schema = plain(jsonSchemaOf(input, 'input'))
  if (!isDestructive) return { ...schema, type: 'object' }
  const confirm = {
    type: 'string',
    description: 'What the same call was answered with before, to have it done.',
  } as const
  return { ...schema, type: 'object', properties: { ...schema.properties, [confirmField]: confirm } }
}

/**
 * A structured answer is an object, so a list is told inside one. What is destructive may also answer that it wants to
 * be confirmed, so that no field of it is certain.
 */
function outputOf({ output, effect }: AnyOperation): Tool['outputSchema'] {
  const schema = plain(jsonSchemaOf(output, 'at doors'))
  const { $defs, ...whole } = schema
  const wrapped: JsonSchema = isObject(schema)
    ? schema
    : { type: 'object', properties: { answer: whole }, required: ['answer'], ...($defs !== undefined && { $defs }) }
  if (effect !== 'destructive') return wrapped as Tool['outputSchema']
  const { required: _, additionalProperties: __, ...loose } = wrapped
  const confirm = { type: 'string', description: 'To be handed in with the same call, to have it done.' }
  const says = { type: 'string', description: 'What would be done.' }
  return { ...loose, properties: { ...wrapped.properties, confirm, says } } as Tool['outputSchema']
}

export function isObject({ type }: JsonSchema): boolean {
  return type === 'object'
}

function plain({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema
}
