import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { systemClock } from '../../../src/core/clock.ts'
import { main } from '../../../src/doors/cli/main.ts'
import { startedAs } from '../../../src/doors/cli/spelling/started-as.ts'
import type { ServerOpening, StoreOpening } from '../../../src/doors/cli/world.ts'
import { openSession, openWorker, reachServer, serveModel } from '../../../src/sessions.ts'

/** What a command came to. */
export interface Said {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

interface Typing {
  /** What is piped in. Without it somebody sits at the keyboard. */
  readonly stdin?: string
  /** What whoever sits at the keyboard types once something is running; Ctrl-D where it ends without a line. */
  readonly typed?: string
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  /** The file that node was given to start this. */
  readonly script?: string
  /** Whether stdout and stderr are a terminal. */
  readonly isTTY?: boolean
}

/** A folder of its own with a command line in it: the door itself, on real stores, without a process for every command. */
export class Terminal {
  readonly folder = mkdtempSync(join(tmpdir(), 'belfry-cli-'))
  readonly #env: Readonly<Record<string, string>>

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = { BELFRY_ZONE: 'Europe/Paris', BELFRY_LISTEN: 'none', ...env }
  }

  write(path: string, content: string): string {
    const file = join(this.folder, path)
    writeFileSync(file, content, { mode: 0o755 })
    return file
  }

  /** Types a command as it stands in a text, where no word has blanks, or as its words. */
  async belfry(command: string | readonly string[], typing: Typing = {}): Promise<Said> {
    const { stdin, typed, script, folder = this.folder, isTTY = false } = typing
    const env = { ...this.#env, ...typing.env }
    const words = typeof command === 'string' ? command.split(' ').filter((word) => word !== '') : command
    const [out, err] = [screen(isTTY), screen(isTTY)]
    const world = {
      env,
      folder,
      own: startedAs({ env, folder, script }),
      stdin: keyboard(stdin, typed),
      stdout: out.stream,
      stderr: err.stream,
      clock: systemClock,
      open: (opening: StoreOpening) => openSession(opening, { env, folder }),
      reach: (opening: ServerOpening) => reachServer(opening, { env }),
      work: openWorker,
      model: serveModel,
    }
    const exit = await main(words, world, '1.2.3')
    return { exit, stdout: out.text(), stderr: err.text() }
  }

  /** The same, answered as JSON. */
  async json<Answer>(command: string | readonly string[], typing?: Typing): Promise<Answer> {
    const words = typeof command === 'string' ? command.split(' ') : [...command]
    const cut = words.indexOf('--')
    words.splice(cut < 0 ? words.length : cut, 0, '--json')
    const { exit, stdout, stderr } = await this.belfry(words, typing)
    if (exit !== 0) throw new Error(`belfry ${words.join(' ')}: exit ${exit}\n${stderr}`)
    return JSON.parse(stdout) as Answer
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  get above(): string {
    return dirname(this.folder)
  }
}

function screen(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const parts: string[] = []
  const stream = Object.assign(new EventEmitter(), { isTTY, write: (text: string) => parts.push(text) > 0 })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => parts.join('') }
}

function keyboard(piped: string | undefined, typed: string | undefined): NodeJS.ReadStream {
  const stream = new PassThrough()
  if (piped !== undefined) stream.end(piped)
  if (typed !== undefined) stream.end(typed)
  return Object.assign(stream, { isTTY: piped === undefined }) as unknown as NodeJS.ReadStream
}
