/**
 * Measures Belfry beside its peers, in one run on one machine.
 *
 *   node bench/main.mjs [--quick] [--only throughput,latency] [--rounds 3] [--json bench/results.json] [--merge]
 *
 * Without `--only` the page in docs is made anew from the results; with `--merge` it is made anew from those of the last
 * whole run and these, which then say when they were measured.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeBench } from './bench.mjs'
import { fsyncMs, readConditions } from './conditions.mjs'
import { contestants } from './contestants/all.mjs'
import { shown } from './figures.mjs'
import { installPeers, whoIsPresent } from './peers.mjs'
import { openPlaces } from './places.mjs'
import { endChildren } from './processes.mjs'
import { sectionsOf } from './sections.mjs'
import { textTable } from './table.mjs'

const measures = [
  'throughput',
  'latency',
  'punctuality',
  'cost',
  'decay',
  'cron',
  'governor',
  'loop-delay',
  'footprint',
  'hosts',
  'mcp',
  'lists',
  'holds',
  'admission',
  'planner',
  'switches',
  'inbox',
  'agents',
  'corpus',
]
const resultsFile = fileURLToPath(new URL('results.json', import.meta.url))

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string' },
    merge: { type: 'boolean', default: false },
  },
})
const wanted = values.only?.split(',') ?? measures
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3))
refuseWrong()

const say = (line) => process.stderr.write(`${line}\n`)
const startedAt = performance.now()
if (values.quick) console.log('A quick run: fewer jobs and smaller stores, good for a first look only.\n')

const installFailure = installPeers(say)
const { present, absent } = await whoIsPresent(contestants, installFailure)
const places = await openPlaces()
for (const end of ['SIGINT', 'SIGTERM', 'uncaughtException']) {
  process.once(end, (reason) => {
    say(`stopped half-way: ${reason?.stack ?? reason}`)
    // A server that is stuck must not keep whoever pressed Ctrl-C.
    setTimeout(() => process.exit(1), 10_000)
    void leave().then(() => process.exit(1))
  })
}
try {
  const results = await measureAll()
  show(results)
  // What leaves out measures is for whoever asked, and does not replace the results of a whole run.
  const file = values.json ?? (values.only === undefined || values.merge ? resultsFile : null)
  const kept = values.merge ? merged(results) : results
  if (file !== null) writeFileSync(file, `${JSON.stringify(kept, sixDigits, 2)}\n`)
  if (file === resultsFile) execFileSync(process.execPath, [fileURLToPath(new URL('page.mjs', import.meta.url))])
} finally {
  await leave()
}

async function measureAll() {
  const bench = makeBench({ quick: values.quick, rounds, places, present, say })
  const results = {
    quick: values.quick,
    rounds,
    conditions: await readConditions(places),
    contestants: contestants.map(({ name, how }) => ({ name, how })),
    absent,
    measures: {},
  }
  for (const name of wanted) {
    const begunAt = performance.now()
    const { run } = await import(`./measures/${name}.mjs`)
    try {
      results.measures[name] = { fsync: fsyncMs(places.folder), ...(await run(bench)) }
    } catch (error) {
      // The other measures are worth having all the same; this one is missing in all that follows.
      say(`${name} failed: ${error.stack}`)
      process.exitCode = 1
    }
    say(`${name} took ${Math.round((performance.now() - begunAt) / 1_000)} s`)
  }
  results.tookSeconds = Math.round((performance.now() - startedAt) / 1_000)
  return results
}

/** The last whole run, with these measures in the place of its own. */
function merged({ measures: own, conditions: { date, loadBefore } }) {
  const whole = JSON.parse(readFileSync(resultsFile, 'utf8'))
  const apart = Object.entries(own).map(([name, measure]) => [name, { ...measure, apart: { date, loadBefore } }])
  return { ...whole, measures: { ...whole.measures, ...Object.fromEntries(apart) } }
}

function show(results) {
  const { cpu, cores, node, sqlite, postgres, redis, fsync, loadBefore } = results.conditions
  console.log(
    `${cpu}, ${cores} cores; Node ${node}, SQLite ${sqlite}, PostgreSQL ${postgres}, Redis ${redis ?? 'none'}`,
  )
  console.log(`fsync p50 ${shown(fsync.p50)} ms, p99 ${shown(fsync.p99)} ms; load before ${loadBefore}`)
  for (const { contestant, reason } of absent) console.log(`absent: ${contestant}, ${reason}`)
  for (const { title, beside, columns, rows } of sectionsOf(results)) {
    console.log(`\n${title}${beside === undefined ? '' : ` (${beside})`}\n${textTable({ columns, rows })}`)
  }
  console.log(`\nThe whole took ${results.tookSeconds} s.`)
}

/** More digits than these say nothing, and would make every comparison of two files harder to read. */
function sixDigits(_, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}

async function leave() {
  endChildren()
  await places.close()
}

function refuseWrong() {
  const unknown = wanted.filter((name) => !measures.includes(name))
  if (unknown.length > 0)
    throw new Error(`There is no measure ${unknown.join(', ')}; there are ${measures.join(', ')}.`)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is ${values.rounds}; it must be 1 or more.`)
}
