import pg from 'pg'
import { openContestant } from '../contestants/all.mjs'
import { medianOf } from '../figures.mjs'
import { awaited } from '../work.mjs'

/** Whether PostgreSQL grows slower with the dead rows that a queue leaves behind: slice after slice in one database. */
export async function run(bench) {
  const slices = 10
  const count = bench.quick ? 5_000 : 20_000
  const entry = {
    contestant: { name: 'Belfry (PostgreSQL)', module: 'belfry.mjs', place: 'postgres' },
    setting: { name: 'maxConcurrent 500' },
    input: { slices, count },
  }
  const [row] = await bench.alternate(import.meta.url, [entry])
  if (row.failed !== undefined) return { slices, count, failed: row.failed, rows: [] }
  const rows = Array.from({ length: slices }, (_, slice) => medianOf(row.rounds.map((round) => round.slices[slice])))
  return { slices, count, rows }
}

export async function child({ contestant, place, setting, slices, count }) {
  const one = await openContestant({ ...contestant, place, setting })
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  let done = awaited()
  let left = 0
  const ended = (some) => {
    left -= some
    if (left === 0) done.resolve()
  }
  const figures = []
  for (let slice = 0; slice < slices; slice++) {
    left = count
    done = awaited()
    await one.fill(count)
    const from = performance.now()
    await (slice === 0 ? one.start({ began: () => undefined, ended }) : one.again())
    await done.promise
    const perSecond = (count / (performance.now() - from)) * 1_000
    await one.rest()
    figures.push({ perSecond, deadTuples: await deadTuples(client) })
  }
  await client.end()
  await one.close()
  return { slices: figures }
}

async function deadTuples(client) {
  await client.query('select pg_stat_force_next_flush()')
  const { rows } = await client.query(
    "select coalesce(sum(n_dead_tup), 0)::float8 as dead from pg_stat_user_tables where schemaname = 'belfry'",
  )
  return rows[0].dead
}
