/**
 * Does what the README tells a newcomer to do, from a fresh clone with an empty cache to a fired schedule and its
 * explanation, and measures how long that takes. Ends with 1 when it takes more than two minutes.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stepsOf } from './readme-steps.mjs'

const secondsMax = 120
const here = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'belfry-newcomer-'))
const clone = join(folder, 'belfry')
const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
for (const name of ['npm_command', 'npm_lifecycle_event', 'BELFRY_STORE']) delete env[name]
const startedAt = performance.now()
const passed = () => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`
const say = (text) => process.stdout.write(`${passed()}  ${text}\n`)

execFileSync('git', ['clone', '--quiet', here, clone])
say('cloned')
const { start, typed } = stepsOf(readFileSync(join(clone, 'README.md'), 'utf8'))

const first = spawn('sh', ['-c', `exec sh -c '${start}'`], { cwd: clone, env, detached: true })
let heard = ''
const waits = []
const hear = (chunk) => {
  heard += chunk
  for (const wait of waits.filter(({ pattern }) => pattern.test(heard))) wait.resolve()
}
first.stdout.on('data', hear)
first.stderr.on('data', hear)
const isSaid = (pattern) => {
  return new Promise((resolve, reject) => {
    waits.push({ pattern, resolve })
    first.once('exit', (code) => reject(new Error(`${start} ended with ${code}:\n${heard}`)))
    hear('')
  })
}

try {
  await isSaid(/works on/)
  say(`${start}: the worker runs`)
  for (const line of typed) {
    if (line.includes('run list') || line.includes('explain')) await isSaid(/completed/)
    const said = execFileSync('sh', ['-c', line], {
      cwd: clone,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    say(line)
    process.stdout.write(said.replace(/^(?=.)/gm, '          '))
  }
  const seconds = (performance.now() - startedAt) / 1000
  say(`a fired schedule and its explanation, ${seconds < secondsMax ? 'in' : 'NOT in'} under two minutes`)
  process.exitCode = seconds < secondsMax ? 0 : 1
} finally {
  const ended = new Promise((resolve) => first.once('exit', resolve))
  process.kill(-first.pid, 'SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
}
