import { createInterface } from 'node:readline'
import { BelfryError } from '../../core/error.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { partTokens } from '../../parts-face.ts'

/** Whether a token is that of a run, and not one that a person made. A damaged one counts too: its holder is no person. */
export function isRunToken(token: string | undefined): token is string {
  return token?.startsWith('belfry_r-') === true
}

/** The context of the agent that a token stands for. Asked at each call: the token ends with its run. */
export async function contextInRun(
  context: OperationContext,
  token: string,
  door: 'mcp' | 'cli' = 'mcp',
): Promise<OperationContext> {
  for (const knows of partTokens) {
    const known = await knows(context.store, token)
    if (known === null) continue
    if (typeof known === 'string') throw refused(known)
    const { scope, ...caller } = known
    return { ...context, actor: { ...caller, door }, scope }
  }
  throw refused('The token in BELFRY_TOKEN is not one of this store.')
}

function refused(message: string): BelfryError {
  return new BelfryError('unauthenticated', message, { hint: 'Belfry gives each run of an agent a token of its own.' })
}

export interface PassingOn {
  readonly url: string
  readonly token: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
}

/** Passes the requests of an agent on to the server that its run knows, until the agent closes its pipe. */
export async function passOn({ url, token, stdin, stdout }: PassingOn): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const asked = new Set<Promise<void>>()
  for await (const line of createInterface({ input: stdin })) {
    if (line.trim() === '') continue
    const passed = fetch(url, { method: 'POST', headers, body: line })
      .then((response) => response.text())
      .catch((error: unknown) => unanswered(line, error))
      .then((text) => void (text.trim() !== '' && stdout.write(`${text.trim()}\n`)))
      .finally(() => asked.delete(passed))
    asked.add(passed)
  }
  await Promise.all(asked)
}

/** A request that did not reach the server; a notification needs no answer. */
function unanswered(line: string, error: unknown): string {
  const { id } = JSON.parse(line) as { readonly id?: unknown }
  const message = `The server did not answer: ${error instanceof Error ? error.message : String(error)}.`
  return id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } })
}
