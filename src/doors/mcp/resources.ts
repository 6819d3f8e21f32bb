import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { hiddenAgain, visible } from '../../core/fence.ts'
import type { OperationContext } from '../../operations/context.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import { runOperations } from '../../operations/run/run.ts'
import { scheduleOperations } from '../../operations/schedule/schedule.ts'
import { isForeseen } from '../../operations/unforeseen.ts'
import { nouns } from '../../table.ts'
import { refusalOf, refusedText, type Wording } from './refusal.ts'
import type { McpOptions } from './server.ts'
import { told } from './told.ts'
import { toolName } from './tool-sets.ts'

interface Content {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

const verbsUri = 'belfry://docs/verbs'

export const resources = [
  {
    uri: verbsUri,
    name: 'verbs',
    title: 'What can be done with Belfry',
    mimeType: 'text/markdown',
    description: 'Every noun with its verbs, and what each does.',
  },
  {
    uri: 'belfry://schedules',
    name: 'schedules',
    title: 'The schedules',
    mimeType: 'application/json',
    description: 'The first hundred schedules, by name.',
  },
  {
    uri: 'belfry://runs',
    name: 'runs',
    title: 'The latest runs',
    mimeType: 'application/json',
    description: 'The latest hundred runs, newest first.',
  },
] as const

export const resourceTemplates = [
  {
    uriTemplate: 'belfry://schedules/{name}',
    name: 'schedule',
    title: 'A schedule',
    mimeType: 'application/json',
    description: 'A schedule by its name, and why it runs when it does.',
  },
  {
    uriTemplate: 'belfry://runs/{id}',
    name: 'run',
    title: 'A run',
    mimeType: 'application/json',
    description: 'A run by its id, and why it stands as it does.',
  },
] as const

/** What a resource says, with the texts of others in a fence behind it; one that does not exist is an error of the protocol. */
export async function readResource(
  uri: string,
  { context, wording, onUnforeseen }: Pick<McpOptions, 'context' | 'onUnforeseen'> & { readonly wording: Wording },
): Promise<Content[]> {
  try {
    if (uri === verbsUri) return [{ uri, mimeType: 'text/markdown', text: verbsPage() }]
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
  throw new McpError(
    ErrorCode.InvalidParams,
    `There is no resource ${shown}. Call resources/list for those that exist.`,
  )
}

async function textsOf(uri: string, context: McpOptions['context']): Promise<readonly string[] | null> {
  const [, noun, encoded] = /^belfry:\/\/(schedules|runs)(?:\/(.+))?$/.exec(uri) ?? []
  const name = encoded === undefined ? undefined : hiddenAgain(decoded(encoded))
  if (noun === 'schedules') {
    const operation = name === undefined ? scheduleOperations.list : scheduleOperations.explain
    return said(operation, await context(), name === undefined ? {} : { name })
  }
  if (noun === 'runs') {
    const operation = name === undefined ? runOperations.list : runOperations.explain
    return said(operation, await context(), name === undefined ? {} : { id: name })
  }
  return null
}

/** What cannot be decoded was never encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function said(operation: AnyOperation, context: OperationContext, input: object): Promise<readonly string[]> {
  const how = { detail: 'short', name: toolName(operation) } as const
  return told(await operation.call(context, input), operation.output, how)
}

function verbsPage(): string {
  const parts = Object.entries(nouns).map(([noun, { says, operations }]) => {
    const verbs = Object.values(operations).map(
      (operation: AnyOperation) => `- **${noun} ${operation.verb}**: ${operation.says}`,
    )
    return [`## ${noun}`, '', says, '', ...verbs].join('\n')
  })
  return ['# What can be done with Belfry', ...parts].join('\n\n')
}
