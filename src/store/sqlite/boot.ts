import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { BelfryError } from '../../core/error.ts'
import { isProvenDead, ownIdentity, type ProcessIdentity } from '../workers/process-identity.ts'
import { openHandle, primaryCode, type SqliteHandle, sqliteCode } from './driver.ts'
import { pragmaInThread } from './thread.ts'

/** Older versions can corrupt a file in WAL mode when two connections checkpoint and commit together. */
export const versionMin = '3.51.3'

/** SQLite's locks and shared memory do not work across a network. The keys are Linux's file system numbers. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'a folder shared by VirtualBox'],
  [0xbacbacbc, 'a folder shared by VMware'],
  [0x7c7c6673, 'a folder shared by Parallels'],
])

/** The file and its folder, created for this user alone where they do not exist yet. */
export function prepareFile(path: string): string {
  const file = resolve(path)
  try {
    makeFolder(dirname(file))
    if (!existsSync(file)) makeFile(file)
    accessSync(file, constants.R_OK | constants.W_OK)
    accessSync(folderOf(file), constants.W_OK)
  } catch (error) {
    throw unwritable(file, error as Error)
  }
  if (!statSync(file).isFile()) {
    throw new BelfryError('unavailable', `${file} is not a file, so it cannot hold a store.`, {
      hint: 'Name a file, such as sqlite:./.belfry/belfry.db; it is created if it does not exist.',
    })
  }
  refuseNetwork(file, statfsSync(folderOf(file)).type)
  refuseEmpty(file)
  return file
}

/**
 * A store is never empty under its own name, not even while it is created: an empty file of that name is a truncated store, or
 * not ours. So an empty database is created under another name and linked to its own, which succeeds for only one of several
 * processes.
 */
function makeFile(file: string): void {
  const made = `${file}.new-${randomUUID()}`
  try {
    closeSync(openSync(made, 'w', 0o600))
  } catch (error) {
    // The error must name the store's own file.
    throw Object.assign(error as Error, { path: file })
  }
  try {
    const handle = openHandle(made)
    handle.exec('pragma journal_mode = wal')
    handle.close()
    giveName(made, file)
  } finally {
    for (const left of [made, `${made}-wal`, `${made}-shm`]) rmSync(left, { force: true })
  }
}

