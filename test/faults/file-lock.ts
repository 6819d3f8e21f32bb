import { readFileSync, statSync } from 'node:fs'

/** Where SQLite keeps the lock of whoever writes to a log, in the file beside it. */
const writeLockByte = 120

/**
 * Whether a process holds the lock under which SQLite writes to this file. Whoever is stopped there keeps everybody else out
 * until it goes on, and nothing but its end would help. Linux tells of it; elsewhere nobody knows, and nothing is said.
 */
export function holdsWriteLock(pid: number, file: string): boolean {
  try {
    const { ino } = statSync(`${file}-shm`)
    return isWriter(readFileSync('/proc/locks', 'utf8'), pid, ino)
  } catch {
    return false
  }
}

/** One lock a line: number, kind, mode, READ or WRITE, process, device and inode, first and last byte. */
export function isWriter(locks: string, pid: number, inode: number): boolean {
  return locks.split('\n').some((line) => {
    const [, kind, , mode, holder, place, first, last] = line.trim().split(/\s+/)
    const covers = Number(first) <= writeLockByte && (last === 'EOF' || writeLockByte <= Number(last))
    return (
      kind !== '->' && mode === 'WRITE' && Number(holder) === pid && place?.endsWith(`:${inode}`) === true && covers
    )
  })
}
