import { constants, setPriority } from 'node:os'
import { expect } from 'vitest'
import { addCounts, neverHappened } from '../../sim/coverage.ts'
import { Ground } from '../../sim/ground.ts'
import { live } from '../../sim/life.ts'
import { brokenText } from '../../sim/report.ts'

/** Where the seeds begin and how many there are, over all files; both can be set, to look elsewhere or longer. */
const firstSeed = Number(process.env.BELFRY_SEED ?? 0)
const seedsInAll = Number(process.env.BELFRY_SEEDS ?? 2_000)

/** A thousand histories take some 40 s of a core; a machine that is busy otherwise, or more seeds, take longer. */
export const patienceMs = 1_800_000

/** Each file takes its half, so that one that breaks is told soon. */
export function half(index: 0 | 1): { readonly from: number; readonly count: number } {
  const count = Math.ceil(seedsInAll / 2)
  return { from: firstSeed + index * count, count }
}

/** Lives through seeds, one history after the other; the first that breaks is told with its last steps. */
export async function expectAllHold({ from, count }: { from: number; count: number }): Promise<void> {
  // Whatever runs beside it may measure itself, and this has all the time there is.
  setPriority(constants.priority.PRIORITY_LOW)
  const ground = await Ground.lay()
  const counts = new Map<string, number>()
  for (let seed = from; seed < from + count; seed++) {
    const life = await live(seed, ground)
    if (life.broken !== null) expect.fail(brokenText(life.broken))
    expect(life.steps).toBeGreaterThanOrEqual(200)
    addCounts(counts, life.counts)
  }
  ground.close()
  if (count >= 500) expect(neverHappened(counts)).toEqual([])
}
