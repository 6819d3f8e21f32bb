/**
 * Records the first five minutes as a picture: real commands on a real store beside a real worker, written to
 * docs/first-five-minutes.svg. What they print is shown as it was printed, colours included.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { picture } from './terminal-picture.mjs'

const belfry = fileURLToPath(new URL('../dist/belfry.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'belfry-record-'))
const env = { PATH: process.env.PATH, HOME: folder, FORCE_COLOR: '1', BELFRY_ZONE: 'Europe/Paris', TZ: 'Europe/Paris' }

/** What is typed in the second terminal; `null` waits until the worker has completed a run. */
const script = [
  "schedule create hello --every 10s --start-now --command -- echo 'Hello from Belfry'",
  "schedule put nightly --cron '30 2 * * *' --zone Europe/Paris --http https://example.org/backup",
  'schedule list',
  null,
  'run list --schedule hello',
  'explain schedule nightly',
  'explain run FIRST_RUN',
  'doctor',
]

const worker = spawn(process.execPath, [belfry, 'up'], { cwd: folder, env: { ...env, FORCE_COLOR: '' } })
let heard = ''
const saying = (pattern) => {
  return new Promise((resolve) => {
    const look = () => pattern.test(heard) && resolve(pattern.exec(heard))
    worker.stdout.on('data', look)
    look()
  })
}
worker.stdout.on('data', (chunk) => {
  heard += chunk
})

const lines = []
try {
  await saying(/works on/)
  let firstRun = ''
  for (const typed of script) {
    if (typed === null) {
      const [, id] = await saying(/Run (r-\w+) of hello, attempt 1, completed/)
      firstRun = id
      continue
    }
    const command = typed.replace('FIRST_RUN', firstRun)
    const said = execFileSync('sh', ['-c', `exec "$0" "$1" ${command} 2>&1`, process.execPath, belfry], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    lines.push(`\u001b[36m$\u001b[39m \u001b[1mbelfry ${command}\u001b[22m`, ...said.trimEnd().split('\n'), '')
  }
} finally {
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  worker.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
}
const shown = lines.map((line) =>
  line.replaceAll(folder, '/srv/app').replaceAll(new RegExp(`\\b${hostname()}\\b`, 'g'), 'host'),
)
writeFileSync(new URL('../docs/first-five-minutes.svg', import.meta.url), picture(shown))
process.stdout.write(`docs/first-five-minutes.svg is written: ${shown.length} lines.\n`)
