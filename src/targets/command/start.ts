import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { BelfryError } from '../../core/error.ts'
import { ProcessGroup } from './process-group.ts'
import type { Program } from './program.ts'
import type { Tether } from './tether.ts'

/**
 * What runs first in the place of the program: it waits for leave and then becomes the program, so that pid, exit code
 * and signal are the program's own. Leave is given when the tether holds the group. Should the worker die before, there
 * is nobody to give it, and the program never starts: at no instant can it run without the tether. The variables that
 * the shell adds are taken away again.
 */
const gate = 'read -r BELFRY_LEAVE <&3 || exit 1; unset BELFRY_LEAVE PWD OLDPWD SHLVL; exec "$@" 3<&-'

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface Started {
  readonly child: ChildProcess
  readonly group: ProcessGroup
  /** The program has ended. Others of its group may still run. */
  readonly exited: Promise<Exit>
}

export interface StartInput {
  readonly program: Program
  /** What the program reads; `null` when there is nothing to read. */
  readonly input: string | null
  readonly tether: Tether
  readonly killAfterMs: number
}

/** Starts a program in a group of its own, behind the tether. Throws when it was not started. */
export async function start({ program, input, tether, killAfterMs }: StartInput): Promise<Started> {
  const { child, pid } = await spawned(program, input !== null)
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const group = new ProcessGroup(pid, killAfterMs)
  try {
    await tether.hold(pid)
  } catch (error) {
    group.end()
    await exited
    tether.letGo(pid)
    throw error
  }
  giveLeave(child)
  feed(child, input)
  return { child, group, exited }
}

interface Spawned {
  readonly child: ChildProcess
  readonly pid: number
}

async function spawned({ argv, cwd, environment }: Program, hasInput: boolean): Promise<Spawned> {
  let child: ChildProcess
  try {
    child = spawn('/bin/sh', ['-c', gate, 'belfry', ...argv], {
      cwd,
      env: environment,
      // Makes it the leader of a session and group of its own.
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    throw notStarted(argv[0], error)
  }
  if (child.pid === undefined) {
    const [error] = await once(child, 'error')
    throw notStarted(argv[0], error)
  }
  return { child, pid: child.pid }
}

/** Only the code is shown: what the system says besides may hold the arguments, and among them secrets. */
function notStarted(name: string, error: unknown): BelfryError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given'
  if (code !== 'E2BIG') return new BelfryError('unavailable', `The program ${name} could not be started (${code}).`)
  return new BelfryError(
    'invalid',
    `The arguments and environment of ${name} are longer than the system allows (E2BIG).`,
  )
}

function giveLeave({ stdio }: ChildProcess): void {
  const leave = stdio[3] as Duplex
  // When it has ended meanwhile nobody waits for leave.
  leave.on('error', () => undefined)
  leave.end('\n')
}

function feed({ stdin }: ChildProcess, input: string | null): void {
  // A program need not read what it is given.
  stdin?.on('error', () => undefined)
  stdin?.end(input)
}
