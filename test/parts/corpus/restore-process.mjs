/**
 * A process that restores an item and kills itself at a given point, which lies between two disk calls. Without a point it prints the
 * number of points.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { store, name, path, snapshot, point } = JSON.parse(process.argv[2])
let [isArmed, points] = [false, 0]

function pass() {
  if (!isArmed) return
  points += 1
  if (points === point) process.kill(process.pid, 'SIGKILL')
}

for (const name of [
  'openSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'readFileSync',
  'writeFileSync',
  'mkdirSync',
  'rmSync',
  'unlinkSync',
]) {
  const call = fs[name]
  fs[name] = (...args) => {
    pass()
    const answer = call.apply(fs, args)
    pass()
    return answer
  }
}
syncBuiltinESMExports()

const { Belfry } = await import('../../../dist/index.js')
const belfry = await Belfry.open({ store, log: false })
isArmed = true
await belfry.corpora.restore({ name, path, snapshot })
isArmed = false
console.log(points)
await belfry.close()
