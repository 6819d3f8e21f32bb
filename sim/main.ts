import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { conditionsSince, writeFigures } from '../scripts/figures.mjs'
import { addCounts, coverageSeedsMin, neverHappened } from './coverage.ts'
import { Ground } from './ground.ts'
import type { LaneNews, LaneSeeds } from './lane.ts'
import { live } from './life.ts'
import { brokenText, countsShown, countsText, saveBroken } from './report.ts'

const usage = `npm run sim -- --seeds N [--from S] [--workers 2] [--json FILE]   live through N histories
npm run sim -- --seed N                                          live through one, and show its last steps`

const seedsFolder = 'sim/seeds'
const brokenMax = 5
const progressMs = 1_000

interface Asked {
  readonly seed: number | null
  readonly seeds: number
  readonly from: number
  readonly workers: number
  readonly json: string | undefined
}

function asked(): Asked {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string', default: '2000' },
      from: { type: 'string', default: '0' },
      workers: { type: 'string', default: '2' },
      json: { type: 'string' },
    },
  })
  const number = (name: 'seed' | 'seeds' | 'from' | 'workers') => {
    const value = Number(values[name])
    if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is ${values[name]}.\n${usage}`)
    return value
  }
  const seed = values.seed === undefined ? null : number('seed')
  const workers = Math.max(1, number('workers'))
  return { seed, seeds: number('seeds'), from: number('from'), workers, json: values.json }
}

/** One history; answers whether it held. */
async function replay(seed: number): Promise<boolean> {
  const ground = await Ground.lay()
  const { steps, hash, counts, broken } = await live(seed, ground)
  ground.close()
  if (broken !== null) console.log(brokenText(broken))
  console.log(countsText(counts))
  console.log(`seed ${seed}: ${steps} steps, history ${hash}, ${broken === null ? 'all held' : 'broken'}`)
  return broken === null
}

interface Sum {
  seeds: number
  steps: number
  broken: number
  readonly counts: Map<string, number>
}

/** Many histories, each lane its share of the seeds; answers whether all held and everything happened. */
async function liveThrough({ seeds, from, workers, json }: Asked): Promise<boolean> {
  const sum: Sum = { seeds: 0, steps: 0, broken: 0, counts: new Map() }
  const began = new Date()
  const startedAt = performance.now()
  const rate = () => Math.round(sum.seeds / ((performance.now() - startedAt) / 1_000))
  const progress = setInterval(() => {
    console.log(`${sum.seeds} of ${seeds} seeds, ${rate()}/s, ${sum.steps} steps, ${sum.broken} broken`)
  }, progressMs)
  const lanes = Array.from({ length: workers }, (_, index) => {
    return runLane({ first: from + index, end: from + seeds, stride: workers }, (news) => take(sum, news))
  })
  await Promise.all(lanes).finally(() => clearInterval(progress))
  console.log(countsText(sum.counts))
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${sum.seeds} seeds from ${from} in ${seconds} s (${rate()}/s), ${sum.steps} steps, ${sum.broken} broken`)
  if (json !== undefined) {
    const counts = Object.fromEntries(countsShown(sum.counts))
    writeFigures(json, { conditions: conditionsSince(began), from, ...sum, counts })
  }
  const missing = seeds < coverageSeedsMin ? [] : neverHappened(sum.counts)
  if (missing.length > 0) console.log(`The workload has lost something: ${missing.join(', ')} never happened.`)
  return sum.broken === 0 && missing.length === 0
}

function take(sum: Sum, { seeds, steps, counts, broken }: LaneNews): void {
  sum.seeds += seeds
  sum.steps += steps
  addCounts(sum.counts, counts)
  for (const one of broken) {
    if (++sum.broken <= brokenMax) console.log(`${brokenText(one)}\nsaved as ${saveBroken(seedsFolder, one)}`)
    else console.log(`seed ${one.seed} broke at step ${one.step}: ${one.invariant}`)
  }
}

function runLane(seeds: LaneSeeds, heard: (news: LaneNews) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const lane = new Worker(new URL('./lane.js', import.meta.url), { workerData: seeds })
    lane.on('message', (news: LaneNews) => {
      heard(news)
      if (news.isOver) resolve()
    })
    lane.on('error', reject)
    lane.on('exit', (code) => reject(new Error(`A lane ended with ${code} before its seeds.`)))
  })
}

const given = asked()
process.exitCode = (await (given.seed === null ? liveThrough(given) : replay(given.seed))) ? 0 : 1
