import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Said, Terminal } from '../doors/cli/terminal.ts'
import { postgresUrl } from '../postgres.ts'

export const binary = fileURLToPath(new URL('../../dist/belfry.js', import.meta.url))

/** What a command came to. */
export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly exit: number | string
  readonly stdout: string
  readonly stderr: string
}

interface Typing {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** A command that runs as a process of its own, as a shell starts it. */
export class Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly #told = { stdout: '', stderr: '' }

  constructor(words: readonly string[], { folder, env, stdin }: Typing & { readonly folder: string }) {
    const { PATH = '', HOME = '' } = process.env
    this.child = spawn(process.execPath, [binary, ...words], {
      cwd: folder,
      // Many workers run side by side in tests, and only those who ask for it open the HTTP door.
      env: { PATH, HOME, BELFRY_LISTEN: 'none', ...env },
      // A group of its own, so that a test can press Ctrl-C as a terminal does it: for all of the group.
      detached: true,
    })
    const { child } = this
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(stdin ?? '')
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (more: string) => {
        this.#told[name] += more
        child.emit('told')
      })
    }
    this.ended = once(child, 'close').then(([code, signal]) => ({ exit: code ?? signal, ...this.#told }))
  }

  get stdout(): string {
    return this.#told.stdout
  }

  get stderr(): string {
    return this.#told.stderr
  }

  /** Comes when it has told this. When it ends without, that is an error. */
  async told(what: RegExp): Promise<void> {
    while (!what.test(this.stdout + this.stderr)) {
      const over = this.ended.then(({ exit }) => {
        if (!what.test(this.stdout + this.stderr)) throw new Error(`ended (${exit}) without ${what}: ${this.#all()}`)
      })
      await Promise.race([once(this.child, 'told'), over])
    }
  }

  /** What a terminal does: everybody in the foreground gets it. */
  ctrlC(): void {
    process.kill(-(this.child.pid as number), 'SIGINT')
  }

  /** The same by another name, to this process alone. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  #all(): string {
    return `${this.stdout}\n${this.stderr}`
  }
}

/** The words that name a store, in the middle of a command: before what is for a program. */
function withStore(words: readonly string[], store: readonly string[]): string[] {
  const cut = words.indexOf('--')
  return cut < 0 ? [...words, ...store] : [...words.slice(0, cut), ...store, ...words.slice(cut)]
}

let schemas = 0

/**
 * A store with a terminal on it. Commands that only set the scene are typed without a process of their own; those that a
 * test is about run as real ones.
 */
export class Shell {
  readonly #terminal = new Terminal()
  readonly store: readonly string[]
  readonly #running: Running[] = []

  constructor(database: 'sqlite' | 'postgres') {
    const schema = `e2e_${process.pid}_${++schemas}`
    this.store = database === 'sqlite' ? [] : ['--store', postgresUrl(), '--schema', schema]
    onTestFinished(() => this.#remove())
  }

  get folder(): string {
    return this.#terminal.folder
  }

  /** Starts a process. */
  start(words: string | readonly string[], typing: Typing = {}): Running {
    const running = new Running(withStore(wordsOf(words), this.store), { folder: this.folder, ...typing })
    this.#running.push(running)
    return running
  }

  /** Starts a command whose stdout is a disk without room. */
  async intoFullDisk(words: string): Promise<Pick<Ended, 'exit' | 'stderr'>> {
    const disk = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [binary, ...words.split(' '), ...this.store], {
      cwd: this.folder,
      stdio: ['ignore', disk, 'pipe'],
    })
    const stderr = await text(child.stderr as NodeJS.ReadableStream)
    closeSync(disk)
    return { exit: child.exitCode ?? (await once(child, 'exit'))[0], stderr }
  }

  /** Types a command without a process. */
  belfry(
    words: string | readonly string[],
    typing?: { readonly isTTY?: boolean; readonly stdin?: string },
  ): Promise<Said> {
    return this.#terminal.belfry(withStore(wordsOf(words), this.store), typing)
  }

  json<Answer>(words: string | readonly string[]): Promise<Answer> {
    return this.#terminal.json(withStore(wordsOf(words), this.store))
  }

  /** A worker that has begun. */
  async up(flags = ''): Promise<Running> {
    const worker = this.start(`up ${flags}`.trim())
    await worker.told(/works on|worker\.started/)
    return worker
  }

  write(path: string, content: string): string {
    return this.#terminal.write(path, content)
  }

  /** Comes when a command has written this much to a file of the folder. */
  async written(file: string, what: RegExp): Promise<string> {
    const path = join(this.folder, file)
    for (;;) {
      const found = existsSync(path) ? readFileSync(path, 'utf8') : ''
      if (what.test(found)) return found
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async #remove(): Promise<void> {
    for (const { child } of this.#running) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
    await Promise.all(this.#running.map(({ ended }) => ended))
    this.#terminal.remove()
  }
}

function wordsOf(words: string | readonly string[]): readonly string[] {
  return typeof words === 'string' ? words.split(' ') : words
}
