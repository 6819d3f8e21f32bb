import { realpathSync, watch } from 'node:fs'
import type { Clock } from '../../core/clock.ts'

/** Somebody else's write is to be noticed within 250 ms, also on a machine that is busy and where no change is told. */
const lookEveryMs = 100
/** A change is told when it is written, and can be seen when it is committed: how long after the one to look for the other. */
const looksAfterMs = [1, 1, 2, 4, 8, 16]
/**
 * Whoever hears of a write looks for himself, so others who write without a pause are heard of no oftener than this, once
 * they have been heard of a few times in a row.
 */
const restMs = 10
const hearingsInARow = 5

export interface Watched {
  readonly clock: Clock
  readonly changeMark: () => number
  readonly heard: () => void
  /** Calls back when the file may have changed, by whomever, as far as the system tells. The answer ends it. */
  readonly watch: (changed: () => void) => () => void
}

/**
 * Calls back when another connection has written to the file. It looks soon after the system says that something was written, and
 * again and again besides, because the system may not say so. A look costs some microseconds.
 */
export function listen({ clock, changeMark, heard, watch }: Watched): () => void {
  let mark = markOrNull(changeMark)
  /** When all rests that the hearings so far have earned are over. */
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

  /** What is told while it looks for the change before begins the looks anew, and delays none. */
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

/** A file that cannot be read may have changed: the worker that is woken for it reads it and gets the error. */
function markOrNull(changeMark: () => number): number | null {
  try {
    return changeMark()
  } catch {
    return null
  }
}

/** All that is written goes to the log first, which stays the same file for as long as a process has the store open. */
export function watchLog(file: string): Watched['watch'] {
  return (changed) => {
    try {
      // The log lies beside the file itself, and not beside a link to it.
      const watcher = watch(`${realpathSync(file)}-wal`, { persistent: false }, changed)
      watcher.on('error', () => watcher.close())
      return () => watcher.close()
    } catch {
      // There are file systems that cannot tell, users who may watch no more files, and files that have just been deleted.
      return () => undefined
    }
  }
}
