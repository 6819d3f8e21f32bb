import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { atDoors } from '../../operations/at-doors.ts'
import type { OperationContext } from '../../operations/context.ts'
import type { AnyOperation } from '../../operations/operation.ts'
import { runOperations } from '../../operations/run/run.ts'
import { scheduleOperations } from '../../operations/schedule/schedule.ts'
import { nouns } from '../../operations/table.ts'
import { forStrangers, isForeseen } from '../../operations/unforeseen.ts'
import type { McpOptions } from './server.ts'

interface Content {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

export const resources = [
  {
    uri: 'belfry://docs/verbs',
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

/** What a resource says; one that is not there is an error of the protocol. */
export async function readResource(
  uri: string,
  { context, onUnforeseen }: Pick<McpOptions, 'context' | 'onUnforeseen'>,
): Promise<Content> {
  try {
    const text = await textOf(uri, context)
    if (text !== null)
      return { uri, mimeType: uri === 'belfry://docs/verbs' ? 'text/markdown' : 'application/json', text }
  } catch (thrown) {
    if (!isForeseen(thrown)) onUnforeseen?.(thrown)
    const { message, code } = forStrangers(thrown)
    throw new McpError(isForeseen(thrown) ? ErrorCode.InvalidParams : ErrorCode.InternalError, message, { uri, code })
  }
  throw new McpError(ErrorCode.InvalidParams, `There is no resource ${JSON.stringify(uri.slice(0, 200))}.`, { uri })
}

async function textOf(uri: string, context: OperationContext): Promise<string | null> {
  const [, noun, encoded] = /^belfry:\/\/(docs|schedules|runs)(?:\/(.+))?$/.exec(uri) ?? []
  const name = encoded === undefined ? undefined : decoded(encoded)
  if (noun === 'docs') return name === 'verbs' ? verbsPage() : null
  if (noun === 'schedules') {
    const operation = name === undefined ? scheduleOperations.list : scheduleOperations.explain
    return said(operation, context, name === undefined ? {} : { name })
  }
  if (noun === 'runs') {
    const operation = name === undefined ? runOperations.list : runOperations.explain
    return said(operation, context, name === undefined ? {} : { id: name })
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

async function said(operation: AnyOperation, context: OperationContext, input: object): Promise<string> {
  return JSON.stringify(atDoors(operation.output, await operation.call(context, input)), null, 2)
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
