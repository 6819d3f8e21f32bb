import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openContestant } from '../contestants/all.mjs'

const workers = 4
const resolutionMs = 1

/** How long the event loop of a program stands still while four of its kind work on one SQLite file. */
export async function run(bench) {
  const count = bench.quick ? 5_000 : 20_000
  const contestant = { name: 'Belfry (SQLite)', module: 'belfry.mjs', place: 'sqlite' }
  const setting = { name: `${workers} worker processes on one file` }
  const entry = { contestant, setting, input: { count } }
  const once = (_, place) => together(bench, { contestant, setting, place, count })
  const [row] = await bench.alternate(import.meta.url, [entry], { once })
  return { count, workers, rows: [row] }
}

async function together(bench, input) {
  await bench.child(import.meta.url, { ...input, role: 'filler' })
  const children = Array.from({ length: workers }, () =>
    bench.startChild(import.meta.url, { ...input, role: 'worker' }),
  )
  try {
    await Promise.all(children.map((child) => child.hear()))
    const from = performance.now()
    for (const child of children) child.say('start')
    await allEnded(children, input.count)
    const tookMs = performance.now() - from
    for (const child of children) child.say('end')
    const figures = await Promise.all(children.map(({ result }) => result))
    return {
      perSecond: (input.count / tookMs) * 1_000,
      p99Ms: Math.max(...figures.map(({ p99Ms }) => p99Ms)),
      maxMs: Math.max(...figures.map(({ maxMs }) => maxMs)),
      leastEnded: Math.min(...figures.map(({ ended }) => ended)),
    }
  } finally {
    for (const child of children) child.end()
    await Promise.all(children.map(({ gone }) => gone))
  }
}

async function allEnded(children, count) {
  const ended = children.map(() => 0)
  const listen = async (child, index) => {
    while (ended.reduce((sum, some) => sum + some, 0) < count) ended[index] += await child.hear()
  }
  await Promise.race(children.map(listen))
}

export async function child({ contestant, place, setting, count, role }, link) {
  const one = await openContestant({ ...contestant, place, setting })
  if (role === 'filler') await one.fill(count)
  const figures = role === 'filler' ? null : await work(one, link)
  await one.close()
  return figures
}

async function work(one, link) {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  let ended = 0
  let told = 0
  const tell = setInterval(() => {
    if (ended > told) link.say(ended - told)
    told = ended
  }, 5)
  link.say(0)
  await link.hear()
  delay.enable()
  await one.start({ began: () => undefined, ended: (some) => (ended += some) })
  await link.hear()
  delay.disable()
  clearInterval(tell)
  const beyond = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolutionMs)
  return { p99Ms: beyond(delay.percentile(99)), maxMs: beyond(delay.max), ended }
}
