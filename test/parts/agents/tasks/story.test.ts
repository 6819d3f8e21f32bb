import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../../src/index.ts'
import { TestClock } from '../../../../src/testing.ts'
import { standIn } from '../scene.ts'

const page = readFileSync(new URL('../../../../docs/tasks.md', import.meta.url), 'utf8')
const commands = [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : [])),
)
const belfry = new URL('../../../../dist/belfry.js', import.meta.url).pathname
const hour = 3_600_000

/** A checkout with stand-ins for the programs that the page names. */
function project() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-story-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const scripts = { belfry: `exec "${process.execPath}" "${belfry}" "$@"`, gh: 'echo success' }
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const agent of ['claude', 'codex']) symlinkSync(standIn(agent), join(bin, agent))
  const app = join(folder, 'app')
  mkdirSync(app)
  execFileSync('git', ['init', '-q', app])
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    BELFRY_ZONE: 'Europe/Paris',
    BELFRY_LISTEN: 'none',
  }
  const typed = (line: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: app, env, encoding: 'utf8' })
    return { line, exit: status, stdout, stderr: status === 0 ? '' : stderr }
  }
  return { app, typed }
}

it('the commands of the page about tasks do what it says, from the first task to the file', async () => {
  const { app, typed } = project()
  const budget = 'belfry budget put claude-day --for profile=claude --per day --runs 200'
  expect(typed(budget)).toMatchObject({ exit: 0 })
  const ids = new Map<string, string>()
  const said = (line: string) => [...ids].reduce((text, [shown, real]) => text.replaceAll(shown, real), line)
  for (const command of commands) {
    if (command === 'belfry missed list') {
      ids.set('5d2e11c0', await missedOne(app))
      const once = typed('belfry up --once')
      expect(once.stdout).toContain('A one-shot was missed and waits for your decision')
    }
    const answer = typed(said(command))
    expect(answer).toMatchObject({ line: said(command), exit: 0, stderr: '' })
    if (ids.size === 0) {
      const line =
        /^task ([0-9a-f]{8}) {2}weekdays 09:00 Europe\/Paris(?:, spread \+[\dmins ]+)?: next \w{3} \d{4}-\d\d-\d\d 09:[\d:]+; budget claude-day; expires never\n$/
      const [, id = ''] = line.exec(answer.stdout) ?? []
      expect(id, answer.stdout).not.toBe('')
      ids.set('3f9c01ab', id)
    }
    if (command.startsWith('belfry missed run')) {
      expect(typed('belfry up --once').stdout).toMatch(/Run r-\w+, attempt 1, completed/)
    }
  }
  const runs = JSON.parse(typed('belfry run list --status completed --json').stdout).runs
  // The run by hand, and the missed run; the loop's run may still wait for its spread.
  const sources = runs.map(({ source }: { source: string }) => source)
  expect(sources).toEqual(expect.arrayContaining(['baseline-once', 'run-now']))
  const tasks = JSON.parse(typed('belfry task list --json').stdout)
  expect(tasks.map(({ managedBy }: { managedBy?: string }) => managedBy)).toContain('tasks:app')
})

/** A prompt that came due while no worker ran. */
async function missedOne(folder: string): Promise<string> {
  const clock = new TestClock(Date.parse(new Date().toISOString()) - 2 * hour)
  const store = `sqlite:${join(folder, '.belfry', 'belfry.db')}`
  const before = await Belfry.open({ store, log: false, clock })
  const { task } = await before.tasks.create({ in: '1h', prompt: 'Is the deploy healthy?', cwd: folder })
  await before.close()
  return task.id
}
