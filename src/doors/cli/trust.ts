import { applyRead } from '../../config/apply-file.ts'
import { type ConfigFile, readConfigFile } from '../../config/file.ts'
import { type Program, programsIn } from '../../config/programs.ts'
import { Trust } from '../../config/trust.ts'
import { BelfryError } from '../../core/error.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { shortText } from '../../operations/schedule/plain-text.ts'
import { treeOf } from '../../trust/tree.ts'
import { columns, indented } from './columns.ts'
import { configPath } from './config-path.ts'
import { ownPlaceOf, type Place } from './place.ts'
import { refuseServer, type ServerFlags } from './server.ts'
import { isColoured, paintOf, printable } from './sheet.ts'
import { spelled } from './spelling.ts'
import { trustStore } from './trust-store.ts'
import type { World } from './world.ts'

interface TrustFlags extends Omit<ServerFlags, 'store'> {
  readonly json?: true
  readonly file?: string
  /** The store that is named; `true` where the flag stands alone. */
  readonly store?: string | true
  /** Whether the store is to be trusted, and not a file. */
  readonly isOfStore: boolean
}

/** Long enough for whole command lines: what is cut off at the end of one is what somebody would hide there. */
const shownLengthMax = 4_000

/** Trusts a file as it is now, or the store, and shows what that would start. */
export async function trust(
  given: Readonly<Record<string, unknown>>,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const { store, ...flags } = given as unknown as TrustFlags
  const named = store === true ? undefined : store
  const naming = { ...flags, ...(named !== undefined && { store: named }) }
  refuseServer('trust', 'A file is trusted on the machine that has it.', naming, world)
  if (flags.isOfStore) return isJudged ? exitOk : trustStore(naming, world)
  return trustFile(naming, { world, isJudged })
}

async function trustFile(
  flags: Omit<TrustFlags, 'store'> & ServerFlags,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const place = ownPlaceOf(flags.store, world)
  const path = configPath(flags.file, place, world)
  const file = await readConfigFile(path)
  if (!file.isThere) {
    throw new BelfryError('not-found', `There is no file ${path}.`, { hint: 'Name it: belfry trust FILE' })
  }
  await refuseUnfit(file, { place, flags, world })
  if (isJudged) return exitOk
  const programs = programsIn(file.document)
  const tree = treeOf(path)
  const own = new Trust(world.env, { found: flags.file === undefined ? path : null })
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
    `${paint.green('trusted')} ${paint.bold(path)} for what it starts now; once it starts something else, it needs this again`,
    ...(programs.length === 0
      ? ['  it starts no programs, uses no secrets and opens no doors']
      : [indented(columns(null, rows))]),
    isAsked
      ? `  a worker that watches it applies it within half a minute; else: ${spelled('belfry apply', world.own, flags)}`
      : '  it lies in no checked-out tree, so that it needed none',
  ]
  stdout.write(`${printable(lines.join('\n'))}\n`)
  return exitOk
}

/** What else trust covers, a line each; the variables of an environment one by one, each with its value or its secret. */
function withOf(program: Program): string[] {
  return Object.entries(program.with).flatMap(([key, value]) => {
    if (key !== 'env' || typeof value !== 'object' || value === null) return [`${key}: ${JSON.stringify(value)}`]
    return Object.entries(value).map(([name, given]) => {
      const { secret } = (given ?? {}) as { readonly secret?: unknown }
      return `env ${name}: ${secret === undefined ? JSON.stringify(given) : `the secret ${secret}`}`
    })
  })
}

interface Around {
  readonly place: Place
  readonly flags: ServerFlags
  readonly world: World
}

/** What cannot be applied cannot be trusted. That it would delete much, or take over what was made by hand, is asked when it is applied. */
async function refuseUnfit(file: ConfigFile, { place, flags, world }: Around): Promise<void> {
  const { context, close } = await opened(place, flags, world)
  try {
    const on = { ...context, store: context.store.rehearsal() }
    await applyRead(on, file, { path: file.path, yes: true, adopt: true }, 'rehearsal')
  } finally {
    await close()
  }
}

/** The store that the file would be applied to; one in memory where there is none yet, since nothing is made here. */
async function opened({ store, exists }: Place, { schema, namespace }: ServerFlags, world: World) {
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
