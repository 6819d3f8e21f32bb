import type { CountedRange } from './occurrences.ts'
import type { Grid } from './timing.ts'

export interface Stretch {
  readonly from: number
  /** The exclusive end. */
  readonly to: number
  /** How many of the oldest are listed one by one. */
  readonly listMax: number
}

export interface InstantsBetween {
  /** Nominal instants, oldest first. */
  readonly listed: readonly number[]
  /** The rest, which is only counted. */
  readonly beyond: CountedRange | null
}

/** A calendar can be counted only by walking it; this many steps take some ten milliseconds. */
const countedStepsMax = 50_000

/** The nominal instants in a stretch of time: the oldest one by one, and how many follow. */
export function instantsBetween(grid: Grid, { from, to, listMax }: Stretch): InstantsBetween {
  const listed: number[] = []
  let at = grid.atOrAfter(from)
  for (; at !== null && at < to && listed.length < listMax; at = grid.atOrAfter(at + 1)) listed.push(at)
  return { listed, beyond: at === null || at >= to ? null : counted(grid, at, to) }
}

function counted(grid: Grid, firstAt: number, to: number): CountedRange {
  if (grid.stepMs !== null) {
    const steps = Math.ceil((to - firstAt) / grid.stepMs) - 1
    return { from: firstAt, to: firstAt + steps * grid.stepMs, count: steps + 1, countIsAtLeast: false }
  }
  let last = firstAt
  for (let count = 1; count < countedStepsMax; count += 1) {
    const next = grid.atOrAfter(last + 1)
    if (next === null || next >= to) return { from: firstAt, to: last, count, countIsAtLeast: false }
    last = next
  }
  return { from: firstAt, to: last, count: countedStepsMax, countIsAtLeast: true }
}
