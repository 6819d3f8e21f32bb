// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { readRules } from '../../dist/core/rule-form.js'
import { openStore } from '../../dist/open-store.js'
import { dueLooks } from '../../dist/parts/planner/looks/look-rows.js'
import { putSchedule } from '../../dist/store/schedules/put-schedule.js'
import { all, both } from '../../dist/store/statement.js'
import { registerWorker } from '../../dist/store/workers/register-worker.js'

const startAt = Date.UTC(2026, 0, 5, 9)
const actor = { name: 'bench', door: 'bench' }
const schedules = 500

/** Due looks among few and many schedules, and the ends of runs with and without rules, by turns. */
export async function run(bench) {
  const sizes = bench.quick ? [1_000, 20_000] : [1_000, 100_000]
  const looks = sizes.map((size) => ({
    setting: { name: `due looks among ${size.toLocaleString('en')}` },
    input: { looks: size },
  }))
  const ends = ['without rules', 'with a rule'].map((name) => ({
    setting: { name: `ends ${name}` },
    input: { rules: name === 'with a rule' },
  }))
  const entries = [...looks, ...ends].map((entry) => ({ contestant: { name: 'Belfry', place: 'nowhere' }, ...entry }))
  return { schedules, rows: await bench.alternate(import.meta.url, entries, { rounds: Math.max(3, bench.rounds) }) }
}

export async function child({ looks, rules }) {
  const time = { now: startAt }
  const clock = { now: () => time.now, monotonic: () => performance.now(), after: () => () => undefined }
  const store = await openStore('memory:', { clock })
  const measured = looks === undefined ? await endsPerSecond(store, time, rules) : await millisToFind(store, looks)
  await store.close()
  return { perSecond: measured }
}

const fill = both(
  'bench fill looks',
  `insert into belfry.planner_look (schedule_id, ns, look_at, fails)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < $2) select i, $1, i, 0 from n`,
)

/** How often a second the 100 looks that are due are found. */
async function millisToFind(store, size) {
  await store.do(function* fillLooks({ ns }) {
    yield* all(fill, ns, size)
  })
  const rounds = 200
  const startedAt = performance.now()
  for (let round = 0; round < rounds; round += 1) await store.look(dueLooks, size, 100)
  return (rounds / (performance.now() - startedAt)) * 1_000
}

/** How many ends of occurrences are written in a second, a hundred at a time. */
async function endsPerSecond(store, time, hasRules) {
  const rules = readRules(
    [{ name: 'surge', when: { depth: { above: 200 } }, runs: 3, then: { every: '30s' } }],
    'rules',
    [],
  )
  for (let index = 0; index < schedules; index += 1) {
    const spec = {
      name: `s${index}`,
      timing: { everyMs: 60_000 },
      target: { handler: 'a' },
      ...(hasRules && { rules }),
    }
    await store.do(putSchedule, spec, { mode: 'put', actor })
  }
  const can = { kinds: ['handler'], host: true }
  const workerId = await store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
  let spentMs = 0
  let ended = 0
  for (let round = 0; round < 4; round += 1) {
    time.now += 61_000
    while ((await store.fireDue({ limit: 500 })).fired?.length > 0);
    for (;;) {
      const { leases } = await store.lease({
        queue: 'default',
        workerId,
        claimId: `c${ended} ${round}`,
        can,
        limit: 100,
      })
      if (leases.length === 0) break
      const ends = leases.map(({ runId, fence, scheduleId }) => ({
        runId,
        fence,
        scheduleId,
        outcome: { kind: 'success' },
        result: { depth: 10 },
      }))
      const startedAt = performance.now()
      await store.settle(ends)
      spentMs += performance.now() - startedAt
      ended += ends.length
    }
  }
  if (ended === 0) throw new Error('Nothing ended.')
  return (ended / spentMs) * 1_000
}
