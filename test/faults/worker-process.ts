import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a worker process is told when it is to go; see worker.mjs. */
export interface WorkerOptions {
  readonly store: string
  readonly schema: string
  readonly connectionsMax: number
  readonly witness: string
  readonly leaseMs: number
  readonly renewMs: number
  readonly slots: number
  /** Whether it can prove nobody dead, as if the others were on other machines. */
  readonly isBlind: boolean
  /** It says so when this many of its enqueues have been acknowledged. */
  readonly armAtAck: number
  readonly graceMs: number
  readonly clientMs: number
  readonly busyShare: number
  readonly longShare: number
  /** How many of its runs name the account. */
  readonly accountShare: number
  readonly seed: number
}

type Message = { readonly ready?: true; readonly up?: string; readonly armed?: true }

/** A worker process and what it has said so far. */
export class WorkerProcess {
  readonly child: ChildProcess
  readonly ready: Promise<void>
  readonly up: Promise<void>
  readonly armed: Promise<void>
  readonly exited: Promise<number | NodeJS.Signals>
  /** What the store knows it by, once it is up. */
  workerId = ''
  isPaused = false
  isOver = false
  /** Its end was asked for, so that nobody need wonder about it. */
  isExpectedToEnd = false

  constructor() {
    this.child = fork(programPath('worker.mjs'), { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.exited = once(this.child, 'exit').then(([code, signal]) => {
      this.isOver = true
      return (code ?? signal) as number | NodeJS.Signals
    })
    this.ready = this.#said((message) => message.ready === true)
    this.up = this.#said((message) => message.up !== undefined)
    this.armed = this.#said((message) => message.armed === true)
    this.child.on('error', () => undefined)
    this.child.on('message', ({ up }: Message) => {
      if (up !== undefined) this.workerId = up
    })
  }

  get pid(): number {
    return this.child.pid ?? Number.NaN
  }

  /** Answers when it works. */
  async go(options: WorkerOptions): Promise<void> {
    await this.ready
    this.child.send({ go: options })
    await this.up
  }

  /** Its client puts nothing in any more. */
  quiet(): void {
    if (this.child.connected) this.child.send({ quiet: true })
  }

  async kill(): Promise<void> {
    this.isExpectedToEnd = true
    this.child.kill('SIGKILL')
    await this.exited
  }

  pause(): void {
    this.isPaused = true
    this.child.kill('SIGSTOP')
  }

  goOn(): void {
    this.child.kill('SIGCONT')
    this.isPaused = false
  }

  /** Asks it to end, and answers how it did. */
  async end(): Promise<number | NodeJS.Signals> {
    this.isExpectedToEnd = true
    this.child.kill('SIGTERM')
    return this.exited
  }

  /** Resolves when it has said so, or has ended and will never say it. */
  async #said(isIt: (message: Message) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.child.on('message', (message: Message) => {
        if (isIt(message)) resolve()
      })
      this.child.once('exit', () => resolve())
    })
  }
}

/** The worker is plain JavaScript over the built library, wherever the harness itself was compiled to. */
export function programPath(name: string): string {
  const file = join('test', 'faults', name)
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, file))) return join(folder, file)
  }
  throw new Error(`There is no ${file} above ${import.meta.url}.`)
}
