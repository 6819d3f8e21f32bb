import { BelfryError } from '../../../core/error.ts'
import { kinds } from '../../../kinds.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import { indented } from '../../../operations/show.ts'
import { targetInWords } from '../../../operations/target/target-in-words.ts'
import { listSchedules } from '../../../store/reads/find-schedule.ts'
import { kindOf } from '../../../targets/kind.ts'
import { type Stranger, strangersAt } from '../../../trust/strangers.ts'
import { treeOf } from '../../../trust/tree.ts'
import { TrustedStores } from '../../../trust/trusted-store.ts'
import { locateStore, refuseAbsentStore, type StoreLocation } from '../session/store-location.ts'
import { columns } from '../show/columns.ts'
import { isColoured, paintOf, printable } from '../show/terminal-sheet.ts'
import { spelled } from '../spelling/spelling.ts'
import type { World } from '../world.ts'

interface StoreFlags {
  readonly json?: true
  readonly file?: string
  readonly store?: string
  readonly namespace?: string
}

/** A schedule, and the program that it starts. */
interface Started {
  readonly name: string
  readonly what: string
}

const schedulesShownMax = 1_000

/**
 * Trusts a store: the users who can write it now, and its programs, although it is in a checked-out tree. The store is opened first, so
 * that a file that is not a store is not trusted.
 */
export async function trustStore({ json, file: other, store, namespace }: StoreFlags, world: World): Promise<number> {
  if (other !== undefined) {
    throw new BelfryError('invalid', 'A file and a store are both given.', { hint: 'Trust them one at a time.' })
  }
  const place = locateStore(store, world)
  const file = fileOf(place)
  // The store of this folder may be trusted before it is created; for a store that is named, a mistyped path would be
  // trusted silently.
  if (place.from !== 'nowhere') refuseAbsentStore(place, world.folder)
  const started = place.exists ? await opened(place, namespace, world) : []
  const strangers = strangersAt(file, { from: world.folder })
  new TrustedStores(world.env).give(file, strangers)
  const { stdout, env, own } = world
  if (json === true) {
    const told = { store: file, exists: place.exists, tree: treeOf(file), strangers, schedules: started }
    stdout.write(`${JSON.stringify(told, null, 2)}\n`)
    return exitOk
  }
  const paint = paintOf(isColoured(stdout, env))
  const lines = [`${paint.green('trusted')} the store ${paint.bold(file)}`, ...strangers.map(strangerInWords)]
  if (!place.exists)
    lines.push(`  it does not exist yet; ${spelled('belfry up', own, store === undefined ? {} : { store })} creates it`)
  else if (started.length === 0) lines.push('  none of its schedules starts a program now')
  else lines.push('  its schedules start:', indented(columns(null, rowsOf(started))))
  stdout.write(`${printable(lines.join('\n'))}\n`)
  return exitOk
}

function fileOf({ store }: StoreLocation): string {
  const [, file] = /^sqlite:(.+)$/.exec(store) ?? []
  if (file !== undefined) return file
  throw new BelfryError('invalid', 'Only a store in a file needs trust.', {
    hint: 'A store that --store or BELFRY_STORE names is used without trust.',
  })
}

/** Marks the store for this machine, and returns the programs that its schedules start. */
async function opened({ store }: StoreLocation, namespace: string | undefined, world: World): Promise<Started[]> {
  const named = namespace === undefined ? {} : { namespace }
  const { context, close } = await world.open({ store, ...named, mustExist: true, isTrusted: true })
  try {
    const schedules = await context.store.look(listSchedules, { limit: schedulesShownMax })
    return schedules
      .filter(({ spec }) => kindOf(spec.target, kinds)?.startsPrograms === true)
      .map(({ spec }) => ({ name: spec.name, what: targetInWords(spec.target, kinds) }))
  } finally {
    await close()
  }
}

function rowsOf(started: readonly Started[]): string[][] {
  return started.map(({ name, what }) => [name, what])
}

function strangerInWords({ path, user }: Stranger): string {
  return user === null ? `  every user of this machine can write ${path}` : `  ${path} belongs to user ${user}`
}
