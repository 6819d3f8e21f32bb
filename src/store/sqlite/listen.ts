import type { Clock } from '../../core/clock.ts'

/** Somebody else's write is to be noticed within 250 ms, on a machine that is busy as well. */
const lookEveryMs = 100

export interface Watched {
  readonly clock: Clock
  readonly changeMark: () => number
  readonly heard: () => void
}

/** Looks again and again whether somebody else has written to the file; a look costs some microseconds. */
export function listen({ clock, changeMark, heard }: Watched): () => void {
  let mark = markOrNull(changeMark)
  let takeBack = clock.after(lookEveryMs, look)

  function look(): void {
    takeBack = clock.after(lookEveryMs, look)
    const before = mark
    mark = markOrNull(changeMark)
    if (mark === null || mark !== before) heard()
  }
  return () => takeBack()
}

/** What cannot be looked at may have changed: whoever is woken for it asks the file himself, and is told what is wrong. */
function markOrNull(changeMark: () => number): number | null {
  try {
    return changeMark()
  } catch {
    return null
  }
}
