import { Belfry } from '../../dist/index.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { clockNow } from '../../dist/store/statement.js'
import { actor, openPort } from '../contestants/belfry-store.mjs'
import { medianOf } from '../figures.mjs'
import { filler, settleDown } from '../fill.mjs'
import { pause, taskName } from '../work.mjs'

const dayMs = 86_400_000

/**
 * Memory and processor time of a worker that has nothing to do, with no schedule and with very many. A whole minute is
 * watched, because some duties come round once a minute.
 */
export async function run(bench) {
  const schedules = 100_000
  const watchMs = bench.quick ? 5_000 : 60_000
  const entries = ['sqlite', 'postgres'].flatMap((database) =>
    [0, schedules].map((stored) => ({ database, schedules: stored, watchMs })),
  )
  const rounds = []
  // Workers that have nothing to do do not disturb each other, so they are watched together.
  for (let round = 0; round < bench.rounds; round++) rounds.push(await Promise.all(entries.map(watchApart(bench))))
  const rows = entries.map((entry, index) => {
    const own = rounds.map((round) => round[index])
    return { ...entry, rounds: own, ...medianOf(own) }
  })
  return { schedules, watchMs, rows }
}

function watchApart(bench) {
  return (entry) =>
    bench.within(entry.database, {}, async (place) => {
      if (entry.schedules > 0) await bench.child(import.meta.url, { place, ...entry, role: 'fill' })
      return bench.child(import.meta.url, { place, ...entry, role: 'watch' })
    })
}

export function child(input) {
  return input.role === 'fill' ? fill(input) : watch(input)
}

async function fill({ place, schedules }) {
  const { store, close } = await openPort(place)
  const spec = {
    name: 'report',
    timing: { cron: '0 9 * * 1-5', zone: 'Europe/Paris' },
    target: { handler: taskName },
    payload: { day: 'today' },
  }
  await store.do(putSchedule, spec, { mode: 'create', actor })
  await filler(store).schedules(schedules - 1, `${(await store.look(clockNow)) + dayMs} + n`)
  await close()
  await settleDown(place)
}

async function watch({ place, watchMs }) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  belfry.handle(taskName, () => undefined)
  await belfry.start()
  const before = process.cpuUsage()
  await pause(watchMs)
  const { user, system } = process.cpuUsage(before)
  const rssMb = process.memoryUsage().rss / 2 ** 20
  await belfry.close()
  return { rssMb, cpuMs: (user + system) / 1_000 }
}
