import { applyRead, placeOfFile, type Trusting } from '../../config/apply-file.ts'
import { type ConfigFile, readConfigFile } from '../../config/file.ts'
import { isTrusted, Trust } from '../../config/trust.ts'
import { atDoors } from '../../operations/at-doors.ts'
import type { ConfigWritten } from '../../operations/config/apply.ts'
import { configOperations } from '../../operations/config/config.ts'
import type { OperationContext } from '../../operations/context.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { noteConfigFault } from '../../store/config-fault.ts'
import { configPath } from './config-path.ts'
import { type Place, placeOf, refuseForeignPlace, refuseStraySchema } from './place.ts'
import { withProgress } from './progress.ts'
import { refuseServer, type ServerFlags } from './server.ts'
import { isColoured, paintOf, printable } from './sheet.ts'
import { showConfigWritten } from './show/config.ts'
import { type Naming, spelled } from './spelling.ts'
import type { StoreOpening, World } from './world.ts'

interface ApplyFlags extends ServerFlags {
  readonly json?: true
  readonly dryRun?: true
  readonly yes?: true
  readonly adopt?: true
  readonly file?: string
}

/** Applies a file to a store, which is made if it is not there and the file is sound. */
export async function apply(
  given: Readonly<Record<string, unknown>>,
  { world, isJudged }: { readonly world: World; readonly isJudged: boolean },
): Promise<number> {
  const flags = given as unknown as ApplyFlags
  refuseServer('apply', 'A file is read and trusted on the machine that has it.', flags, world)
  const place = placeOf(flags.store, world)
  refuseForeignPlace(place, world)
  refuseStraySchema(place, flags.schema)
  const path = configPath(flags.file, place, world)
  const opening = openingOf(flags, place)
  const isRehearsal = flags.dryRun === true
  // Read once: what a shell hands over cannot be read again, and what is judged is what is applied.
  const file = await readConfigFile(path)
  const trust = new Trust(world.env, { found: flags.file === undefined ? path : null })
  const applied = (context: OperationContext) =>
    appliedBy(context, file, flags, isRehearsal || isJudged ? 'rehearsal' : { trust, judges: 'all' })
  // Where there is no store, a file that is refused makes none, and neither does a rehearsal.
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
    if (isRehearsal && !isTrusted(file, trust)) noteTrust(flags, world)
    return exitOk
  } finally {
    await session.close()
  }
}

function noteTrust(flags: ApplyFlags, { stderr, env, own }: World): void {
  const says = spelled('it is not applied before you trust what it starts: belfry trust', own, flags as Naming)
  stderr.write(`${paintOf(isColoured(stderr, env)).yellow('note:')} ${says}\n`)
}

function openingOf({ schema, namespace }: ApplyFlags, { store }: Place): StoreOpening {
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

interface Told {
  readonly written: ConfigWritten
  readonly flags: ApplyFlags
  readonly path: string
  readonly store: string
  readonly now: number
}

function tell({ written, flags, path, store, now }: Told, { stdout, env, own }: World): void {
  const spell = (command: string) => spelled(command, own, flags as Naming)
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(atDoors(configOperations.apply.output, written, spell), null, 2)}\n`)
    return
  }
  const sheet = { now, zone: 'UTC', paint: paintOf(isColoured(stdout, env)), spell }
  const told = { path, place: store.replace(/^sqlite:/, ''), isRehearsal: flags.dryRun === true }
  stdout.write(`${printable(showConfigWritten(written, sheet, told))}\n`)
}
