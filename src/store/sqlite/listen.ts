import { realpathSync, watch } from 'node:fs'
import type { Clock } from '../../core/clock.ts'

/** A write of another process must be noticed within 250 ms, even on a busy machine without file notifications. */
const lookEveryMs = 100
/**
 * The delays of the checks after a report: the system reports a change when it is written, but it is visible only when it is
 * committed.
 */
const looksAfterMs = [1, 1, 2, 4, 8, 16]
/**
 * A listener checks the store itself, so processes that write without a pause are reported no oftener than this, after a few
 * reports in a row.
 */
const restMs = 10
const hearingsInARow = 5

export interface Watched {
  readonly clock: Clock
  readonly changeMark: () => number
  readonly heard: () => void
  /**
   * Calls `changed` when the file may have changed, by any process, as far as the system reports it. Call the returned function
   * to stop.
   */
  readonly watch: (changed: () => void) => () => void
}

/**
 * Calls `heard` when another connection has written to the file. It checks soon after the system reports a change, and
 * periodically too, because the system may not report one. A check costs some microseconds.
 */
export function listen({ clock, changeMark, heard, watch }: Watched): () => void {
  let mark = markOrNull(changeMark)
  /** When the pauses after all reports so far are over. */
  let restedAt = Number.NEGATIVE_INFINITY
  let takeBackPoll = clock.after(lookEveryMs, poll)
  let takeBackNext: (() => void) | null = null
  let looks = 0

  function poll(): void {
    takeBackPoll = clock.after(lookEveryMs, poll)
    look()
  }

  function look(): boolean {
    const before = mark
    mark = markOrNull(changeMark)
    if (mark !== null && mark === before) return false
    restedAt = Math.max(restedAt, clock.monotonic()) + restMs
    heard()
    return true
  }

  /** A change that is reported during the checks restarts their sequence, and delays no check. */
  function changed(): void {
    looks = 0
    if (takeBackNext === null) lookNext()
  }

  function lookNext(): void {
    const afterMs = looksAfterMs[looks++]
    if (afterMs === undefined) return
    const restLeftMs = restedAt - (hearingsInARow - 1) * restMs - clock.monotonic()
    takeBackNext = clock.after(Math.max(afterMs, restLeftMs), () => {
      takeBackNext = null
      if (!look() || looks === 0) lookNext()
    })
  }

  const endWatch = watch(changed)
  return () => {
    endWatch()
    takeBackPoll()
    takeBackNext?.()
  }
}

/** A file that cannot be read may have changed: the woken worker reads it and gets the error. */
function markOrNull(changeMark: () => number): number | null {
  try {
    return changeMark()
  } catch {
    return null
  }
}

/** Every write goes to the log first, which stays the same file while a process has the store open. */
export function watchLog(file: string): Watched['watch'] {
  return (changed) => {
    try {
      // The log lies beside the file itself, and not beside a link to it.
      const watcher = watch(`${realpathSync(file)}-wal`, { persistent: false }, changed)
      watcher.on('error', () => watcher.close())
      return () => watcher.close()
    } catch {
      // Some file systems cannot watch, some users may watch no more files, and the file may have just been deleted.
      return () => undefined
    }
  }
}
