import { refuseServer, type ServerFlags } from '../../doors/cli/session/named-server.ts'
import {
  locateStore,
  refuseForeignLocation,
  refuseStraySchema,
  type StoreLocation,
} from '../../doors/cli/session/store-location.ts'
import { withProgress } from '../../doors/cli/show/progress.ts'
import { isColoured, paintOf, printable, TerminalSheet } from '../../doors/cli/show/terminal-sheet.ts'
import { type Naming, spelled } from '../../doors/cli/spelling/spelling.ts'
import type { StoreOpening, World } from '../../doors/cli/world.ts'
import { exitOk } from '../../operations/error-codes.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { atDoors } from '../../operations/schema/answer-encoding.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { applyRead, placeOfFile, type Trusting } from './apply-file.ts'
import { apply as applyOperation, type ConfigWritten } from './apply-operation.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { noteConfigFault } from './read-configs.ts'
import { showConfigWritten } from './show.ts'
import { isTrusted, Trust } from './trusted-files.ts'
import { configPath } from './worker-config.ts'

interface ApplyFlags extends ServerFlags {
  readonly json?: true
  readonly dryRun?: true
  readonly yes?: true
  readonly adopt?: true
  readonly file?: string
}

/** Applies a file to a store, which is created if it does not exist and the file is valid. */
export async function apply(
  given: Readonly<Record<string, unknown>>,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const flags = given as unknown as ApplyFlags
  refuseServer('apply', 'Apply a file on the machine that has it.', flags, world)
  const place = locateStore(flags.store, world)
  refuseForeignLocation(place, world)
  refuseStraySchema(place, flags.schema)
  const path = configPath(flags.file, place, world)
  const opening = openingOf(flags, place)
  const isRehearsal = flags.dryRun === true
  // Read once: a pipe cannot be read again, and the checked text must be the applied one.
  const file = await readConfigFile(path)
  const trustBy = ({ kinds, sections }: OperationContext) =>
    new Trust(world.env, { kinds, sections, found: flags.file === undefined ? path : null })
  const applied = (context: OperationContext) =>
    appliedBy(context, file, flags, isRehearsal || isJudged ? 'rehearsal' : { trust: trustBy(context), judges: 'all' })
  // Without a store, a refused file creates none, and neither does a dry run.
  if (!place.exists || isJudged) await onStore(world, { store: 'memory:' }, applied)
  if (isJudged) return exitOk
  const session = await withProgress(
    world,
    'opening the store',
    world.open(isRehearsal && !place.exists ? { store: 'memory:' } : opening),
  )
  try {
    const { context } = session
    const own = isRehearsal ? { ...context, store: context.store.rehearsal() } : context
    const written = await applied(own)
    if (!isRehearsal) await context.store.do(noteConfigFault, placeOfFile(path), null)
    tell(
      { written, flags, path, store: place.exists ? context.store.place : place.store, now: context.clock.now() },
      world,
    )
    if (isRehearsal && !isTrusted(file, trustBy(context))) noteTrust(path, flags, world)
    return exitOk
  } finally {
    await session.close()
  }
}

function noteTrust(path: string, flags: ApplyFlags, { stderr, env, own }: World): void {
  const command = spelled(belfryCommand('trust', path), own, flags as Naming)
  const says = `the file is not applied until you trust what it starts: ${command}`
  stderr.write(`${paintOf(isColoured(stderr, env)).yellow('note:')} ${says}\n`)
}

function openingOf({ schema, namespace }: ApplyFlags, { store }: StoreLocation): StoreOpening {
  return { store, ...(schema !== undefined && { schema }), ...(namespace !== undefined && { namespace }) }
}

async function onStore(world: World, opening: StoreOpening, act: (context: OperationContext) => Promise<unknown>) {
  const { context, close } = await world.open(opening)
  try {
    await act({ ...context, store: context.store.rehearsal() })
  } finally {
    await close()
  }
}

function appliedBy(context: OperationContext, file: ConfigFile, { yes, adopt }: ApplyFlags, trusting: Trusting) {
  const request = { path: file.path, ...(yes === true && { yes }), ...(adopt === true && { adopt }) }
  return applyRead(context, file, request, trusting)
}

interface AppliedFile {
  readonly written: ConfigWritten
  readonly flags: ApplyFlags
  readonly path: string
  readonly store: string
  readonly now: number
}

function tell({ written, flags, path, store, now }: AppliedFile, { stdout, env, own }: World): void {
  const spell = (command: string) => spelled(command, own, flags as Naming)
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(atDoors(applyOperation.output, written, spell), null, 2)}\n`)
    return
  }
  const isRehearsal = flags.dryRun === true
  const place = store.replace(/^sqlite:/, '')
  const sheet = new TerminalSheet({
    now,
    zone: 'UTC',
    paint: paintOf(isColoured(stdout, env)),
    place,
    isRehearsal,
    spell,
  })
  stdout.write(`${printable(showConfigWritten(written, sheet, path))}\n`)
}
