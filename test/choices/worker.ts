import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { EngineEvents, OpenOptions } from '../../src/index.ts'
import { postgresUrl } from '../postgres.ts'
import { until } from '../targets/command/processes.ts'
import { sqliteFile } from './stage.ts'

type Told = { readonly name: string; readonly event: unknown }

/** A store of its own for each test, as several processes open it. */
export function sharedStore(kind: 'SQLite' | 'PostgreSQL'): Pick<OpenOptions, 'schema'> & { readonly store: string } {
  if (kind === 'SQLite') return { store: sqliteFile() }
  return { store: postgresUrl(), schema: `c${randomUUID().replaceAll('-', '')}` }
}

/** A worker in a process of its own (see worker.mjs), and all that it said. */
export class WorkerProcess {
  readonly process: ChildProcess
  readonly told: Told[] = []

  constructor({ store, ...options }: OpenOptions) {
    const url = new URL('./worker.mjs', import.meta.url)
    this.process = fork(url, [store ?? '', JSON.stringify(options)], { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] })
    this.process.on('message', (told: Told) => this.told.push(told))
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN
  }

  of<Name extends keyof EngineEvents>(name: Name): EngineEvents[Name][] {
    return this.told.filter((one) => one.name === name).map(({ event }) => event as EngineEvents[Name])
  }

  async hear(name: keyof EngineEvents | 'started', count = 1): Promise<void> {
    const isSo = () => this.told.filter((told) => told.name === name).length >= count
    await until(isSo, `to hear ${count} of ${name} from a worker process`)
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  /** Resolves when it is gone, pid and all: until its parent has noticed, an ended process still has a pid. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    const { exitCode, signalCode } = this.process
    if (exitCode !== null || signalCode !== null) return
    const exited = once(this.process, 'exit')
    this.process.kill(signal)
    await exited
  }
}

export async function startWorker(options: OpenOptions): Promise<WorkerProcess> {
  const worker = new WorkerProcess(options)
  onTestFinished(() => worker.kill())
  await worker.hear('started')
  return worker
}
