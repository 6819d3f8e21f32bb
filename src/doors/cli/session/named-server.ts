import { basename } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { kinds } from '../../../kinds.ts'
import { namesOfTargets } from '../../../operations/fields/added-fields.ts'
import { isLoopback } from '../../../operations/input/listen-address.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { type AnyOperation, commandOf } from '../../../operations/operation.ts'
import { targetOf } from '../../../operations/target/target-input.ts'
import { isTokenText } from '../../../operations/token/token-secret.ts'
import { fields } from '../../../table.ts'
import { tokenFileAround, tokenFilesIn, tokenIn } from '../../http/token-file.ts'
import { Texts } from '../parse/read-value.ts'
import { isColoured, paintOf } from '../show/terminal-sheet.ts'
import type { Session, World } from '../world.ts'
import { locateOwnStore, type Surroundings } from './store-location.ts'

/** The flags that say where a command goes. */
export interface ServerFlags {
  readonly server?: string
  readonly tokenFile?: string
  readonly store?: string
  readonly schema?: string
  readonly namespace?: string
}

/** A server, and how it was named. */
export interface NamedServer {
  readonly url: string
  readonly said: '--server' | 'BELFRY_SERVER'
}

/** The server that is named, if any. A flag takes precedence over the environment, so `--store` overrides a server that only the environment names. Other store flags beside a server are refused: they are the server's own. */
export function serverNamed(flags: ServerFlags, { env }: Pick<Surroundings, 'env'>): NamedServer | null {
  const problems: Problem[] = []
  const fromEnvironment = flags.store === undefined && env.BELFRY_SERVER !== '' ? env.BELFRY_SERVER : undefined
  const text = flags.server ?? fromEnvironment
  const said = flags.server === undefined ? 'BELFRY_SERVER' : '--server'
  if (text === undefined) {
    const stray = { field: '--token-file', problem: 'is given without a server', expected: '--server URL beside it' }
    refuse('The command', flags.tokenFile === undefined ? [] : [stray])
    return null
  }
  for (const name of ['store', 'schema', 'namespace'] as const) {
    if (flags[name] === undefined) continue
    const expected = 'only one of them: a server has its own store, schema and namespace'
    problems.push({ field: `--${name}`, problem: `is given beside ${said}`, expected })
  }
  if (said === 'BELFRY_SERVER' && (env.BELFRY_STORE ?? '') !== '') {
    const expected = 'only one of the two; or add --server or --store to choose'
    problems.push({ field: said, problem: 'is set beside BELFRY_STORE', expected })
  }
  const url = addressOf(text, said, problems)
  refuse('The server', problems)
  return { url, said }
}

const example = 'http://127.0.0.1:4747'

