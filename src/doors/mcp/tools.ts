import { reaches, type Scope } from '../../operations/caller-scope.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import { type InputSchema, inputSchemaOf, wordless } from './input-schema.ts'
import { offeredVerbs, toolName } from './tool-sets.ts'

/** A verb as a model is told of it. No description depends on data of the store. */
export interface Tool {
  readonly operation: AnyOperation
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
  readonly annotations: {
    readonly readOnlyHint?: true
    readonly destructiveHint?: false
    readonly idempotentHint?: true
  }
}

/** A destructive call is made twice: the second time with what answered the first. */
export const confirmField = 'confirm'

/** How much is answered. */
export const detailField = 'detail'
export const details = ['short', 'full'] as const
export type Detail = (typeof details)[number]

const made = new Map<Scope, readonly Tool[]>()

/** Every tool that a scope reaches, with the inputs that it may give. They say the same for as long as the process lives. */
export function toolsFor(scope: Scope): readonly Tool[] {
  const known = made.get(scope)
  if (known !== undefined) return known
  const tools = offeredVerbs.filter((verb) => reaches(scope, verb.scope)).map((verb) => toolOf(verb, scope))
  made.set(scope, tools)
  return tools
}

/**
 * There is no schema of the answers: the protocol asks for none, it was four fifths of the whole, and with one the
 * answer would have to be told twice.
 */
function toolOf(operation: AnyOperation, scope: Scope): Tool {
  const name = toolName(operation)
  const schema = inputSchemaOf(operation, scope)
  const isDestructive = operation.effect === 'destructive'
  const properties = {
    ...schema.properties,
    [detailField]: { type: 'string', enum: [...details] },
    ...(isDestructive && { [confirmField]: { type: 'string' } }),
  }
  const how = isDestructive ? ` Call twice: the first call answers a ${confirmField}, the second hands it in.` : ''
  return {
    operation,
    name,
    description: (operation.defaultTool ?? operation.says) + how,
    inputSchema: { ...schema, properties } as InputSchema,
    annotations: annotationsOf(operation),
  }
}

/** The tools as they are listed: fields that two of them have in common are explained once. */
export function listOf(offered: readonly Tool[]): Omit<Tool, 'operation'>[] {
  const names = new Set(offered.map(({ name }) => name))
  return offered.map(({ operation: { noun, fieldsAs }, ...tool }) => {
    const other = fieldsAs === undefined ? undefined : toolName({ noun, verb: fieldsAs })
    if (other === undefined || !names.has(other)) return tool
    const description = `${tool.description} Fields as in ${other}.`
    return { ...tool, description, inputSchema: wordless(tool.inputSchema) }
  })
}

/** Only what differs from what the protocol assumes of a tool that says nothing. */
function annotationsOf({ effect, idempotent }: AnyOperation): Tool['annotations'] {
  if (effect === 'read') return { readOnlyHint: true }
  return {
    ...(effect === 'write' && { destructiveHint: false }),
    ...(idempotent === true && { idempotentHint: true }),
  }
}
