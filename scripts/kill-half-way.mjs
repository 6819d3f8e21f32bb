/**
 * Does every occurrence have exactly one end, whoever dies? Schedules that fire every second call a witness over HTTP;
 * two worker processes carry them out; half-way one is killed with -9 and another takes its place. Then the ledger, the
 * attempts and what the witness saw are compared.
 *
 *   node scripts/kill-half-way.mjs [--schedules 100] [--seconds 60] [--store sqlite:… | postgres://…]
 *
 * Without --store it runs on a new SQLite file and on a PostgreSQL of its own, one after the other.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Belfry } from '../dist/index.js'
import { startPostgres } from './postgres-server.mjs'

const leaseMs = 2_000
const answerMs = 300

/**
 * @param {{ store: string, schema?: string, schedules: number, seconds: number }} options
 * @returns {Promise<{ occurrences: number, ends: Record<string, number>, runs: number, lost: number, wrong: object[], unknown: string[] }>}
 */
export async function killHalfWay({ store, schema = 'belfry', schedules, seconds }) {
  const witness = await startWitness()
  const belfry = await Belfry.open({ store, schema })
  const workers = new Set()
  try {
    await belfry.queues.set('default', { maxConcurrent: 200 })
    await startWorker({ store, schema }, workers)
    await startWorker({ store, schema }, workers)
    const startAt = Math.ceil(Date.now() / 1_000 + 2) * 1_000
    const endAt = startAt + (seconds - 1) * 1_000
    await putSchedules(belfry, { schedules, startAt, endAt, url: witness.url })
    await until(startAt + Math.floor(seconds / 2) * 1_000)
    witness.holdBack()
    await killTheBusiest({ belfry, witness }, workers)
    witness.goOn()
    await startWorker({ store, schema }, workers)
    await until(endAt + 1_000)
    return await judge({ belfry, witness, schedules, seconds })
  } finally {
    await Promise.all([...workers].map(stopWorker))
    await belfry.close()
    witness.close()
  }
}

/**
 * Counts how often each run was seen, by run id and attempt. While it holds back, whoever comes waits: however long the
 * others take to find out whom to kill, those runs are in the middle when it happens.
 */
async function startWitness() {
  const seen = new Map()
  const waiting = new Map()
  let holdsBack = false
  const server = createServer((request, response) => {
    const run = request.headers['belfry-run']
    seen.set(run, [...(seen.get(run) ?? []), Number(request.headers['belfry-attempt'])])
    if (holdsBack) waiting.set(run, response)
    else setTimeout(() => response.end('ok'), answerMs)
  })
  const holdBack = () => {
    holdsBack = true
  }
  const goOn = () => {
    holdsBack = false
    for (const response of waiting.values()) response.end('ok')
    waiting.clear()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { seen, waiting, holdBack, goOn, close, url: `http://127.0.0.1:${server.address().port}/` }
}

async function startWorker({ store, schema }, workers) {
  const path = fileURLToPath(new URL('kill-half-way-worker.mjs', import.meta.url))
  const worker = fork(path, [store, schema, String(leaseMs)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  workers.add(worker)
  await Promise.race([
    once(worker, 'message'),
    once(worker, 'exit').then(([code]) => Promise.reject(new Error(`A worker ended with ${code} before it started.`))),
  ])
  return worker
}

/** Kills whoever has most runs in the middle, once somebody has. */
async function killTheBusiest({ belfry, witness }, workers) {
  let held = []
  while (held.length === 0) {
    const { runs } = await belfry.runs.list({ status: 'leased', limit: 1_000 })
    held = runs.flatMap(({ id, lease }) => (witness.waiting.has(id) ? [lease.workerId] : []))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const holds = (id) => held.filter((workerId) => workerId === id).length
  const [busiest] = (await belfry.workers.list())
    .filter(({ stoppedAt }) => stoppedAt === null)
    .toSorted((a, b) => holds(b.id) - holds(a.id))
  const victim = [...workers].find(({ pid }) => pid === busiest.process.pid)
  victim.kill('SIGKILL')
}

async function stopWorker(worker) {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  worker.kill('SIGTERM')
  await once(worker, 'exit')
}

async function putSchedules(belfry, { schedules, startAt, endAt, url }) {
  const [from, to] = [startAt, endAt].map((at) => new Date(at).toISOString())
  for (let number = 0; number < schedules; number++) {
    await belfry.schedules.put({
      name: `s${number}`,
      cron: '* * * * * *',
      zone: 'UTC',
      startAt: from,
      endAt: to,
      target: { http: { url, method: 'POST' } },
    })
  }
}

async function judge({ belfry, witness, schedules, seconds }) {
  const ends = new Map()
  const runs = []
  for (let number = 0; number < schedules; number++) {
    const rows = await endedLedger(belfry, `s${number}`, seconds)
    for (const row of rows) ends.set(row.outcome, (ends.get(row.outcome) ?? 0) + row.count)
    runs.push(...rows.flatMap((row) => (row.runId === null ? [] : [row.runId])))
  }
  const wrong = []
  let lost = 0
  for (const run of runs) {
    const attempts = await belfry.runs.attempts(run)
    const lostHere = attempts.filter(({ outcome }) => outcome === 'lost').length
    lost += lostHere
    const times = witness.seen.get(run)?.length ?? 0
    // A lost attempt may have reached the witness or not; for the rest each run is seen once.
    if (times < 1 || times > 1 + lostHere) wrong.push({ run, times, attempts })
  }
  const unknown = [...witness.seen.keys()].filter((run) => !runs.includes(run))
  return { occurrences: schedules * seconds, ends: Object.fromEntries(ends), runs: runs.length, lost, wrong, unknown }
}

/** Waits until each occurrence of a schedule has its end, and checks that none has two. */
async function endedLedger(belfry, name, seconds) {
  for (;;) {
    const rows = await belfry.schedules.history(name, { limit: 1_000 })
    const count = rows.reduce((sum, row) => sum + row.count, 0)
    if (count > seconds) throw new Error(`${name} has ${count} ends for ${seconds} occurrences.`)
    if (count === seconds && rows.every(({ endedAt, runId }) => runId === null || endedAt !== null)) return rows
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function until(at) {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())))
}

async function main() {
  const { values } = parseArgs({
    options: {
      schedules: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '60' },
      store: { type: 'string' },
    },
  })
  const counts = { schedules: Number(values.schedules), seconds: Number(values.seconds) }
  const report = async (name, store) => {
    console.log(name, JSON.stringify(await killHalfWay({ store, ...counts })))
  }
  if (values.store !== undefined) return report(values.store, values.store)
  const folder = mkdtempSync(join(tmpdir(), 'belfry-kill-'))
  await report('sqlite', `sqlite:${join(folder, 'belfry.db')}`)
  rmSync(folder, { recursive: true, force: true })
  const server = await startPostgres()
  try {
    await report('postgres', server.url)
  } finally {
    await server.stop()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
