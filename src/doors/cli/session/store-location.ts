import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { refusal, refuse } from '../../../operations/input/refuse-input.ts'
import { isForeignStore, refuseForeignStore } from '../../../trust/trusted-store.ts'

/** The store of a command, and how it was found. */
export interface StoreLocation {
  /** The URL of the store: `sqlite:PATH`, `postgres://…` or `memory:`. */
  readonly store: string
  readonly from: 'flag' | 'environment' | 'found' | 'nowhere'
  /** Whether the file of a store exists; other stores are checked when they are opened. */
  readonly exists: boolean
  /** The folder that contains `secrets`. */
  readonly belfryFolder: string
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

const belfryFolder = '.belfry'
const fileName = 'belfry.db'

/** The store that is named, or the nearest one upwards from the folder, as git finds its repository. `DATABASE_URL` is ignored: it belongs to an application, and Belfry would create its tables there unasked. */
export function locateStore(flag: string | undefined, { env, folder }: Surroundings): StoreLocation {
  const found = foundUpwards(folder)
  const around = { env, folder, found }
  if (flag !== undefined) return named(flag, 'flag', around)
  const { BELFRY_STORE } = env
  if (BELFRY_STORE !== undefined && BELFRY_STORE !== '') return named(BELFRY_STORE, 'environment', around)
  const beside = found ?? join(folder, belfryFolder)
  refuseNoFolder(beside)
  const store = `sqlite:${join(beside, fileName)}`
  return { store, from: found === null ? 'nowhere' : 'found', exists: found !== null, belfryFolder: beside }
}

/** A file or pipe where the store's folder belongs: later steps would fail with unclear errors of the operating system. */
function refuseNoFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return
  throw new BelfryError('invalid', `${path} is not a folder, and the store needs a folder of that name.`, {
    hint: 'Move it away, or name a store with --store.',
    details: { path },
  })
}

/** The location as above, checked before use: a store that was found, and that another user can write, is refused. */
export function locateOwnStore(flag: string | undefined, around: Surroundings): StoreLocation {
  const place = locateStore(flag, around)
  if (place.from === 'found') refuseForeignLocation(place, around)
  return place
}

/** Refuses to create a store where another user could replace it: the next command would refuse it. */
export function refuseForeignLocation({ store, from }: StoreLocation, { env, folder }: Surroundings): void {
  if (from === 'flag' || from === 'environment') return
  refuseForeignStore(store.replace(/^sqlite:/, ''), { from: folder, env })
}

interface NamedIn extends Surroundings {
  readonly found: string | null
}

function named(store: string, from: StoreLocation['from'], around: NamedIn): StoreLocation {
  const [, path] = /^sqlite:(?!\/\/[^/])(.+)$/.exec(store) ?? []
  // A server URL after `sqlite:` is never meant as a path, and may contain a password.
  if (path === undefined || path.includes('://')) {
    if (!/^(postgres(ql)?:\/\/|memory:$)/.test(store)) throw unnamed(store, from)
    return { store, from, exists: true, belfryFolder: ownFolder(around) }
  }
  const file = resolve(around.folder, path)
  return { store: `sqlite:${file}`, from, exists: existsSync(file), belfryFolder: dirname(file) }
}

/** The folder with secrets and the token for a store without a file. A user who can write it chooses this worker's secrets and reads its token, so a folder that another user can write is ignored. */
function ownFolder({ env, folder, found }: NamedIn): string {
  if (found !== null && !isForeignStore(join(found, fileName), { from: folder, env })) return found
  return join(folder, belfryFolder)
}

/** Opening the store would report the same, without saying where the name came from. */
function unnamed(store: string, from: StoreLocation['from']): BelfryError {
  const path = store.replace(/^sqlite:\/*/, '')
  // A URL or connection string may contain a password: only its scheme is shown.
  const isPath = /^[^\s:=@?]+$/.test(path) && !path.includes('//')
  const shown = isPath ? store : `${/^[\w+.-]{1,20}:/.exec(store)?.[0] ?? ''}…`
  const meant = isPath && path !== '' ? `sqlite:${path}, if that was meant; ` : ''
  const problem = store === '' ? 'is empty' : `is ${JSON.stringify(shown)}, which is not a store`
  const expected = `${meant}sqlite:PATH, postgres://user:password@host:5432/database, or memory:`
  return refusal('The store', [{ field: from === 'flag' ? '--store' : 'BELFRY_STORE', problem, expected }])
}

/** The folder of the nearest store in a file. */
export function foundUpwards(folder: string): string | null {
  for (let here = resolve(folder); ; here = dirname(here)) {
    const candidate = join(here, belfryFolder)
    if (existsSync(join(candidate, fileName))) return candidate
    if (dirname(here) === here) return null
  }
}

/** Refuses to read a store that does not exist. Creating an empty one would tell a user in the wrong folder that nothing is scheduled. */
export function refuseAbsentStore({ exists, from, store }: StoreLocation, folder: string): void {
  if (store === 'memory:') {
    throw new BelfryError('not-found', 'A store in memory is empty when a command begins.', {
      hint: 'Name a persistent store: sqlite:PATH or postgres://….',
    })
  }
  if (exists) return
  const file = store.replace(/^sqlite:/, '')
  const named = from === 'environment' ? `at ${file}, which BELFRY_STORE names` : `at ${file}`
  throw new BelfryError('not-found', `There is no store ${from === 'nowhere' ? `in ${folder} or above it` : named}.`, {
    hint: 'Go to the folder of your store, or name it with --store; `belfry up` and the first `belfry schedule create` create one.',
    details: { store },
  })
}

/** A schema flag without PostgreSQL would be ignored silently. */
export function refuseStraySchema({ store }: StoreLocation, schema: string | undefined): void {
  if (schema === undefined || /^postgres(ql)?:/.test(store)) return
  const problem = 'is given, but only PostgreSQL has schemas'
  refuse('The store', [{ field: '--schema', problem, expected: '--store postgres://… beside it, or --namespace' }])
}
