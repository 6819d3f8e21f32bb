/**
 * Measures the throughput of this build beside that of an earlier commit, by turns in one run, on both databases:
 *
 *   npm run bench:beside -- COMMIT [--work runs|occurrences] [--rounds 9] [--runs 20000] [--at-least 0.95]
 *
 * The work is runs that lie ready, or occurrences of as many schedules that are due at once: these fire, start and move their schedules.
 * The commit is checked out into a folder of its own and built with the packages of this one. Each round measures one
 * after the other, in a process of its own on a fresh store, and every other round in the other order. It prints the
 * medians and their ratio, and exits 1 where a ratio is below `--at-least`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from './postgres-server.mjs'

const target = { handler: 'nothing' }
const layOut = {
  async runs(belfry, count) {
    for (let left = count; left > 0; left -= 1_000) {
      await belfry.runs.enqueueMany(Array.from({ length: Math.min(left, 1_000) }, () => ({ target })))
    }
  },
  async occurrences(belfry, count) {
    for (let made = 0; made < count; made += 100) {
      const names = Array.from({ length: Math.min(count - made, 100) }, (_, index) => `hourly-${made + index}`)
      await Promise.all(names.map((name) => belfry.schedules.put({ name, every: '1h', startNow: true, target })))
    }
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    runs: { type: 'string', default: '20000' },
    work: { type: 'string', default: 'runs' },
    'at-least': { type: 'string', default: '0.95' },
    child: { type: 'string' },
  },
})

if (values.child !== undefined) console.log(JSON.stringify(await measured(JSON.parse(values.child))))
else await compare(positionals[0])

/** From the start of a worker to the end of the last run. */
async function measured({ build, store, schema, runs, work }) {
  const { Belfry } = await import(pathToFileURL(join(build, 'dist/index.js')).href)
  const belfry = await Belfry.open({ store, log: false, ...(schema !== undefined && { schema }) })
  await belfry.queues.set('default', { maxConcurrent: 100 })
  belfry.handle('nothing', () => undefined)
  await layOut[work](belfry, runs)
  let left = runs
  const ended = new Promise((resolve) => belfry.on('run.completed', () => --left === 0 && resolve()))
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await belfry.start()
  await ended
  const seconds = (performance.now() - startedAt) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  await belfry.close()
  return { perSecond: runs / seconds, cpuMicrosecondsEach: (user + system) / runs }
}

async function compare(commit) {
  if (commit === undefined) throw new Error('Which commit? npm run bench:beside -- COMMIT')
  if (!Object.hasOwn(layOut, values.work)) throw new Error(`--work is ${values.work}; it is runs or occurrences.`)
  const folder = mkdtempSync(join(tmpdir(), 'belfry-beside-'))
  const earlier = join(folder, 'earlier')
  const server = await startPostgres()
  try {
    execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, earlier])
    execFileSync('git', ['checkout', '--quiet', commit], { cwd: earlier })
    symlinkSync(join(root, 'node_modules'), join(earlier, 'node_modules'))
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: earlier, stdio: 'inherit' })
    console.log(`load before ${loadavg().map((load) => load.toFixed(2))}`)
    let isBelow = false
    for (const database of ['sqlite', 'postgres']) {
      const { ratio, line } = await byTurns({ database, earlier, folder, url: server.url })
      console.log(line)
      isBelow ||= ratio < Number(values['at-least'])
    }
    console.log(`load after ${loadavg().map((load) => load.toFixed(2))}`)
    if (isBelow) process.exitCode = 1
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function byTurns({ database, earlier, folder, url }) {
  const found = { earlier: [], now: [] }
  for (let round = 0; round < Number(values.rounds); round++) {
    const sides = Object.entries({ earlier, now: root })
    for (const [side, build] of round % 2 === 0 ? sides : sides.toReversed()) {
      const name = `${side}_${round}`
      const place =
        database === 'sqlite' ? { store: `sqlite:${join(folder, `${name}.db`)}` } : { store: url, schema: name }
      const input = JSON.stringify({ build, ...place, runs: Number(values.runs), work: values.work })
      const answer = execFileSync(process.execPath, [fileURLToPath(import.meta.url), '--child', input])
      found[side].push(JSON.parse(answer.toString()))
    }
  }
  const of = (side, field) => median(found[side].map((one) => one[field]))
  const ratio = of('now', 'perSecond') / of('earlier', 'perSecond')
  const rates = `${Math.round(of('earlier', 'perSecond'))} → ${Math.round(of('now', 'perSecond'))} runs/s, ${ratio.toFixed(3)} ×`
  const cpu = `${of('earlier', 'cpuMicrosecondsEach').toFixed(1)} → ${of('now', 'cpuMicrosecondsEach').toFixed(1)} µs of CPU a run`
  return { ratio, line: `${database}: ${rates}; ${cpu}; medians of ${values.rounds} rounds` }
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
