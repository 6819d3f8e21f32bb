import { BelfryError } from '../../core/error.ts'
import type { Flags } from '../../doors/cli/part.ts'
import type { ServerFlags } from '../../doors/cli/session/named-server.ts'
import { locateOwnStore, type StoreLocation } from '../../doors/cli/session/store-location.ts'
import { columns } from '../../doors/cli/show/columns.ts'
import { isColoured, paintOf, printable } from '../../doors/cli/show/terminal-sheet.ts'
import { spelled } from '../../doors/cli/spelling/spelling.ts'
import type { World } from '../../doors/cli/world.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { shortText } from '../../operations/schedule/plain-text.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { indented } from '../../operations/show.ts'
import { treeOf } from '../../trust/tree.ts'
import { applyRead } from './apply-file.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import type { Known, Program } from './programs.ts'
import { Trust } from './trusted-files.ts'
import { configPath } from './worker-config.ts'

interface TrustFlags extends ServerFlags {
  readonly json?: true
  readonly file?: string
}

/** The shown length, enough for whole command lines: a malicious file could hide something behind a cut. */
const shownLengthMax = 4_000

/** Trusts a file at its current content, and shows what it would start. */
export async function trustFile(
  given: Flags,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const flags = given as TrustFlags
  const place = locateOwnStore(flags.store, world)
  const path = configPath(flags.file, place, world)
  const file = await readConfigFile(path)
  if (!file.isThere) {
    throw new BelfryError('not-found', `There is no file ${path}.`, { hint: 'Name the file: belfry trust FILE' })
  }
  const known = await refuseUnfit(file, { place, flags, world })
  if (isJudged) return exitOk
  const tree = treeOf(path)
  const own = new Trust(world.env, { ...known, found: flags.file === undefined ? path : null })
  const { programs } = own.programs(file)
  const isAsked = own.reasonToAsk(file) !== null
  own.give(file)
  const { stdout, env } = world
  if (flags.json === true) {
    stdout.write(`${JSON.stringify({ file: path, hash: file.hash, tree, programs }, null, 2)}\n`)
    return exitOk
  }
  const paint = paintOf(isColoured(stdout, env))
  const rows = programs.flatMap((program) => [
    [program.where, shortText(program.what, shownLengthMax)],
    ...withOf(program).map((line) => ['', `  ${shortText(line, shownLengthMax)}`]),
  ])
  const lines = [
    `${paint.green('trusted')} ${paint.bold(path)} at its current content; when it starts something else, trust it again`,
    ...(programs.length === 0
      ? ['  it starts no programs, uses no secrets and opens no doors']
      : [indented(columns(null, rows))]),
    isAsked
      ? `  a worker that watches it applies it within half a minute; without one: ${spelled(belfryCommand('apply', path), world.own, flags)}`
      : '  it is in no checked-out tree, so it needed no trust',
  ]
  stdout.write(`${printable(lines.join('\n'))}\n`)
  return exitOk
}

/** What else trust covers, one line each; environment variables with their value or secret. */
function withOf(program: Program): string[] {
  return Object.entries(program.with).flatMap(([key, value]) => {
    if (key !== 'env' || typeof value !== 'object' || value === null) return [`${key}: ${JSON.stringify(value)}`]
    return Object.entries(value).map(([name, given]) => {
      const { secret } = (given ?? {}) as { readonly secret?: unknown }
      return `env ${name}: ${secret === undefined ? JSON.stringify(given) : `the secret ${secret}`}`
    })
  })
}

interface TrustContext {
  readonly place: StoreLocation
  readonly flags: ServerFlags
  readonly world: World
}

/** A file that cannot be applied cannot be trusted. Deletions and takeovers are confirmed when it is applied. Returns what a file may contain. */
async function refuseUnfit(file: ConfigFile, { place, flags, world }: TrustContext): Promise<Known> {
  const { context, close } = await opened(place, flags, world)
  try {
    const on = { ...context, store: context.store.rehearsal() }
    await applyRead(on, file, { path: file.path, yes: true, adopt: true }, 'rehearsal')
    const { kinds, sections } = context
    return { kinds, sections }
  } finally {
    await close()
  }
}

/** The store that the file would be applied to, or one in memory: trusting creates no store. */
async function opened({ store, exists }: StoreLocation, { schema, namespace }: ServerFlags, world: World) {
  const memory = { store: 'memory:' }
  if (!exists) return world.open(memory)
  const named = { ...(schema !== undefined && { schema }), ...(namespace !== undefined && { namespace }) }
  try {
    return await world.open({ store, ...named, mustExist: true })
  } catch (error) {
    if (error instanceof BelfryError && error.code === 'not-found') return world.open(memory)
    throw error
  }
}
