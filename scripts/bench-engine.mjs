/**
 * What the library and its worker cost: no-op handler runs from `start()` to the last settle, and the time from
 * `enqueue` to the handler's first line. Medians of five; fdatasync of the same disk is printed beside.
 *
 *   node scripts/bench-engine.mjs [--runs 10000] [--rounds 5]
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Belfry } from '../dist/index.js'
import { startPostgres } from './postgres-server.mjs'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '5' } },
})
const [runs, rounds] = [Number(values.runs), Number(values.rounds)]
const latencies = 300

const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
const server = await startPostgres()
try {
  syncs()
  await measure('sqlite', `sqlite:${join(folder, 'belfry.db')}`)
  await measure('postgres', server.url)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(name, store) {
  const belfry = await Belfry.open({ store, log: false })
  let begun = () => undefined
  belfry.handle('nothing', () => begun())
  await belfry.queues.set('default', { maxConcurrent: 500 })
  const took = []
  for (let round = 0; round < rounds; round++) took.push(await throughput(belfry))
  show(`${name}: ${runs} no-op runs, start() to the last settle`, took)
  const late = await latency(belfry, (then) => {
    begun = then
  })
  show(`${name}: enqueue to handler start, ${latencies} alone`, late)
  await belfry.close()
}

async function throughput(belfry) {
  await belfry.runs.enqueueMany(Array.from({ length: runs }, () => ({ target: { handler: 'nothing' } })))
  let left = runs
  const done = new Promise((resolve) => {
    const count = () => {
      if (--left > 0) return
      belfry.off('run.completed', count)
      resolve()
    }
    belfry.on('run.completed', count)
  })
  const from = performance.now()
  await belfry.start()
  await done
  const took = performance.now() - from
  await belfry.stop()
  return took
}

async function latency(belfry, onBegin) {
  await belfry.start()
  const took = []
  for (let one = 0; one < latencies; one++) {
    const settled = new Promise((resolve) => belfry.once('run.completed', resolve))
    const from = performance.now()
    onBegin(() => took.push(performance.now() - from))
    await belfry.runs.enqueue({ target: { handler: 'nothing' } })
    await settled
  }
  await belfry.stop()
  return took
}

function syncs() {
  const file = openSync(join(folder, 'sync'), 'w')
  const took = []
  for (let one = 0; one < latencies; one++) {
    const from = performance.now()
    writeSync(file, Buffer.alloc(4096))
    fdatasyncSync(file)
    took.push(performance.now() - from)
  }
  closeSync(file)
  show('fdatasync of 4 KB', took)
}

function show(what, took) {
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)
  console.log(`${what}: median ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${sorted.length}`)
}
