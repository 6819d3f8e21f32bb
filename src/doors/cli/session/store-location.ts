import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { refusal, refuse } from '../../../operations/input/refuse-input.ts'
import { isForeignStore, refuseForeignStore } from '../../../trust/trusted-store.ts'

/** Which store a command works on, and how it was found. */
export interface StoreLocation {
  /** As a store is opened: `sqlite:PATH`, `postgres://…` or `memory:`. */
  readonly store: string
  readonly from: 'flag' | 'environment' | 'found' | 'nowhere'
  /** Whether a store that lies in a file is there; others are asked when they are opened. */
  readonly exists: boolean
  /** Where `secrets` lies. */
  readonly belfryFolder: string
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

const belfryFolder = '.belfry'
const fileName = 'belfry.db'

/**
 * The store that is named, or the nearest one upwards from the folder, as git finds its own. `DATABASE_URL` is not
 * looked at: it belongs to somebody's application, and Belfry would make its tables there unasked.
 */
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

/** A file or a pipe where the folder of the store belongs: every step behind this would fail in words of the system. */
function refuseNoFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return
  throw new BelfryError('invalid', `${path} is no folder, and the store belongs in a folder of that name.`, {
    hint: 'Move it away, or name a store with --store.',
    details: { path },
  })
}

/** The same for whoever is about to use it: a store that was found, and that another user can write, is refused. */
export function locateOwnStore(flag: string | undefined, around: Surroundings): StoreLocation {
  const place = locateStore(flag, around)
  if (place.from === 'found') refuseForeignLocation(place, around)
  return place
}

/** Refuses to make a store where another user could put a different one in its place: the next command would refuse it. */
export function refuseForeignLocation({ store, from }: StoreLocation, { env, folder }: Surroundings): void {
  if (from === 'flag' || from === 'environment') return
  refuseForeignStore(store.replace(/^sqlite:/, ''), { from: folder, env })
}

interface NamedIn extends Surroundings {
  /** The nearest folder upwards with a store in it. */
  readonly found: string | null
}

function named(store: string, from: StoreLocation['from'], around: NamedIn): StoreLocation {
  const [, path] = /^sqlite:(?!\/\/[^/])(.+)$/.exec(store) ?? []
  // A URL of a server behind `sqlite:` is no path that anybody means, and may hold a password.
  if (path === undefined || path.includes('://')) {
    if (!/^(postgres(ql)?:\/\/|memory:$)/.test(store)) throw unnamed(store, from)
    return { store, from, exists: true, belfryFolder: ownFolder(around) }
  }
  const file = resolve(around.folder, path)
  return { store: `sqlite:${file}`, from, exists: existsSync(file), belfryFolder: dirname(file) }
}

/**
 * The folder with secrets and the token for a store that lies in no file. A user who can write that folder chooses the secrets of
 * this worker and reads its token, so that a folder that another user can write is passed over.
 */
function ownFolder({ env, folder, found }: NamedIn): string {
  if (found !== null && !isForeignStore(join(found, fileName), { from: folder, env })) return found
  return join(folder, belfryFolder)
}

/** Who opens a store would say the same, without knowing where the name came from. */
function unnamed(store: string, from: StoreLocation['from']): BelfryError {
  const path = store.replace(/^sqlite:\/*/, '')
  // Of what may be a URL or a list of settings, with a password in it, nothing is shown but what a URL begins with.
  const isPath = /^[^\s:=@?]+$/.test(path) && !path.includes('//')
  const shown = isPath ? store : `${/^[\w+.-]{1,20}:/.exec(store)?.[0] ?? ''}…`
  const meant = isPath && path !== '' ? `sqlite:${path}, if that was meant; ` : ''
  const problem = store === '' ? 'is empty' : `is ${JSON.stringify(shown)}, which names no store`
  const expected = `${meant}sqlite:PATH, postgres://user:password@host:5432/database, or memory:`
  return refusal('The store', [{ field: from === 'flag' ? '--store' : 'BELFRY_STORE', problem, expected }])
}

function foundUpwards(folder: string): string | null {
  for (let here = resolve(folder); ; here = dirname(here)) {
    const candidate = join(here, belfryFolder)
    if (existsSync(join(candidate, fileName))) return candidate
    if (dirname(here) === here) return null
  }
}

/**
 * A look at a store that is not there is refused. Making an empty one would tell somebody in the wrong folder that
 * nothing is scheduled.
 */
export function refuseAbsentStore({ exists, from, store }: StoreLocation, folder: string): void {
  if (store === 'memory:') {
    throw new BelfryError(
      'not-found',
      'A store in memory is empty whenever a command begins: there is nothing in it.',
      {
        hint: 'Name a store that lasts: sqlite:PATH or postgres://….',
      },
    )
  }
  if (exists) return
  const file = store.replace(/^sqlite:/, '')
  const named = from === 'environment' ? `at ${file}, which BELFRY_STORE names` : `at ${file}`
  throw new BelfryError('not-found', `There is no store ${from === 'nowhere' ? `in ${folder} or above it` : named}.`, {
    hint: 'Go to the folder of your store, or name it with --store; `belfry up` and the first `belfry schedule create` make one.',
    details: { store },
  })
}

/** A schema that nothing has would be dropped without a word. */
export function refuseStraySchema({ store }: StoreLocation, schema: string | undefined): void {
  if (schema === undefined || /^postgres(ql)?:/.test(store)) return
  const problem = 'is given, and only PostgreSQL has schemas'
  refuse('The store', [{ field: '--schema', problem, expected: '--store postgres://… beside it, or --namespace' }])
}
