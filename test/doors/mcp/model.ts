import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { unfence } from '../../../src/core/untrusted-text.ts'
import { Confirmations } from '../../../src/doors/mcp/confirmations.ts'
import { type McpOptions, mcpServer } from '../../../src/doors/mcp/mcp-server.ts'
import { chosenTools } from '../../../src/doors/mcp/tool-sets.ts'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import type { OperationContext } from '../../../src/operations/operation-context.ts'

export interface Answer {
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly content: readonly { readonly type: string; readonly text: string }[]
}

export interface ModelOptions
  extends Partial<Pick<McpOptions, 'confirmations' | 'onUnforeseen' | 'start' | 'isInRun' | 'beside'>> {
  readonly context: () => Promise<OperationContext>
  readonly scope?: Scope
  readonly tools?: string
}

/** The SDK's own client, joined with a server for a caller of this scope, who asked for these tools. */
export async function modelAt({ context, scope = 'admin', tools = 'all', ...more }: ModelOptions): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const confirmations = new Confirmations('secret', { monotonic: () => 0 })
  const names = chosenTools(tools, { scope, field: 'tools', problems: [] })
  const start = { door: 'pipes', tools, spelled: (text: string) => text } as const
  await mcpServer({ confirmations, start, ...more, context, version: '1', scope, tools: names }).connect(far)
  const client = new Client({ name: 'a model', version: '1' })
  await client.connect(near)
  return client
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answer> {
  return (await client.callTool({ name, arguments: args })) as unknown as Answer
}

/** What an answer says outside its fence. */
export function factsOf({ content }: Pick<Answer, 'content'>): Record<string, unknown> {
  return JSON.parse(content[0]?.text ?? 'null') as Record<string, unknown>
}

/** What stands inside the fence of an answer; nothing where it has none. */
export function textsOf({ content }: Pick<Answer, 'content'>): Record<string, unknown> {
  const [, fenced] = content
  if (fenced === undefined) return {}
  const body = unfence(fenced.text)
  if (body === null) throw new Error(`this is no whole fence: ${fenced.text}`)
  return JSON.parse(body) as Record<string, unknown>
}

/** The whole of an answer: the facts, with every mark replaced by the text that it stands for. */
export function wholeOf(answer: Pick<Answer, 'content'>): unknown {
  const texts = textsOf(answer)
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return Object.hasOwn(texts, value) ? texts[value] : value
    if (Array.isArray(value)) return value.map(filled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, filled(each)]))
  }
  return filled(factsOf(answer))
}

/** With instants as every other door tells them: a model is spared a fraction of a second that is none. */
export function withFractions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z"/g, '"$1.000Z"'))
}
