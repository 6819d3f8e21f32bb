import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { commandExecutor } from '../../../src/targets/command/command-executor.ts'
import { start } from '../../../src/targets/command/start-program.ts'
import { Tether } from '../../../src/targets/command/tether.ts'
import { Stage } from './attempt.ts'
import { isRunning, processes, until, vanished } from './processes.ts'

const workers: ChildProcess[] = []
/** What the workers started. When all is well it is gone by the end of its test. */
const started: number[] = []
const folder = mkdtempSync(join(tmpdir(), 'belfry-tether-'))
afterEach(async () => {
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  for (const worker of workers.splice(0)) {
    worker.kill('SIGKILL')
    if (worker.pid !== undefined) await vanished(worker.pid)
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Task {
  readonly target: { readonly command: string | string[] }
  readonly killAfterMs: number
  readonly diesBeforeLeave?: boolean
  /** A group for each, with its time after TERM; null: let go of. */
  readonly each?: readonly (number | null)[]
}

/** A process of its own that executes a command (see worker.mjs), and what the command says. */
class Worker {
  readonly process: ChildProcess
  #said = ''

  constructor(task: Task) {
    this.process = fork(new URL('./worker.mjs', import.meta.url), [JSON.stringify(task)], {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    workers.push(this.process)
    this.process.stdout?.on('data', (bytes) => {
      this.#said += bytes
    })
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN
  }

  /** The pids that the command said after a word. */
  async pidsAfter(word: string): Promise<number[]> {
    const line = new RegExp(`^${word} (.+)\n`, 'm')
    await until(() => line.test(this.#said), `to hear ${word}`)
    const numbers = (line.exec(this.#said)?.[1] ?? '').split(' ').map(Number)
    started.push(...numbers)
    return numbers
  }

  /** Resolves when it has finished what it was at. */
  async isDoneWithThat(): Promise<void> {
    this.process.send('done?')
    await once(this.process, 'message')
  }

  async ended(): Promise<void> {
    await until(() => /^ended$/m.test(this.#said), 'for the command to end')
  }
}

/** The watchers of a process, found as an operator would find them. */
function watchersOf(pid: number): number[] {
  return processes()
    .filter(({ parent, isOver, command }) => parent === pid && !isOver && command.includes('belfry-tether'))
    .map((watcher) => watcher.pid)
}

async function watcherOf(pid: number): Promise<number> {
  await until(() => watchersOf(pid).length === 1, 'for the watcher to be up')
  return Number(watchersOf(pid))
}

const family = `sleep 1000 & echo pids $! $$; wait`
const stubborn = `trap '' TERM; while :; do sleep 0.01; done`
const stubbornFamily = `trap '' TERM; sleep 1000 & echo pids $! $$; while :; do wait; sleep 0.01; done`

describe('a command of a worker that is killed', () => {
  it('ends with it, and so does what the command started', async () => {
    const worker = new Worker({ target: { command: family }, killAfterMs: 600_000 })
    const pids = await worker.pidsAfter('pids')
    expect(pids.filter(isRunning)).toEqual(pids)
    worker.process.kill('SIGKILL')
    await vanished(...pids)
  })

  it('is killed in its turn when it will not end', async () => {
    const worker = new Worker({ target: { command: stubbornFamily }, killAfterMs: 1_000 })
    const pids = await worker.pidsAfter('pids')
    worker.process.kill('SIGKILL')
    await vanished(...pids)
  })

  it('is killed after its own time, whatever that of others beside it is', async () => {
    const command = ['sh', '-c', stubborn]
    const worker = new Worker({ target: { command }, killAfterMs: 1_000, each: [600_000, 1_000, 600_000] })
    const [first, second, third] = (await worker.pidsAfter('groups')) as [number, number, number]
    worker.process.kill('SIGKILL')
    await vanished(second)
    expect([first, third].map(isRunning)).toEqual([true, true])
  })

  it('never starts when the worker is killed before the tether holds it', async () => {
    const file = join(folder, 'started')
    const worker = new Worker({ target: { command: ['touch', file] }, killAfterMs: 1_000, diesBeforeLeave: true })
    const gates = await worker.pidsAfter('gate')
    await vanished(worker.pid, ...gates)
    expect(existsSync(file)).toBe(false)
  })

  it('ends with it also after somebody ended the watcher, for another took its place', async () => {
    const worker = new Worker({ target: { command: family }, killAfterMs: 600_000 })
    const pids = await worker.pidsAfter('pids')
    const first = await watcherOf(worker.pid)
    process.kill(first, 'SIGKILL')
    await until(() => watchersOf(worker.pid).some((pid) => pid !== first), 'for another watcher')
    // A watcher is up an instant before it has been told what to watch.
    await worker.isDoneWithThat()
    worker.process.kill('SIGKILL')
    await vanished(...pids)
  })

  it('ends with it though the watcher was asked to end with the rest of the service', async () => {
    const worker = new Worker({ target: { command: family }, killAfterMs: 600_000 })
    const pids = await worker.pidsAfter('pids')
    const watcher = await watcherOf(worker.pid)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.kill(watcher, signal)
    worker.process.kill('SIGKILL')
    await vanished(...pids, watcher)
  })
})

describe('what a killed worker had let go of', () => {
  it('is left alone: its number may be that of a stranger by now', async () => {
    const worker = new Worker({
      target: { command: ['sleep', '1000'] },
      killAfterMs: 600_000,
      each: [1_000, null, 2_000],
    })
    const [first, second, third] = (await worker.pidsAfter('groups')) as [number, number, number]
    const watcher = await watcherOf(worker.pid)
    worker.process.kill('SIGKILL')
    await vanished(first, third, watcher)
    expect(isRunning(second)).toBe(true)
  })
})

describe('a command of a worker that lives', () => {
  it('runs on while the worker is merely stopped: the fence refuses its result', async () => {
    const file = join(folder, 'beats')
    const command = ['sh', '-c', 'echo pids $$; while :; do echo >> "$1"; sleep 0.01; done', 'sh', file]
    const worker = new Worker({ target: { command }, killAfterMs: 600_000 })
    const pids = await worker.pidsAfter('pids')
    worker.process.kill('SIGSTOP')
    const beats = () => (existsSync(file) ? readFileSync(file).length : 0)
    const before = beats()
    await until(() => beats() > before + 5, 'for the command to go on')
    worker.process.kill('SIGKILL')
    await vanished(...pids)
  })

  it('leaves no watcher behind, neither living nor dead', async () => {
    const worker = new Worker({ target: { command: ['true'] }, killAfterMs: 1_000 })
    await worker.ended()
    await until(() => watchersOf(worker.pid).length === 0, 'for the watcher to end')
    const children = () => processes().filter(({ parent }) => parent === worker.pid)
    await until(() => children().length === 0, 'for no child to be left, be it unburied')
  })

  it('is not touched by the end of another that started and ended beside it', async () => {
    const execute = commandExecutor({ killAfterMs: 600_000 })
    const long = new Stage({ command: 'echo pid $$; sleep 1000' })
    const ended = execute(long.attempt)
    const [, pid] = await long.says(/pid (\d+)/)
    await Promise.all([1, 2, 3].map(() => execute(new Stage({ command: ['true'] }).attempt)))
    expect(isRunning(Number(pid))).toBe(true)
    await watcherOf(process.pid)
    long.stop()
    expect((await ended).facts).toMatchObject({ signal: 'SIGTERM' })
  })
})

describe('without a tether', () => {
  it('no program starts, and the error says that it did not', async () => {
    const file = join(folder, 'started')
    const tether = new Tether()
    tether.hold = () => Promise.reject(new BelfryError('unavailable', 'no watcher'))
    const program = {
      argv: ['touch', file] as [string, string],
      cwd: '/',
      environment: { PATH: process.env.PATH ?? '' },
    }
    await expect(start({ program, input: null, tether, killAfterMs: 100 })).rejects.toThrow('no watcher')
    expect(existsSync(file)).toBe(false)
  })
})
