import { readFileSync, statSync } from 'node:fs'
import { openHandle, type SqliteHandle } from './driver.ts'

/** Identifies a store that was created here, as opposed to a copy or one that came with a checkout: its creator, and its file. */
export interface Mark {
  readonly machine: string
  readonly user: string
  readonly device: string
  readonly inode: string
  /** When the file system created the file; `0` where that is unknown. */
  readonly born: string
}

const createTable = `create table if not exists mark (
  machine text not null, user text not null, device text not null, inode text not null, born text not null)`

/** The mark of a file as it is here now. */
export function ownMark(file: string): Mark {
  const { dev, ino, birthtimeNs } = statSync(file, { bigint: true })
  return {
    machine: machineId(),
    user: String(process.geteuid?.() ?? ''),
    device: String(dev),
    inode: String(ino),
    born: String(birthtimeNs),
  }
}

/** The id of this machine; empty in containers and on systems that have no id; there only the file is compared. */
function machineId(): string {
  for (const place of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      return readFileSync(place, 'utf8').trim()
    } catch {
      // Try the next path.
    }
  }
  return ''
}

/**
 * How a mark differs from this machine and file, in words; `null` if it does not. Many file systems get another device number at
 * each boot, so the creation time of the file may replace it.
 */
export function markDiffers(mark: Mark, own: Mark): string | null {
  if (mark.machine !== own.machine) return 'on another machine'
  if (mark.user !== own.user) return `by user ${mark.user}`
  const isSameDisk = mark.device === own.device || (mark.born === own.born && own.born !== '0')
  return mark.inode === own.inode && isSameDisk ? null : 'as another file, of which this is a copy'
}

/** Marks an empty file, which is being created here. Call it inside the transaction that makes the first table. */
export function markIfNew(handle: SqliteHandle, file: string): void {
  if (handle.prepare('select 1 from sqlite_master limit 1').get() === undefined) writeMark(handle, file)
}

/** Marks a file as trusted. */
export function giveMark(file: string): void {
  withHandle(file, (handle) => {
    handle.exec('begin immediate')
    writeMark(handle, file)
    handle.exec('commit')
  })
}

/** The marks of a store, one for each user who created or trusted it; none if the store is older than marks. */
export function marksIn(file: string): Mark[] {
  return withHandle(file, (handle) => {
    const table = handle.prepare(`select 1 from sqlite_master where type = 'table' and name = 'mark'`).get()
    if (table === undefined) return []
    return handle.prepare('select machine, user, device, inode, born from mark limit 100').all() as unknown as Mark[]
  })
}

function writeMark(handle: SqliteHandle, file: string): void {
  const { machine, user, device, inode, born } = ownMark(file)
  handle.exec(createTable)
  handle.prepare('delete from mark where machine = ? and user = ?').run(machine, user)
  handle.prepare('insert into mark values (?, ?, ?, ?, ?)').run(machine, user, device, inode, born)
}

/** Uses a handle of its own: only a store in a SQLite file has a mark, and PostgreSQL has none. */
function withHandle<Result>(file: string, work: (handle: SqliteHandle) => Result): Result {
  const handle = openHandle(file)
  try {
    // Other processes write for milliseconds at most, and there is nothing else to do yet.
    handle.exec('pragma busy_timeout = 5000')
    return work(handle)
  } finally {
    handle.close()
  }
}
