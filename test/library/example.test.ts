import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('../../examples/library/main.mjs', import.meta.url))

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'belfry-example-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

interface Running {
  readonly child: ChildProcess
  readonly exit: Promise<unknown[]>
  output(): string
  /** Answers once the program has said something like it. */
  said(words: RegExp): Promise<void>
}

function start(cwd: string, ...args: string[]): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  const look = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      for (const act of look) act()
    })
  }
  const said = (words: RegExp) =>
    new Promise<void>((resolve) => {
      const act = () => words.test(text) && look.delete(act) && resolve()
      look.add(act)
      act()
    })
  return { child, exit: once(child, 'close'), output: () => text, said }
}

describe('examples/library', () => {
  it('runs its schedules and its work, says so, and ends by itself after as many runs as it is told', async () => {
    const cwd = folder()
    const first = start(cwd, '--runs', '2')
    expect(await first.exit, first.output()).toEqual([0, null])
    expect(first.output()).toMatch(/^opened .*\.belfry\/belfry\.db$/m)
    expect(first.output()).toMatch(/^schedule report was created$/m)
    expect(first.output()).toMatch(/^enqueued r-\w+: new, completed$/m)
    expect(first.output()).toMatch(/^report r-\w+ \(enqueued\): 42 rows for yesterday$/m)
    expect(first.output().match(/^report r-\w+ \(baseline-interval\): 42 rows for today$/gm)).toHaveLength(2)
    expect(first.output()).toMatch(/^command r-\w+: .+UTC.+/m)
    expect(first.output()).toMatch(/^next report \d{4}-/m)
    expect(first.output()).toMatch(/^stopping: enough$/m)
    expect(first.output()).toMatch(/^stopped\n$/m)
    expect(existsSync(join(cwd, '.belfry', 'belfry.db'))).toBe(true)

    const second = start(cwd, '--runs', '1')
    expect(await second.exit, second.output()).toEqual([0, null])
    expect(second.output()).toMatch(/^schedule report was unchanged$/m)
    expect(second.output()).toMatch(/^enqueued r-\w+: known, completed$/m)
    expect(second.output()).not.toMatch(/yesterday/)
  })

  it('stops cleanly when it is interrupted', async () => {
    const running = start(folder())
    await running.said(/^next report/m)
    running.child.kill('SIGINT')
    expect(await running.exit, running.output()).toEqual([0, null])
    expect(running.output()).toMatch(/^stopping: interrupted\n(.+\n)?stopped\n$/m)
  })
})
