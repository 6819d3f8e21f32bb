import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import { BelfryClient } from '../../src/client/belfry-client.ts'
import { BelfryError } from '../../src/core/error.ts'
import { main } from '../../src/doors/cli/main.ts'
import { storeSession } from '../../src/doors/cli/session/store-session.ts'
import { commandLine } from '../../src/doors/cli/spelling/command-line.ts'
import { HttpDoor } from '../../src/doors/http/http-door.ts'
import { toolName } from '../../src/doors/mcp/tool-sets.ts'
import type { AnyOperation } from '../../src/operations/operation.ts'
import { atDoors } from '../../src/operations/schema/answer-encoding.ts'
import { tokenOperations } from '../../src/operations/token/noun.ts'
import type { Desk } from '../operations/desk.ts'
import { filesOf } from './cli/files-of.ts'
import { shellWords } from './cli/shell-words.ts'
import { call as callTool, factsOf, modelAt, wholeOf, withFractions } from './mcp/model.ts'

/** What a door said: the payload, or the parts of the error that every door tells alike. */
export type Said =
  | { readonly answer: unknown }
  | { readonly error: { readonly code: unknown; readonly message: unknown; readonly details: unknown } }

/** One way in, of a desk of its own. */
export type Door = (desk: Desk, operation: AnyOperation, input: Record<string, unknown>) => Promise<Said>

function refused({ code, message, details }: { code?: unknown; message?: unknown; details?: unknown }): Said {
  return { error: { code, message, details: details === undefined ? null : JSON.parse(JSON.stringify(details)) } }
}

/** The HTTP door draws a secret of its own when it is opened; what is drawn after it is to be the same for all. */
function drawAsHttp({ randomHex }: Desk['context']): void {
  randomHex(32)
}

/** The verb itself, as the library calls it, told as doors tell answers. */
const library: Door = async ({ context }, operation, input) => {
  drawAsHttp(context)
  try {
    return {
      answer: JSON.parse(JSON.stringify(atDoors(operation.output, await operation.call(context, input)) ?? null)),
    }
  } catch (error) {
    expect(error).toBeInstanceOf(BelfryError)
    return refused(error as BelfryError)
  }
}

/** Through the client, and what went over the wire for it. */
const http: Door = async (desk, operation, input) => {
  const { context, events } = desk
  const door = new HttpDoor({ context, events, version: '1' })
  let body: unknown
  const fetch = async (request: Request) => {
    const response = await door.fetch(request)
    body = await response.clone().json()
    return response
  }
  const client = new BelfryClient({ url: 'http://127.0.0.1:4747', token: desk.token, fetch })
  try {
    const answer = await client.call(operation, input)
    expect(JSON.parse(JSON.stringify(atDoors(operation.output, answer) ?? null))).toEqual(body)
    return { answer: body }
  } catch (error) {
    return refused(error as BelfryError)
  } finally {
    door.close()
  }
}

const mcp: Door = async ({ context }, operation, input) => {
  drawAsHttp(context)
  const client = await modelAt({ context: async () => context })
  const call = (args: Record<string, unknown>) => callTool(client, toolName(operation), { ...args, detail: 'full' })
  const first = await call(input)
  const isAsked = operation.effect === 'destructive' && first.isError !== true
  const said = isAsked ? await call({ ...input, confirm: factsOf(first).confirm }) : first
  await client.close()
  if (said.isError !== true) return { answer: withFractions(wholeOf(said)) }
  const { error, details } = wholeOf(said) as { error: { code: string }; details?: unknown }
  return refused({ ...error, details })
}

/** As somebody types it; the store is the desk's, whatever the folder. */
const cli: Door = async ({ context }, operation, input) => {
  drawAsHttp(context)
  const { paths, remove } = filesOf(operation, input)
  const [, ...typed] = shellWords(commandLine(operation, input, paths))
  const cut = typed.indexOf('--')
  const manners = ['--json', ...(operation.asksFirst === true ? ['--yes'] : [])]
  const idle =
    'target' in operation.input.shape &&
    input.target === undefined &&
    !commandLine(operation, input).includes('--target')
  const none = idle && operation.effect === 'write' && !operation.verb.includes('update') ? ['--target', 'null'] : []
  typed.splice(cut < 0 ? typed.length : cut, 0, ...none, ...manners)
  const [out, err] = [screen(), screen()]
  const world = {
    ...{
      env: { BELFRY_STORE: 'postgres://the-desk' },
      folder: context.folder,
      own: 'belfry',
      stdin: Object.assign(new PassThrough(), { isTTY: true }) as never,
    },
    ...{ stdout: out.stream, stderr: err.stream, clock: context.clock },
    open: async () =>
      storeSession(context, { close: async () => undefined, openPrivate: () => Promise.reject(new Error('none')) }),
    ...{ reach: () => expect.unreachable(), work: () => expect.unreachable(), model: () => expect.unreachable() },
  }
  await main(typed, world as never, '1')
  remove()
  const failed = /^\{"error":.*$/m.exec(err.text())
  return failed === null ? { answer: JSON.parse(out.text()) } : refused(JSON.parse(failed[0]).error)
}

function screen() {
  const parts: string[] = []
  const stream = Object.assign(new EventEmitter(), { isTTY: false, write: (text: string) => parts.push(text) > 0 })
  return { stream: stream as never, text: () => parts.join('') }
}

export const doors = { library, http, mcp, cli } as const

/** A token for the door that wants one. Every desk has it, so that all of them count their ids alike. */
export async function tokenFor(desk: Desk): Promise<string> {
  const { token } = await tokenOperations.create.call(desk.context, { name: desk.context.actor.name, scope: 'admin' })
  return token
}
