import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { pause, systemClock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import type { Program } from '../../../targets/command/start-problem.ts'
import type { Exit, Started, StartInput } from '../../../targets/command/start-program.ts'
import { ProcessGroup } from '../../../targets/process-group.ts'
import { isOver as isZombie, processRow } from '../../../targets/process-table.ts'
import { paneOf, terminalName, tmux } from './tmux.ts'

/**
 * Runs first as the command of the pane, and becomes the program by exec. The script waits until the tether holds its process group; if the
 * worker dies before that, the program never starts. Nothing is typed into the pane, because a shell would run what an agent prints.
 */
const gate = 'while [ ! -e "$1/go" ]; do kill -0 "$2" 2>/dev/null || exit 1; sleep 0.02; done; . "$1/start"'
/** The first byte confirms that the output has a reader. */
const listenedTo = 1
const silenceMs = 200
const pollMs = 500
const nudgesMax = 20
const triesMax = 10
const triesPauseMs = 50
const size = ['-x', '200', '-y', '50']

export interface TerminalInput extends StartInput {
  readonly socket: string
  readonly runId: string
}

/** Facts that identify the process in a terminal for good. */
export interface TerminalFacts {
  readonly socket: string
  readonly session: string
  readonly pid: number
  /** When the process started, in ticks since boot; null if the system does not report it. */
  readonly startTicks: number | null
}

export interface StartedInTerminal extends Started {
  readonly terminal: TerminalFacts
  /** Closes the terminal, after the last process of the program has ended. */
  close(): Promise<void>
}

/** Starts a program in a terminal of its own, in the background, under the tether. Throws if the program was not started. */
export async function startInTerminal({
  program,
  input,
  tether,
  killAfterMs,
  ...where
}: TerminalInput): Promise<StartedInTerminal> {
  const { socket, runId } = where
  const session = terminalName(runId)
  const folder = await mkdtemp(`${socket}-`)
  const close = async () => {
    await tmux(socket, ['kill-session', '-t', paneOf(session)]).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await writeStart(folder, program, input)
    const output = await Output.at(join(folder, 'out'))
    const { pid, serverPid } = await paneMade(socket, session, folder)
    const group = new ProcessGroup(pid, killAfterMs)
    await output.listened()
    await tether.hold(pid, killAfterMs).catch((error: unknown) => {
      tether.letGo(pid)
      throw error
    })
    const startTicks = (await processRow(pid))?.startTicks ?? null
    const exited = ended({ terminal: { socket, session, pid, startTicks }, serverPid, output })
    await writeFile(join(folder, 'go'), '')
    return {
      stdout: output.stream,
      stderr: new PassThrough().end(),
      group,
      exited,
      terminal: { socket, session, pid, startTicks },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The tmux server exits with its last terminal, and a terminal that is created at that moment is lost with it. Then the terminal is created
 * again.
 */
async function paneMade(socket: string, session: string, folder: string): Promise<Pane> {
  for (let tries = 1; ; tries++) {
    try {
      return await newPane(socket, session, folder)
    } catch (error) {
      if (tries === triesMax) throw error
      await pause(systemClock, triesPauseMs)
    }
  }
}

interface Pane {
  readonly pid: number
  readonly serverPid: number
}

/** A terminal that was left behind by an attempt whose worker died has the same name. */
async function newPane(socket: string, session: string, folder: string): Promise<Pane> {
  const pane = paneOf(session)
  await tmux(socket, ['kill-session', '-t', pane]).catch(() => undefined)
  const command = ['/bin/sh', '-c', gate, 'belfry', folder, String(process.pid)]
  const made = await tmux(socket, [
    ...['new-session', '-d', '-s', session, ...size, '--', ...command],
    ...[';', 'set-option', '-w', '-t', pane, 'remain-on-exit', 'on'],
    ...[';', 'set-hook', '-w', '-t', pane, 'pane-died', `wait-for -S ${session}`],
    ...[';', 'pipe-pane', '-O', '-t', pane, `exec >'${folder}/out'; printf '\\001'; exec cat`],
    ...[';', 'display-message', '-p', '-t', pane, '#{pane_pid} #{pid}'],
  ])
  const [pid = 0, serverPid = 0] = made.trim().split(' ').map(Number)
  return { pid, serverPid }
}

interface Ending {
  readonly terminal: TerminalFacts
  readonly serverPid: number
  readonly output: Output
}

/** Waits for the end of the program and of its output. */
async function ended({ terminal, serverPid, output }: Ending): Promise<Exit> {
  const { socket, session } = terminal
  const dead = '#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}'
  let isTold = false
  const told = tmux(socket, ['wait-for', session])
    .catch(() => undefined)
    .then(() => {
      isTold = true
    })
  for (let nudges = 0; !isTold && nudges < nudgesMax; ) {
    await Promise.race([told, pause(systemClock, pollMs)])
    if (isTold || !(await isOver(terminal))) continue
    nudges++
    nudge(serverPid)
  }
  const seen = await tmux(socket, ['display-message', '-p', '-t', paneOf(session), dead]).catch(() => '')
  await output.quiet()
  const [isDead, status = '', signal = ''] = seen.trim().split('|')
  // The terminal was closed from outside, which ended the program.
  if (isDead !== '1') return { exitCode: null, signal: 'SIGHUP' }
  return status === ''
    ? { exitCode: null, signal: signalName(Number(signal)) }
    : { exitCode: Number(status), signal: null }
}

/** Whether the program has ended, whatever tmux reports. The pid alone proves nothing: it may soon belong to another process. */
async function isOver({ pid, startTicks }: TerminalFacts): Promise<boolean> {
  if (startTicks === null) return !isThere(pid)
  const row = await processRow(pid)
  return row === null || row.startTicks !== startTicks || isZombie(row)
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A server that is busy with output may miss the end of a program; this signal makes it look again. */
function nudge(serverPid: number): void {
  try {
    process.kill(serverPid, 'SIGCHLD')
  } catch {
    // The server has ended, and `wait-for` with it.
  }
}

function signalName(number: number): string | null {
  return Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? null
}

/** The output of the pane. tmux does not wait for the reader: it keeps the output that was not read yet. */
class Output {
  readonly stream: Socket
  readonly #writer: number

  private constructor(stream: Socket, writer: number) {
    this.stream = stream
    this.#writer = writer
  }

  static async at(path: string): Promise<Output> {
    await promisify(execFile)('mkfifo', ['-m', '600', path])
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    // This end keeps the pipe open until the pane writes.
    const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    return new Output(new Socket({ fd, readable: true, writable: false }), writer)
  }

  async listened(): Promise<void> {
    await once(this.stream, 'readable')
    const [first] = (this.stream.read(1) as Buffer | null) ?? []
    closeSync(this.#writer)
    if (first !== listenedTo) throw new BelfryError('unavailable', 'The output of the terminal cannot be read.')
  }

  /** Resolves when all output was read and no more has come for a while. */
  async quiet(): Promise<void> {
    for (let before = -1; this.stream.isPaused() || this.stream.bytesRead !== before; ) {
      before = this.stream.bytesRead
      await pause(systemClock, silenceMs)
    }
  }
}

/** Environment and arguments may contain secrets, so they are in a file that is gone before the program begins. */
async function writeStart(folder: string, { argv, cwd, environment }: Program, input: string | null): Promise<void> {
  const names = Object.keys(environment).filter((name) => !/^[A-Za-z_]\w*$/.test(name))
  if (names.length > 0)
    throw new BelfryError('invalid', `A terminal takes no variable named ${JSON.stringify(names[0])}.`)
  const exported = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}`)
  const place = quoted(folder)
  const lines = [
    'unset TMUX TMUX_PANE',
    ...exported,
    `cd -- ${quoted(cwd)} || exit 126`,
    ...(input === null ? [] : [`exec <${place}/input`]),
    `rm -f -- ${place}/start ${place}/input ${place}/go`,
    `exec ${argv.map(quoted).join(' ')}`,
  ]
  if (input !== null) await writeFile(join(folder, 'input'), input, { mode: 0o600 })
  await writeFile(join(folder, 'start'), `${lines.join('\n')}\n`, { mode: 0o600 })
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
