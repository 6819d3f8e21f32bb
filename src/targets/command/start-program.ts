import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { BelfryError } from '../../core/error.ts'
import { ProcessGroup } from '../process-group.ts'
import type { Program } from './start-problem.ts'
import type { Tether } from './tether.ts'

/**
 * Runs first in place of the program: it waits for permission and then becomes the program by exec, so that pid, exit code and
 * signal are the program's own. Permission comes when the tether holds the group. If the worker dies before, permission never
 * comes, and the program never starts: at no instant can it run without the tether. The variables that the shell adds are removed
 * again.
 */
const gate = 'read -r BELFRY_LEAVE <&3 || exit 1; unset BELFRY_LEAVE PWD OLDPWD SHLVL; exec "$@" 3<&-'

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface Started {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly group: ProcessGroup
  /** The program has ended. Others of its group may still run. */
  readonly exited: Promise<Exit>
}

export interface StartInput {
  readonly program: Program
  /** The program's stdin; `null` when there is none. */
  readonly input: string | null
  readonly tether: Tether
  readonly killAfterMs: number
}

/** Starts a program in a group of its own, behind the tether. Throws when it was not started. */
export async function start({ program, input, tether, killAfterMs }: StartInput): Promise<Started> {
  const { child, pid, exited } = await spawned(program, input)
  const group = new ProcessGroup(pid, killAfterMs)
  try {
    await tether.hold(pid, killAfterMs)
  } catch (error) {
    group.end()
    await exited
    tether.letGo(pid)
    throw error
  }
  const [, stdout, stderr, leave] = child.stdio as [unknown, Readable, Readable, Duplex, unknown]
  // If the program has ended meanwhile, the write fails; that does not matter.
  leave.on('error', () => undefined)
  leave.end('\n')
  return { stdout, stderr, group, exited }
}

interface Spawned {
  readonly child: ChildProcess
  readonly pid: number
  readonly exited: Promise<Exit>
}

async function spawned({ argv, cwd, environment }: Program, input: string | null): Promise<Spawned> {
  let file: FileHandle | null = null
  try {
    file = input === null ? null : await inputFile(input)
    const child = spawn('/bin/sh', ['-c', gate, 'belfry', ...argv], {
      cwd,
      env: environment,
      // Makes the program the leader of its own session and group.
      detached: true,
      stdio: [file?.fd ?? 'ignore', 'pipe', 'pipe', 'pipe'],
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    // The group is registered at once: this process may be killed before it does anything else.
    const exited = new Promise<Exit>((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    })
    return { child, pid: child.pid, exited }
  } catch (error) {
    throw notStarted(argv[0], error)
  } finally {
    await file?.close()
  }
}

/**
 * An unlinked file. Node's own pipes are sockets, of which programs cannot open `/dev/stdin`, and for which bash takes itself for
 * a remote login that has to read its start-up file.
 */
async function inputFile(input: string): Promise<FileHandle> {
  const path = join(tmpdir(), `belfry-${randomUUID()}`)
  try {
    await writeFile(path, input, { flag: 'wx', mode: 0o600 })
    return await open(path, 'r')
  } finally {
    await rm(path, { force: true })
  }
}

/** Only the code is shown: the system's message may contain the arguments, and among them secrets. */
function notStarted(name: string, error: unknown): BelfryError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given'
  if (code !== 'E2BIG') return new BelfryError('unavailable', `The program ${name} could not be started (${code}).`)
  return new BelfryError(
    'invalid',
    `The arguments and environment of ${name} are longer than the system allows (E2BIG).`,
  )
}
