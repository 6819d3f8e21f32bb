import { readConfigFile } from '../../config/file.ts'
import { programsIn } from '../../config/programs.ts'
import { Trust, treeOf } from '../../config/trust.ts'
import { BelfryError } from '../../core/error.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { shortText } from '../../operations/schedule/plain-text.ts'
import { columns, indented } from './columns.ts'
import { configPath } from './config-path.ts'
import { placeOf } from './place.ts'
import { refuseServer, type ServerFlags } from './server.ts'
import { isColoured, paintOf, printable } from './sheet.ts'
import type { World } from './world.ts'

interface TrustFlags extends ServerFlags {
  readonly json?: true
  readonly file?: string
}

/** Long enough for whole command lines: what is cut off at the end of one is what somebody would hide there. */
const shownLengthMax = 4_000

/** Vouches for a file as it is now, and shows what that would start. */
export async function trust(given: Readonly<Record<string, unknown>>, world: World): Promise<number> {
  const flags = given as unknown as TrustFlags
  refuseServer('trust', 'A file is trusted on the machine that has it.', flags, world)
  const path = configPath(flags.file, placeOf(flags.store, world), world)
  const file = await readConfigFile(path)
  if (!file.isThere) {
    throw new BelfryError('not-found', `There is no file ${path}.`, { hint: 'Name it: belfry trust FILE' })
  }
  const programs = programsIn(file.document)
  const tree = treeOf(path)
  const own = new Trust(world.env)
  own.give(file)
  const { stdout, env } = world
  if (flags.json === true) {
    stdout.write(`${JSON.stringify({ file: path, hash: file.hash, tree, programs }, null, 2)}\n`)
    return exitOk
  }
  const paint = paintOf(isColoured(stdout, env))
  const rows = programs.map(({ where, what }) => [where, shortText(what, shownLengthMax)])
  const lines = [
    `${paint.green('trusted')} ${paint.bold(path)} as it is now; once it says something else, it needs this again`,
    ...(programs.length === 0
      ? ['  it starts no programs, uses no secrets and opens no doors']
      : [indented(columns(null, rows))]),
    ...(tree === null ? [] : ['  a worker that watches it applies it within half a minute; else: belfry apply']),
    ...(tree === null ? ['  it lies in no checked-out tree, so that it needed none'] : []),
  ]
  stdout.write(`${printable(lines.join('\n'))}\n`)
  return exitOk
}
