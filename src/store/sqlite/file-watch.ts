import { existsSync, realpathSync, statSync } from 'node:fs'
import type { Dials } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'

const lookEveryMs = 1_000

/**
 * Knows the file that a handle was opened on, and the log and the shared memory beside it. Once one of them is deleted or
 * replaced the handle goes on working, on a file that has no name any more: a worker would run for ever beside the store
 * that all others see, and write what no other process can read. Both stay the same files for as long as a process has the store
 * open, and the file itself is never empty then.
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

  /** Looks once a second; a look costs some microseconds. */
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

/** SQLite keeps both beside the file itself, and not beside a link to it. */
function filesOf(place: string): string[] {
  const file = existsSync(place) ? realpathSync(place) : place
  return [place, `${file}-wal`, `${file}-shm`]
}

function vanished(place: string): BelfryError {
  return new BelfryError('unavailable', `${place} was deleted or replaced while it was open here.`, {
    hint: 'Stop this process, and start it again on the store that is meant: what it writes here nobody can find.',
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
    hint: 'Stop every process that uses this store, then start them again and run belfry doctor --deep: what was written last may be missing.',
    details: { place, lost },
  })
}

/** What tells a file from another one of its name; null where there is none, as for a store in memory. */
function identityOf(place: string): string | null {
  const found = statSync(place, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
