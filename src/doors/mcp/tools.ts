import { reaches, type Scope } from '../../operations/caller-scope.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import { type InputSchema, inputSchemaOf, wordless } from './input-schema.ts'
import { offeredVerbs, toolName } from './tool-sets.ts'

/** A verb as a tool. No description depends on data of the store. */
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

/** A destructive call is made twice: the second time with the confirm from the first answer. */
export const confirmField = 'confirm'

export const detailField = 'detail'
export const details = ['short', 'full'] as const
export type Detail = (typeof details)[number]

const made = new Map<Scope, readonly Tool[]>()

/** The tools within a scope, with the inputs that it allows. They do not change while the process runs. */
export function toolsFor(scope: Scope): readonly Tool[] {
  const known = made.get(scope)
  if (known !== undefined) return known
  const tools = offeredVerbs.filter((verb) => reaches(scope, verb.scope)).map((verb) => toolOf(verb, scope))
  made.set(scope, tools)
  return tools
}

/** Tools have no output schema: the protocol does not require one, it made up four fifths of the list, and with one each answer would have to be sent twice. */
function toolOf(operation: AnyOperation, scope: Scope): Tool {
  const name = toolName(operation)
  const schema = inputSchemaOf(operation, scope)
  const isDestructive = operation.effect === 'destructive'
  const properties = {
    ...schema.properties,
    [detailField]: { type: 'string', enum: [...details] },
    ...(isDestructive && { [confirmField]: { type: 'string' } }),
  }
  const how = isDestructive ? ` Call twice: the first call answers a ${confirmField}; pass it in the second.` : ''
  return {
    operation,
    name,
    description: (operation.defaultTool ?? operation.says) + how,
    inputSchema: { ...schema, properties } as InputSchema,
    annotations: annotationsOf(operation),
  }
}

/** A tool without fields that are given for the model. */
export function withoutFields(tool: Tool, names: readonly string[]): Tool {
  if (names.length === 0) return tool
  const { properties, required, ...schema } = tool.inputSchema
  const left = Object.entries(properties as object).filter(([name]) => !names.includes(name))
  const needed = ((required ?? []) as readonly string[]).filter((name) => !names.includes(name))
  const rest = { properties: Object.fromEntries(left), ...(needed.length > 0 && { required: needed }) }
  return { ...tool, inputSchema: { ...schema, ...rest } as InputSchema }
}

/** The listed tools: fields that two of them share are explained once. */
export function listOf(offered: readonly Tool[]): Omit<Tool, 'operation'>[] {
  const byName = new Map(offered.map((tool) => [tool.name, tool]))
  return offered.map(({ operation, ...tool }) => {
    const other = byName.get(explainerOf(operation) ?? '')
    if (other === undefined) return tool
    const description = `${tool.description} Fields as in ${other.name}.`
    return { ...tool, description, inputSchema: wordless(tool.inputSchema, other.inputSchema) }
  })
}

/** The tool that explains fields of this one: a verb of its noun, or of another one as `noun.verb`. */
function explainerOf({ noun, fieldsAs }: AnyOperation): string | undefined {
  if (fieldsAs === undefined) return undefined
  const [first = '', second] = fieldsAs.split('.')
  const [ofNoun, ofVerb] = second === undefined ? [noun, first] : [first, second]
  const explainer = offeredVerbs.find((verb) => verb.noun === ofNoun && verb.verb === ofVerb)
  return explainer === undefined ? undefined : toolName(explainer)
}

/** Only hints that differ from the protocol's defaults. */
function annotationsOf({ effect, idempotent }: AnyOperation): Tool['annotations'] {
  if (effect === 'read') return { readOnlyHint: true }
  return {
    ...(effect === 'write' && { destructiveHint: false }),
    ...(idempotent === true && { idempotentHint: true }),
  }
}