function addressOf(text: string, field: string, problems: Problem[]): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const isBare = /^[\w.-]+(:\d+)?(\/[\w./~-]*)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(text)
    const meant = isBare ? `http://${/^\d+$/.test(text) ? `127.0.0.1:${text}` : text}, if that was meant; ` : ''
    // Text with an @ may contain a password.
    const problem = text === '' ? 'is empty' : text.includes('@') ? 'is not an address' : `is ${quoted(text)}`
    problems.push({ field, problem, expected: `${meant}an address such as ${example}` })
    return ''
  }
  if (url.username !== '' || url.password !== '') {
    const expected = `the address alone; a token is read from BELFRY_TOKEN or --token-file`
    problems.push({ field, problem: 'names a user', expected })
  } else if (url.search !== '' || url.hash !== '') {
    const expected = `the address alone, such as ${example}`
    // The text there may be a token.
    problems.push({ field, problem: 'has a query or fragment', expected })
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

interface FoundToken {
  readonly token: string
  /** Where it came from, as it is shown. */
  readonly from: string
}

/** The token for a server. There is no flag for it: command lines are visible to every user of the machine. */
function tokenFor({ url }: NamedServer, path: string | undefined, world: Pick<World, 'env' | 'stdin' | 'folder'>) {
  const found = path === undefined ? tokenAround(url, world) : tokenInFile(path, world)
  if (isTokenText(found.token)) return found
  throw new BelfryError('unauthenticated', `${found.from} does not contain a token.`, { hint: howToShowOne })
}

const howToShowOne =
  'Put a token into BELFRY_TOKEN, or name its file with --token-file. To create one, run `belfry --store STORE token create NAME` on the machine that has the store.'

function tokenInFile(path: string, world: Pick<World, 'stdin' | 'folder'>): FoundToken {
  const problems: Problem[] = []
  const found = new Texts(world).file('--token-file', path, problems)
  refuse('The command', problems)
  return { token: found?.text.trim() ?? '', from: path }
}

/** The token from the environment, or the one that `belfry up` has written here. That one is an admin token for this machine's store, so it is sent only to servers on this machine. */
function tokenAround(url: string, { env, folder }: Surroundings): FoundToken {
  const { BELFRY_TOKEN = '' } = env
  if (BELFRY_TOKEN !== '') return { token: BELFRY_TOKEN.trim(), from: 'BELFRY_TOKEN' }
  if (!isOfThisMachine(url)) {
    const message = `There is no token for ${url}; the token of this folder is sent only to servers on this machine.`
    throw new BelfryError('unauthenticated', message, { hint: howToShowOne })
  }
  const { belfryFolder } = locateOwnStore(undefined, { env, folder })
  const file = tokenFileAround(belfryFolder)
  const token = readable(file, () => tokenIn(file))
  const others = tokenFilesIn(belfryFolder).filter((name) => name !== basename(file))
  const beside = others.length === 0 ? '' : `; the token files of other namespaces are beside it: ${others.join(', ')}`
  if (token !== null) return { token, from: `${file}${beside}` }
  throw new BelfryError('unauthenticated', `There is no token for ${url}, and none in ${file}.`, { hint: howToShowOne })
}

function isOfThisMachine(url: string): boolean {
  return isLoopback({ host: new URL(url).hostname.replace(/^\[|\]$/g, '') })
}

/** A token that was read in transit works until it is revoked. */
function noteOpenWay({ url }: NamedServer, { stderr, env }: Pick<World, 'stderr' | 'env'>): void {
  if (url.startsWith('https:') || isOfThisMachine(url)) return
  const says = `${url} is not https, so the token can be read in transit.`
  stderr.write(`${paintOf(isColoured(stderr, env)).yellow('note:')} ${says}\n`)
}

function readable(file: string, read: () => string | null): string | null {
  try {
    return read()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new BelfryError('unauthenticated', `The token in ${file} cannot be read: ${code ?? message}.`, {
      hint: howToShowOne,
      cause,
    })
  }
}

/** The verbs of a server. A call that it cannot serve is refused before anything is sent. */
export async function reachFor(
  operation: AnyOperation,
  { named, tokenFile }: { readonly named: NamedServer; readonly tokenFile: string | undefined },
  world: World,
): Promise<Session> {
  const { http } = operation.doors
  if (http !== true && operation.compose === undefined) throw notOfServers(commandOf(operation).join(' '), http, named)
  const { token, from } = tokenFor(named, tokenFile, world)
  noteOpenWay(named, world)
  const session = await world.reach({ url: named.url, token })
  const told = (error: unknown) => {
    throw error instanceof BelfryError && error.code === 'unauthenticated' ? unknownToken(error, from) : error
  }
  return {
    ...session,
    call: (verb, input, how) => session.call(verb, placedHere(input, world.folder), how).catch(told) as never,
    now: () => session.now().catch(told) as never,
    standing: () => session.standing().catch(told) as never,
  }
}

/** Refuses a command that needs the store itself when a server is named. */
export function refuseServer(word: string, because: string, flags: ServerFlags, world: Surroundings): void {
  const named = serverNamed(flags, world)
  if (named !== null) throw notOfServers(word, because, named)
}

function notOfServers(words: string, because: string, { said }: NamedServer): BelfryError {
  const way = said === '--server' ? 'Leave out --server' : 'Name the store with --store, or unset BELFRY_SERVER,'
  return new BelfryError('invalid', `${words} does not work with a server. ${because}`, {
    hint: `${way} on a machine that can open the store.`,
  })
}

function unknownToken({ message, details }: BelfryError, from: string): BelfryError {
  const hint = `The token came from ${from}. ${howToShowOne}`
  return new BelfryError('unauthenticated', message, { hint, ...(details !== undefined && { details }) })
}

type Given = Readonly<Record<string, unknown>>

/** Relative programs and folders are resolved where they were typed, not where the server was started. */
function placedHere(input: unknown, folder: string): unknown {
  const given = placedIn((input ?? {}) as Given, folder)
  const { run } = given
  return isGiven(run) ? { ...given, run: placedIn(run, folder) } : given
}

/** The fields of parts that are targets. */
const targetFields = Object.values(fields).flatMap((each) => namesOfTargets(each))

/** An invalid target is passed on unchanged, because the server reports its problems. */
function placedIn(given: Given, folder: string): Given {
  const placed = ['target', ...targetFields].flatMap((field) => {
    const { target } = targetOf(given[field], { folder, kinds })
    return target === undefined ? [] : [[field, target]]
  })
  return { ...given, ...Object.fromEntries(placed) }
}

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