function giveName(made: string, file: string): void {
  try {
    linkSync(made, file)
  } catch (error) {
    // Another process was first. Or the file system has no links, or the name is a dangling link.
    if (!existsSync(file)) copyFileSync(made, file)
    else if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** SQLite would make a new database of this file, and delete a log beside it. */
function refuseEmpty(file: string): void {
  if (statSync(file).size > 0) return
  const hint = `If it was a store, restore it from a backup. If not, delete it with its log (rm ${basename(file)} ${basename(file)}-wal ${basename(file)}-shm); Belfry then creates a new store.`
  throw new BelfryError(
    'unavailable',
    `${file} is empty: it was truncated to 0 bytes, or another program created it.`,
    {
      hint,
      details: { damaged: true },
    },
  )
}

/**
 * Creates the folders level by level: Node's own recursive mkdir loops for ever where an existing folder reports ENOENT when
 * something is created in it, as /proc does.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have been first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Behind a link, SQLite keeps its log beside the file itself. */
function folderOf(file: string): string {
  return dirname(realpathSync(file))
}

export function unwritable(file: string, error: Error): BelfryError {
  if (sqliteCode(error) === primaryCode.ioError) return unreadable(file, error)
  const { reason, hint } = whyUnwritable(file, error)
  return new BelfryError('unavailable', `${file} cannot be opened for writing: ${reason}.`, { hint, cause: error })
}

/**
 * The disk failed, or a file beside the store does not fit it: a log that is deleted while a process uses the store leaves shared
 * memory that refers to pages that are gone.
 */
function unreadable(file: string, cause: Error): BelfryError {
  const real = realpathSync(file)
  const isLogLost = sizeOf(`${real}-wal`) === 0 && sizeOf(`${real}-shm`) > 0
  const log = ` Its log ${real}-wal is missing or empty; it may have been deleted while a process used the store.`
  const hint = isLogLost
    ? 'Stop every process that uses this store, then run belfry doctor --deep: the last writes may be missing.'
    : 'Check the system’s log for disk errors, then run belfry doctor --deep.'
  return new BelfryError('unavailable', `${file} cannot be opened: ${cause.message}.${isLogLost ? log : ''}`, {
    hint,
    cause,
  })
}

/** 0 if the file does not exist. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Reasons in words: the messages of the system and of SQLite help a person less. */
function whyUnwritable(file: string, error: Error): { reason: string; hint: string } {
  const { code, path = file, syscall } = error as NodeJS.ErrnoException
  const rights = 'Give this user the right to write the file and its folder, or name another store.'
  const verb = syscall === 'mkdir' ? 'make' : 'write'
  const denied = `this user may not ${verb} ${path === file ? 'it' : path}`
  if (code === 'EACCES' || code === 'EPERM') return { reason: denied, hint: rights }
  if (code === 'EROFS') return { reason: 'its file system is read-only', hint: 'Name a store on another disk.' }
  if (code === 'ENOTDIR') {
    const hint =
      'Name a file in a folder, such as sqlite:./.belfry/belfry.db; the folder is created if it does not exist.'
    return { reason: 'a part of its path is a file, not a folder', hint }
  }
  if (sqliteCode(error) === primaryCode.full) return { reason: error.message, hint: 'Make room on its disk.' }
  const isDenied = ([primaryCode.permission, primaryCode.readOnly] as (number | null)[]).includes(sqliteCode(error))
  return { reason: isDenied ? denied : error.message, hint: rights }
}

export function refuseNetwork(file: string, fileSystem: number): void {
  const name = networkFileSystems.get(fileSystem)
  if (name === undefined) return
  throw new BelfryError('unavailable', `${file} lies on a network file system (${name}), where SQLite can lose data.`, {
    hint: 'Put the store on a local disk, or use PostgreSQL when several machines must share it.',
  })
}

/** The network file system that holds a file, if any. */
export function networkFileSystem(file: string): string | undefined {
  return networkFileSystems.get(statfsSync(folderOf(file)).type)
}

export function refuseOldVersion(version: string): void {
  const [found, least] = [version, versionMin].map((text) => text.split('.').map(Number))
  for (const [index, part] of (least ?? []).entries()) {
    const mine = found?.[index] ?? 0
    if (mine > part) return
    if (mine < part) {
      throw new BelfryError(
        'unavailable',
        `SQLite ${version} can corrupt a store; ${versionMin} is the first version that does not.`,
        {
          hint: 'Install the dependencies that Belfry pins: npm ci.',
        },
      )
    }
  }
}

/** Sets what every connection needs, and refuses a file that cannot have it. */
export function configure(handle: SqliteHandle, file: string): void {
  refuseOldVersion(String(pragma(handle, 'select sqlite_version()')))
  const mode = pragma(handle, 'pragma journal_mode = wal')
  if (mode !== 'wal' && mode !== 'memory') {
    throw new BelfryError('unavailable', `${file} stays in journal mode ${mode}; Belfry needs write-ahead logging.`, {
      hint: 'Put the store on a file system with shared memory, usually a local disk.',
    })
  }
  handle.exec('pragma synchronous = full; pragma cache_size = -32768; pragma temp_store = memory')
}

function pragma(handle: SqliteHandle, text: string): unknown {
  return Object.values(handle.prepare(text).get() as object)[0]
}

const createOpeners = `create table if not exists opener (
  pid integer not null, started_at text not null, boot_id text not null, pid_namespace text not null,
  opening integer not null, primary key (pid, started_at, boot_id, pid_namespace, opening)) without rowid`

/** One opening of the file by one process. */
export interface Opening extends ProcessIdentity {
  readonly opening: number
}

let openings = 0

/**
 * Records that this process has the file open, and returns the processes that had it open and never closed it. A process of
 * another container may still be alive, so it counts only after a reboot or when it is proven dead.
 */
export function noteOpening(handle: SqliteHandle): { mine: Opening | null; leftOpen: Opening[] } {
  const own = ownIdentity()
  handle.exec(createOpeners)
  if (own === null) return { mine: null, leftOpen: [] }
  const rows = handle
    .prepare('select pid, started_at, boot_id, pid_namespace, opening from opener')
    .all() as OpenerRow[]
  const leftOpen = rows.map(openingOf).filter((other) => other.bootId !== own.bootId || isProvenDead(other, own))
  const mine = { ...own, opening: ++openings }
  handle.prepare('insert into opener values (?, ?, ?, ?, ?)').run(...keyOf(mine))
  return { mine, leftOpen }
}

export function forgetOpenings(handle: SqliteHandle, forgotten: readonly Opening[]): void {
  const forget = handle.prepare(
    'delete from opener where pid = ? and started_at = ? and boot_id = ? and pid_namespace = ? and opening = ?',
  )
  for (const one of forgotten) forget.run(...keyOf(one))
}

interface OpenerRow {
  readonly pid: number
  readonly started_at: string
  readonly boot_id: string
  readonly pid_namespace: string
  readonly opening: number
}

function openingOf(row: OpenerRow): Opening {
  const { pid, started_at: startedAt, boot_id: bootId, pid_namespace: pidNamespace, opening } = row
  return { pid, startedAt, bootId, pidNamespace, opening }
}

function keyOf({ pid, startedAt, bootId, pidNamespace, opening }: Opening): [number, string, string, string, number] {
  return [pid, startedAt, bootId, pidNamespace, opening]
}

/** Checks the whole file in a thread of its own. Returns the first damage. */
export async function damageIn(file: string): Promise<string | null> {
  const answer = await pragmaInThread(file, 'quick_check(1)')
  const said = 'error' in answer ? answer.error : answer.value
  return said === 'ok' ? null : said.replace('*** in database main ***', '').trim()
}

export async function checkIntegrity(file: string): Promise<void> {
  const problem = await damageIn(file)
  if (problem === null) return
  throw new BelfryError('unavailable', `${file} is damaged: ${problem}.`, {
    hint: 'Keep a copy of the file, then restore it from a backup; starting on it could lose more.',
    details: { damaged: true },
  })
}
