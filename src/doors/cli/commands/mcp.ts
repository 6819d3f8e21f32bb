import { BelfryError } from '../../../core/error.ts'
import { type Scope, scopes } from '../../../operations/caller-scope.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { partModels, partServers } from '../../../parts-face.ts'
import { contextInRun, isRunToken, passOn } from '../../mcp/in-run.ts'
import { chosenTools } from '../../mcp/tool-sets.ts'
import { refuseServer, type ServerFlags, serverNamed } from '../session/named-server.ts'
import { locateOwnStore, locateStore, refuseAbsentStore, refuseStraySchema } from '../session/store-location.ts'
import { spelled } from '../spelling/spelling.ts'
import type { StoreSession, World } from '../world.ts'

interface McpFlags extends ServerFlags {
  readonly scope?: string
  readonly readOnly?: true
  readonly tools?: string
}

/**
 * Serves an agent on stdin and stdout until it closes them. Such an agent reads untrusted text, so it may not start programs
 * unless a person allows it. A missing store does not end the server, because the agent would report only that its server
 * failed. Instead every call answers that the store is missing, until a call finds it.
 */
export async function mcp(
  given: Readonly<Record<string, unknown>>,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const { store, schema, ...flags } = given as unknown as McpFlags
  const problems: Problem[] = []
  const { BELFRY_TOKEN: token } = world.env
  const isInRun = isRunToken(token)
  const scope = scopeOf(flags, problems)
  const tools = chosenTools(flags.tools ?? (isInRun ? 'all' : undefined), { scope, field: '--tools', problems })
  const server = isInRun ? serverNamed(given as ServerFlags, world) : null
  if (server !== null && isInRun) {
    refuse('The server', problems)
    const { stdin, stdout } = world
    if (!isJudged) await passOn({ url: addressOf(server.url, flags.tools), token, stdin, stdout })
    return exitOk
  }
  const begun = await Promise.all(partModels.map(({ load }) => load()))
  const beside = begun.map((begin) => begin(given, problems, world))
  refuse('The server', problems)
  const offered = new Set([...tools, ...beside.flatMap((part) => part.tools ?? [])])
  refuseServer('mcp', 'Connect the agent to the /mcp route of the server.', given as ServerFlags, world)
  refuseStraySchema(locateStore(store, world), schema)
  if (isJudged) return exitOk
  const part = partServers.find(({ flag }) => given[flag] !== undefined)
  if (part !== undefined) return servePart(part, given as unknown as McpFlags, world)
  const { stdin, stdout, stderr } = world
  const start = startOf(given as unknown as McpFlags, world)
  const opening = new Opening(() => openStore(given as unknown as McpFlags, world))
  try {
    const { context } = await opening.session()
    for (const one of beside) await one.opened?.(context)
  } catch (error) {
    if (!(error instanceof BelfryError) || !mayComeLater.has(error.code)) throw error
    stderr.write(`belfry mcp: ${start.spelled(`${error.message} ${error.hint ?? ''}`)}\n`)
  }
  const onUnforeseen = (error: unknown) => {
    stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
  try {
    const session = async () => {
      const opened = await opening.session()
      return isInRun ? { ...opened, context: await contextInRun(opened.context, token) } : opened
    }
    const how = { scope, tools: offered, isInRun, start, stdin, stdout, onUnforeseen, beside }
    await world.model(session, how)
    return exitOk
  } finally {
    await Promise.all(beside.map((part) => part.close()))
    await opening.close()
  }
}

/** A part serves the model instead of the verbs, and needs the store for that. */
async function servePart(part: (typeof partServers)[number], given: McpFlags, world: World): Promise<number> {
  const session = await openStore(given, world)
  try {
    const { context } = session
    const asked = { ...context, actor: { ...context.actor, door: 'mcp' } }
    const { stdin, stdout } = world
    await (await part.load())(String((given as unknown as Record<string, unknown>)[part.flag]), {
      context: asked,
      stdin,
      stdout,
    })
    return exitOk
  } finally {
    await session.close()
  }
}

function addressOf(url: string, tools: string | undefined): string {
  return `${url}/mcp${tools === undefined ? '' : `?tools=${encodeURIComponent(tools)}`}`
}

function startOf({ scope, readOnly, tools, store, schema, namespace }: McpFlags, { own }: World) {
  const scopeFlag = scope === undefined ? (readOnly === true ? '--read-only' : undefined) : `--scope ${scope}`
  const naming = onlyGiven({ store, schema, namespace })
  return {
    door: 'pipes' as const,
    ...onlyGiven({ scopeFlag, tools }),
    spelled: (text: string) => spelled(text, own, naming),
  }
}

/** Errors that may be gone at the next call. A store of another user is refused at once: only a person can trust it. */
const mayComeLater: ReadonlySet<string> = new Set(['not-found', 'unavailable'])

/** A store that the first successful call opens. */
class Opening {
  readonly #open: () => Promise<StoreSession>
  #opened: Promise<StoreSession> | undefined

  constructor(open: () => Promise<StoreSession>) {
    this.#open = open
  }

  async session(): Promise<StoreSession> {
    this.#opened ??= this.#open()
    try {
      return await this.#opened
    } catch (error) {
      this.#opened = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    const session = await this.#opened?.catch(() => undefined)
    await session?.close()
  }
}

const comesLater =
  'Ask a person to run `belfry up` where the store should be, or to start this server with --store. Then call again; no restart is needed.'

async function openStore({ store, schema, namespace }: McpFlags, world: World): Promise<StoreSession> {
  const place = locateOwnStore(store, world)
  try {
    refuseAbsentStore(place, world.folder)
    const opening = { store: place.store, ...onlyGiven({ schema, namespace }) }
    return await world.open({ ...opening, mustExist: true })
  } catch (error) {
    if (!(error instanceof BelfryError) || error.code !== 'not-found') throw error
    throw new BelfryError('not-found', error.message, {
      hint: comesLater,
      ...onlyGiven({ details: error.details }),
      cause: error,
    })
  }
}

function scopeOf({ scope, readOnly }: Pick<McpFlags, 'scope' | 'readOnly'>, problems: Problem[]): Scope {
  const found = scopes.find((known) => known === (scope ?? (readOnly === true ? 'read' : 'operate')))
  if (found === undefined) {
    problems.push({ field: '--scope', problem: `is ${JSON.stringify(scope)}`, expected: `one of ${scopes.join(', ')}` })
  } else if (readOnly === true && found !== 'read') {
    problems.push({ field: '--scope', problem: `is ${found} beside --read-only`, expected: 'only one of the two' })
  }
  return found ?? 'admin'
}
