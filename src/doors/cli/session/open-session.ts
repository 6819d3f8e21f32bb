import { BelfryError } from '../../../core/error.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { contextInRun, isRunToken } from '../../mcp/in-run.ts'
import type { Typed } from '../parse/command-input.ts'
import { withoutPassword } from '../spelling/spelling.ts'
import type { Session, StoreOpening, StoreSession, World } from '../world.ts'
import { type NamedServer, reachFor, type ServerFlags, serverNamed } from './named-server.ts'
import {
  locateOwnStore,
  refuseAbsentStore,
  refuseForeignLocation,
  refuseStraySchema,
  type StoreLocation,
} from './store-location.ts'
import { storeSession } from './store-session.ts'

/** Where a command goes: to a server, or to a store. Known before anything is asked or opened. */
export type Destination = { readonly server: NamedServer } | { readonly server: null; readonly place: StoreLocation }

export function destinationOf(options: Typed['options'], world: Pick<World, 'env' | 'folder'>): Destination {
  const server = serverNamed(options as ServerFlags, world)
  return server === null ? { server, place: locateOwnStore(options.store as string | undefined, world) } : { server }
}

interface OpenRequest {
  readonly operation: AnyOperation
  readonly where: Destination
  readonly options: Typed['options']
}

export async function openFor({ where, ...asked }: OpenRequest, world: World): Promise<Session> {
  if (where.server === null) return asCaller(await openStoreFor({ ...asked, place: where.place }, world), world)
  const { tokenFile } = asked.options as { readonly tokenFile?: string }
  return reachFor(asked.operation, { named: where.server, tokenFile }, world)
}

/**
 * Opens the store for a verb. Without a store, a read is refused and creates none; a dry run uses a temporary store; and a command
 * that would create one is checked on a temporary store first, so that a refused command creates none either.
 */
async function openStoreFor(
  { operation, place, options }: Omit<OpenRequest, 'where'> & { readonly place: StoreLocation },
  world: World,
): Promise<StoreSession> {
  refuseStraySchema(place, options.schema as string | undefined)
  const opening = openingOf(place, options)
  if (operation.begins !== true) {
    refuseAbsentStore(place, world.folder)
    return world.open({ ...opening, mustExist: true })
  }
  const found = await openExisting(place, opening, world)
  if (found !== null) return found
  refuseForeignLocation(place, world)
  if (options.dryRun !== true) return world.open({ ...opening, isMadeLate: true })
  // The session describes the store that would be created.
  return { ...(await world.open({ store: 'memory:' })), place: withoutPassword(place.store).replace(/^sqlite:/, '') }
}

/** The session as its caller may use it: an agent in a run acts as that run, also where no server checks its token. */
async function asCaller(session: StoreSession, { env }: Pick<World, 'env'>): Promise<StoreSession> {
  const { BELFRY_TOKEN: token } = env
  if (!isRunToken(token)) return session
  try {
    const context = await contextInRun(session.context, token, 'cli')
    const { close, openPrivate, needsTrust } = session
    return storeSession(context, { close, openPrivate, ...(needsTrust && { needsTrust }) })
  } catch (error) {
    await session.close()
    throw error
  }
}

async function openExisting(place: StoreLocation, opening: StoreOpening, world: World): Promise<StoreSession | null> {
  if (!place.exists) return null
  try {
    return await world.open({ ...opening, mustExist: true })
  } catch (error) {
    if (error instanceof BelfryError && error.code === 'not-found') return null
    throw error
  }
}

function openingOf({ store, from }: StoreLocation, options: Typed['options']): StoreOpening {
  const { schema, namespace } = options as { schema?: string; namespace?: string }
  return {
    store,
    isFound: from === 'found',
    ...(schema !== undefined && { schema }),
    ...(namespace !== undefined && { namespace }),
  }
}
