import { openContestant } from '../contestants/all.mjs'
import { awaited } from '../work.mjs'

/** No-op jobs that lie ready: from `start` to the moment when the last end is written. */
export async function run(bench) {
  const count = bench.quick ? 5_000 : 20_000
  const tried = (settings) => (bench.quick ? settings.slice(0, 1) : settings)
  const entries = bench.present.flatMap((contestant) =>
    tried(contestant.settings).map((setting) => ({
      contestant,
      setting,
      beside: besideWhom(contestant),
      input: { count },
    })),
  )
  // Once is too little to compare by, however quick the run.
  return { count, rows: await bench.alternate(import.meta.url, entries, { rounds: Math.max(3, bench.rounds) }) }
}

/** Redis has no server of Belfry's to stand beside, so who uses it stands beside the embedded store. */
function besideWhom({ place }) {
  return place === 'postgres' ? 'PostgreSQL' : 'SQLite'
}

export async function child({ contestant, place, setting, count }) {
  const one = await openContestant({ ...contestant, place, setting })
  const fillStartedAt = performance.now()
  await one.fill(count)
  const fillMs = performance.now() - fillStartedAt
  const done = awaited()
  let left = count
  const ended = (some) => {
    left -= some
    if (left === 0) done.resolve()
  }
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await one.start({ began: () => undefined, ended })
  await done.promise
  await one.settled()
  const tookMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  await one.close()
  return {
    perSecond: (count / tookMs) * 1_000,
    enqueuedPerSecond: (count / fillMs) * 1_000,
    cpuMicrosecondsEach: (user + system) / count,
  }
}
