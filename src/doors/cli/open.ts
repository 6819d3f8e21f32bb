import { BelfryError } from '../../core/error.ts'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import type { Typed } from './given.ts'
import { type Place, refuseAbsentStore, refuseStraySchema } from './place.ts'
import type { Session, StoreOpening, World } from './world.ts'

/** The verbs that may be the first thing anybody does with a store. */
const begins: ReadonlySet<string> = new Set(['schedule create', 'schedule put', 'run enqueue', 'queue set'])

interface Asked {
  readonly operation: AnyOperation
  readonly input: unknown
  readonly place: Place
  readonly options: Typed['options']
}

/**
 * Opens the store that a verb works on. Where there is none, a look is refused and leaves none behind; a rehearsal is held
 * on a store that vanishes; and what would make one is judged there first, so that a refused command makes none either.
 */
export async function openFor({ operation, input, place, options }: Asked, world: World): Promise<Session> {
  refuseStraySchema(place, options.schema as string | undefined)
  const opening = openingOf(place, options)
  if (!begins.has(commandOf(operation).join(' '))) {
    refuseAbsentStore(place, world.folder)
    return world.open({ ...opening, mustExist: true })
  }
  const found = await openExisting(place, opening, world)
  if (found !== null) return found
  const vanishing = await world.open({ store: 'memory:' })
  if (options.dryRun === true) return vanishing
  await judge(operation, input, vanishing)
  return world.open(opening)
}

async function openExisting(place: Place, opening: StoreOpening, world: World): Promise<Session | null> {
  if (!place.exists) return null
  try {
    return await world.open({ ...opening, mustExist: true })
  } catch (error) {
    if (error instanceof BelfryError && error.code === 'not-found') return null
    throw error
  }
}

async function judge(operation: AnyOperation, input: unknown, { context, close }: Session): Promise<void> {
  try {
    await operation.call({ ...context, store: context.store.rehearsal() }, input)
  } finally {
    await close()
  }
}

function openingOf({ store }: Place, options: Typed['options']): StoreOpening {
  const { schema, namespace } = options as { schema?: string; namespace?: string }
  return { store, ...(schema !== undefined && { schema }), ...(namespace !== undefined && { namespace }) }
}
