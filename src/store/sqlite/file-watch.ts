import { existsSync, realpathSync, statSync } from 'node:fs'
import type { Dials } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'

const lookEveryMs = 1_000

/**
 * Watches the identity of the file, the log and the shared memory that a handle was opened on. If one of them is deleted or
 * replaced the handle keeps working on a file without a name: a worker would run for ever beside the store that all others see,
 * and write what no other process can read. All three stay the same files while a process has the store open, and the file itself
 * is never empty then.
 */
export class FileWatch {
  readonly #clock: Dials
  readonly #files: readonly { readonly path: string; readonly identity: string }[]
  #lookedAt: number

  constructor(place: string, clock: Dials) {
    this.#clock = clock
    this.#files = filesOf(place).flatMap((path) => {
      const identity = identityOf(path)
      return identity === null ? [] : [{ path, identity }]
    })
    this.#lookedAt = clock.monotonic()
  }

  /** Checks once a second; a check costs some microseconds. */
  refuseVanished(): void {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt < lookEveryMs) return
    const [file, ...beside] = this.#files
    if (file === undefined) return
    if (identityOf(file.path) !== file.identity) throw vanished(file.path)
    if (statSync(file.path).size === 0) throw emptied(file.path)
    const lost = beside.find(({ path, identity }) => identityOf(path) !== identity)
    if (lost !== undefined) throw vanishedBeside(file.path, lost.path)
    this.#lookedAt = now
  }
}

/** SQLite keeps the log and the shared memory beside the file itself, not beside a link to it. */
function filesOf(place: string): string[] {
  const file = existsSync(place) ? realpathSync(place) : place
  return [place, `${file}-wal`, `${file}-shm`]
}

function vanished(place: string): BelfryError {
  return new BelfryError('unavailable', `${place} was deleted or replaced while it was open here.`, {
    hint: 'Stop this process, and start it again on the right store: no other process can see what it writes here.',
    details: { place },
  })
}

function emptied(place: string): BelfryError {
  return new BelfryError('unavailable', `${place} was truncated to 0 bytes while it was open here.`, {
    hint: 'Stop every process that uses this store, restore the file from a backup, and start them again.',
    details: { place },
  })
}

function vanishedBeside(place: string, lost: string): BelfryError {
  return new BelfryError('unavailable', `${lost} was deleted or replaced while ${place} was open here.`, {
    hint: 'Stop every process that uses this store, then start them again and run belfry doctor --deep: the last writes may be missing.',
    details: { place, lost },
  })
}

/**
 * Identifies a file, as opposed to another file of the same name; null where there is no file, as for a store in
 * memory.
 */
function identityOf(place: string): string | null {
  const found = statSync(place, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
