import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { hiddenAgain, visible } from '../../core/untrusted-text.ts'
import type { Resource } from '../../operations/noun.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { isForeseen } from '../../operations/unforeseen-error.ts'
import { nounEntries } from '../../table.ts'
import { docPages, docText } from './doc-pages.ts'
import type { McpOptions } from './mcp-server.ts'
import { modelAnswer } from './model-answer.ts'
import { refusalOf, refusedText, type Wording } from './model-refusal.ts'

interface Content {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

const verbsUri = 'belfry://docs/verbs'

interface Readable extends Resource {
  /** `belfry://schedules`, and `belfry://schedules/{name}` of one. */
  readonly uri: string
}

const readable: readonly Readable[] = Object.values(nounEntries).flatMap(({ plural, resources: own = [] }) =>
  own.map((resource) => {
    const [subject] = resource.operation.takes
    return { ...resource, uri: `belfry://${plural}${subject === undefined ? '' : `/{${subject}}`}` }
  }),
)

const listed = readable.map(({ operation: _, ...resource }) => ({ ...resource, mimeType: 'application/json' }))

export const resources = [
  {
    uri: verbsUri,
    name: 'verbs',
    title: 'The verbs of Belfry',
    mimeType: 'text/markdown',
    description: 'Every noun with its verbs.',
    annotations: { priority: 0.5 },
  },
  ...docPages,
  ...listed.filter(({ uri }) => !uri.endsWith('}')),
]

export const resourceTemplates = listed
  .filter(({ uri }) => uri.endsWith('}'))
  .map(({ uri, ...template }) => ({ uriTemplate: uri, ...template }))

/** The content of a resource, with the texts of others in a fence after it; an unknown one is a protocol error. */
export async function readResource(
  uri: string,
  { context, wording, onUnforeseen }: Pick<McpOptions, 'context' | 'onUnforeseen'> & { readonly wording: Wording },
): Promise<Content[]> {
  try {
    if (uri === verbsUri) return [{ uri, mimeType: 'text/markdown', text: verbsPage() }]
    const page = docText(uri)
    if (page !== null) return [{ uri, mimeType: 'text/markdown', text: page }]
    const texts = await textsOf(uri, context)
    if (texts !== null) {
      return texts.map((text, index) => ({ uri, mimeType: index === 0 ? 'application/json' : 'text/plain', text }))
    }
  } catch (thrown) {
    if (!isForeseen(thrown)) onUnforeseen?.(thrown)
    const refusal = refusalOf(thrown)
    const kind = isForeseen(thrown) ? ErrorCode.InvalidParams : ErrorCode.InternalError
    throw new McpError(kind, refusedText(refusal, wording), { uri, code: refusal.code })
  }
  const shown = visible(JSON.stringify(uri.slice(0, 200)))
  throw new McpError(ErrorCode.InvalidParams, `There is no resource ${shown}. List resources with resources/list.`)
}

async function textsOf(uri: string, context: McpOptions['context']): Promise<readonly string[] | null> {
  const [, plural, encoded] = /^belfry:\/\/([a-z]+)(?:\/(.+))?$/.exec(uri) ?? []
  const path = `belfry://${plural}${encoded === undefined ? '' : '/{'}`
  const found = readable.find((each) => each.uri.replace(/\{.*/, '{') === path)
  if (found === undefined) return null
  const { operation } = found
  const [subject] = operation.takes
  const input = subject === undefined ? {} : { [subject]: hiddenAgain(decoded(encoded ?? '')) }
  return said(operation, await context(), input)
}

/** A text that cannot be decoded was never encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function said(operation: AnyOperation, context: OperationContext, input: object): Promise<readonly string[]> {
  return modelAnswer(await operation.call(context, input), operation.output, { detail: 'short' })
}

function verbsPage(): string {
  const parts = Object.entries(nounEntries).map(([noun, { says, operations }]) => {
    const verbs = Object.values(operations).map((operation) => `- **${noun} ${operation.verb}**: ${operation.says}`)
    return [`## ${noun}`, '', says, '', ...verbs].join('\n')
  })
  return ['# The verbs of Belfry', ...parts].join('\n\n')
}
