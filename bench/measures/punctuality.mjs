import { Belfry } from '../../dist/index.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { clockNow } from '../../dist/store/statement.js'
import { actor, openPort } from '../contestants/belfry-store.mjs'
import { percentiles } from '../figures.mjs'
import { filler, settleDown } from '../fill.mjs'
import { awaited, ceiling, taskName } from '../work.mjs'

/** How many schedules are made on trial, and what a worker has to start. */
const trials = 20
const startMs = 3_000

/** How much later than planned a handler starts: of schedules apart from each other, and of very many at once. */
export async function run(bench) {
  const spread = { schedules: 1_000, overMs: 5_000 }
  const herd = { schedules: 10_000 }
  const entries = ['sqlite', 'postgres'].flatMap((database) =>
    [
      { way: 'spread', ...spread },
      { way: 'one instant', ...herd },
    ].map((input) => ({
      contestant: { name: 'Belfry', place: database },
      setting: { name: `maxConcurrent ${ceiling}` },
      database,
      way: input.way,
      schedules: input.schedules,
      input,
    })),
  )
  return { spread, herd, rows: await bench.alternate(import.meta.url, entries) }
}

export async function child(input) {
  const port = await openPort(input.place)
  const lead = input.way === 'spread' ? await spreadOut(port, input) : await allAtOnce(port, input)
  await port.close()
  await settleDown(input.place)
  const belfry = await Belfry.open({ store: input.place.store, log: false })
  const lateness = []
  const done = awaited()
  belfry.handle(taskName, ({ plannedAt }) => {
    lateness.push(performance.timeOrigin + performance.now() - plannedAt)
    if (lateness.length === input.schedules) done.resolve()
  })
  await belfry.start()
  if (Date.now() > lead.firstAt) throw new Error('the schedules took longer to make than there was time for')
  await done.promise
  await belfry.close()
  const { p50, p99 } = percentiles(lateness)
  return { p50, p99, allStartedMs: Math.max(...lateness), earliestMs: Math.min(...lateness), rssMb: maxRssMb() }
}

/** One schedule every few ms, each at an instant of its own, made by the verb; how long that takes is tried before. */
async function spreadOut({ store }, { schedules, overMs }) {
  const put = (name, at) => {
    return store.do(putSchedule, { name, timing: { at }, target: { handler: taskName } }, { mode: 'create', actor })
  }
  const begunAt = performance.now()
  const tomorrow = (await store.look(clockNow)) + 86_400_000
  for (let index = 0; index < trials; index++) await put(`trial-${index}`, tomorrow)
  const eachMs = (performance.now() - begunAt) / trials
  const firstAt = (await store.look(clockNow)) + Math.ceil(2 * eachMs * schedules) + startMs
  for (let index = 0; index < schedules; index++) {
    await put(`one-${index}`, firstAt + Math.floor((index * overMs) / schedules))
  }
  return { firstAt }
}

/** Copies of one schedule, so that making them does not take longer than the wait for them. */
async function allAtOnce({ store }, { schedules }) {
  const firstAt = (await store.look(clockNow)) + 2 * startMs
  const spec = { name: 'herd', timing: { at: firstAt }, target: { handler: taskName } }
  await store.do(putSchedule, spec, { mode: 'create', actor })
  await filler(store).schedules(schedules - 1)
  return { firstAt }
}

function maxRssMb() {
  return process.resourceUsage().maxRSS / 1_024
}
