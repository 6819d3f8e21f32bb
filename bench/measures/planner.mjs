// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { setTimeout as sleep } from 'node:timers/promises'
import { readRules } from '../../dist/core/rule-form.js'
import { Belfry } from '../../dist/index.js'
import { openStore } from '../../dist/open-store.js'
import { dueLooks } from '../../dist/parts/planner/looks/look-rows.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { all, both } from '../../dist/store/statement.js'
import { registerWorker } from '../../dist/store/workers/register-worker.js'
import { percentile } from '../figures.mjs'

const actor = { name: 'bench', door: 'bench' }
const schedules = 6_000
/** The first ends of a process run before V8 has optimised their code, with rules and without: they are not counted. */
const warmUp = 3_000
const hinted = 50

/** Due looks among few and many schedules, the ends of runs with and without rules, and what a hint starts, by turns. */
export async function run(bench) {
  const sizes = bench.quick ? [1_000, 20_000] : [1_000, 100_000]
  const inputs = {
    ...Object.fromEntries(sizes.map((size) => [`due looks among ${size.toLocaleString('en')}`, { looks: size }])),
    'ends without rules': { rules: false },
    'ends with a rule': { rules: true },
    'hint to start': { hints: hinted },
  }
  const entries = ['sqlite', 'postgres'].flatMap((place) =>
    Object.entries(inputs).map(([name, input]) => ({
      contestant: { name: 'Belfry', place },
      setting: { name },
      input,
      database: place,
    })),
  )
  const rounds = bench.quick ? 3 : Math.max(9, bench.rounds)
  return { schedules, warmUp, hinted, sizes, rows: await bench.alternate(import.meta.url, entries, { rounds }) }
}

export async function child({ place, looks, rules, hints }) {
  if (hints !== undefined) return { ms: await hintToStart(place, hints) }
  const belfry = await Belfry.open({ store: place.store, log: false })
  await belfry.queues.set('default', { maxConcurrent: 1_000 })
  await belfry.close()
  const store = await openStore(place.store)
  const measured =
    looks === undefined ? { perSecond: await endsPerSecond(store, rules) } : { ms: await millisToFind(store, looks) }
  await store.close()
  return measured
}

const fill = both(
  'bench fill looks',
  `insert into belfry.planner_look (schedule_id, ns, look_at, fails)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < $2) select i, $1, i, 0 from n`,
)

/** How long it takes to find the 100 looks that are due. */
async function millisToFind(store, size) {
  await store.do(function* fillLooks({ ns }) {
    yield* all(fill, ns, size)
  })
  const took = []
  for (let round = 0; round < 200; round += 1) {
    const from = performance.now()
    await store.look(dueLooks, size, 100)
    took.push(performance.now() - from)
  }
  return percentile(took, 0.5)
}

/** How many ends of occurrences are written in a second, a hundred at a time. */
async function endsPerSecond(store, hasRules) {
  const rules = readRules(
    [{ name: 'surge', when: { depth: { above: 200 } }, runs: 3, then: { every: '30s' } }],
    'rules',
    [],
  )
  for (let index = 0; index < schedules; index += 1) {
    const spec = {
      name: `s${index}`,
      timing: { everyMs: 3_600_000 },
      startNow: true,
      target: { handler: 'a' },
      ...(hasRules && { rules }),
    }
    await store.do(putSchedule, spec, { mode: 'put', actor })
    // Fired while they are in time: what is a minute late is missed, and missed ones are spread.
    if (index % 100 === 99) await store.fireDue({ limit: 100 })
  }
  const can = { kinds: ['handler'], host: true }
  const workerId = await store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
  let spentMs = 0
  for (let ended = 0; ended < schedules; ) {
    const { leases } = await store.lease({ queue: 'default', workerId, claimId: `c${ended}`, can, limit: 100 })
    if (leases.length === 0) throw new Error(`only ${ended} occurrences were there to end`)
    const ends = leases.map(({ runId, fence, scheduleId }) => ({
      runId,
      fence,
      scheduleId,
      outcome: { kind: 'success' },
      result: { depth: 10 },
    }))
    const from = performance.now()
    await store.settle(ends)
    if (ended >= warmUp) spentMs += performance.now() - from
    ended += ends.length
  }
  return ((schedules - warmUp) / spentMs) * 1_000
}

/** From the commit of a hint for an interval that has passed already to the start of the run, in a process that is a worker. */
async function hintToStart(place, count) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  await belfry.queues.set('default', { maxConcurrent: 100 })
  const started = new Map()
  const names = Array.from({ length: count }, (_, index) => `h-${index}`)
  const first = names.map((name) => {
    const { promise, resolve } = withResolvers()
    started.set(name, resolve)
    belfry.handle(name, () => started.get(name)(performance.now()))
    return promise
  })
  for (const name of names) {
    await belfry.schedules.put({ name, every: '1h', startNow: true, target: { handler: name } })
  }
  await belfry.start()
  await Promise.all(first)
  // The interval of the hints is over, so that each starts its run at once.
  await sleep(1_500)
  const took = []
  for (const name of names) {
    const start = new Promise((resolve) => started.set(name, resolve))
    await belfry.schedules.hint(name, { every: '1s', ttl: '10m', reason: 'bench' })
    const from = performance.now()
    took.push(Math.max(0, (await start) - from))
    await belfry.schedules.clearHints(name)
  }
  await belfry.close()
  return percentile(took, 0.5)
}

function withResolvers() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
