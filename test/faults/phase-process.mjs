/**
 * A worker that executes one phase of a corpus, and is killed or stopped by itself at a point of it: between two calls of the
 * disk or of the database. Without a point it prints how many there are.
 */

import fs from 'node:fs'
import { createRequire, register, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const { store, schema, root, run, point, at, leaseMs } = JSON.parse(process.argv[2])
let [isArmed, hasStopped, points] = [false, false, 0]
/** For the hand that edits: only the worker's own calls are points. */
const { appendFileSync, readFileSync, renameSync, writeFileSync } = fs

function pass(name) {
  if (!isArmed) return
  points += 1
  if (points === point) process.kill(process.pid, 'SIGKILL')
  if (name !== at) return
  // A stopped process goes on here once it is continued, and only once.
  isArmed = false
  hasStopped = true
  process.kill(process.pid, 'SIGSTOP')
}

function watch(owner, name, textOf) {
  const call = owner[name]
  const value = function (...args) {
    // Its phase begins; what it does before and beside that, such as a scan of the tree, is not what is struck.
    if (!hasStopped && textOf?.(this, args)?.includes('corpus_run (run_id')) isArmed = true
    pass(name)
    const answer = call.apply(this, args)
    pass(`after ${name}`)
    return answer
  }
  Object.defineProperty(owner, name, { value, configurable: true, enumerable: true })
}

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'readFileSync',
  'mkdirSync',
  'rmSync',
]) {
  watch(fs, name)
}
syncBuiltinESMExports()
const require = createRequire(import.meta.url)
if (schema === undefined) {
  globalThis.watchCall = watch
  register('./watched-sqlite.mjs', import.meta.url)
} else {
  watch(require('pg').Client.prototype, 'query', (_, [query]) => query?.text ?? String(query))
}

const { Belfry } = await import('../../dist/index.js')
const belfry = await Belfry.open({ store, schema, leaseMs, log: false })
belfry.handle('write', ({ payload: { item, phase } }) => {
  appendFileSync(join(root, '..', 'paid'), `${phase}\n`)
  // An edit by another hand while the phase is at work.
  const file = join(root, item, '.meta/meta.json')
  const document = { ...JSON.parse(readFileSync(file, 'utf8')), owner: 'edited' }
  writeFileSync(`${file}.edit`, JSON.stringify(document))
  renameSync(`${file}.edit`, file)
  return `${phase} of ${item}`
})
await belfry.start()
await belfry.runs.wait(run)
isArmed = false
console.log(points)
await belfry.close()
