import { parentPort, workerData } from 'node:worker_threads'
import { addCounts } from './coverage.ts'
import { Ground } from './ground.ts'
import { type Broken, live } from './life.ts'

/** Which seeds a lane lives through: from the first, every so many. */
export interface LaneSeeds {
  readonly first: number
  readonly end: number
  readonly stride: number
}

/** What a lane tells, now and then and at its end. */
export interface LaneNews {
  readonly seeds: number
  readonly steps: number
  readonly counts: readonly (readonly [string, number])[]
  readonly broken: readonly Broken[]
  readonly isOver: boolean
}

const newsEverySeeds = 20

async function liveThrough({ first, end, stride }: LaneSeeds): Promise<void> {
  const ground = await Ground.lay()
  let [seeds, steps, counts, broken] = [0, 0, new Map<string, number>(), [] as Broken[]]
  const tell = (isOver: boolean) => {
    parentPort?.postMessage({ seeds, steps, counts: [...counts], broken, isOver } satisfies LaneNews)
    ;[seeds, steps, counts, broken] = [0, 0, new Map(), []]
  }
  for (let seed = first; seed < end; seed += stride) {
    const told = await live(seed, ground)
    seeds++
    steps += told.steps
    addCounts(counts, told.counts)
    if (told.broken !== null) broken.push(told.broken)
    if (seeds === newsEverySeeds || told.broken !== null) tell(false)
  }
  tell(true)
  ground.close()
}

if (parentPort !== null) await liveThrough(workerData as LaneSeeds)
