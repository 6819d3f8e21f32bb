import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const patienceMs = 30_000

interface Process {
  readonly pid: number
  readonly parent: number
  readonly isOver: boolean
  readonly command: string
}

/** All processes, those included that have ended and wait for their parent to notice. */
export function processes(): Process[] {
  if (process.platform !== 'linux') return listedProcesses()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')
        return [{ pid: Number(name), parent: Number(parent), isOver: state === 'Z', command }]
      } catch {
        return []
      }
    })
}

function listedProcesses(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? []
    if (pid === undefined || state === undefined) return []
    return [{ pid: Number(pid), parent: Number(parent), isOver: state.startsWith('Z'), command: command ?? '' }]
  })
}

/** Whether anything runs under that pid. One that has ended and waits for its parent to notice does not. */
export function isRunning(pid: number): boolean {
  return processes().some((each) => each.pid === pid && !each.isOver)
}

/** Resolves when it is so; fails when it is not so for very long. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  while (!isSo()) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain: ${what}`)
    await pause(10)
  }
}

export function vanished(...pids: number[]): Promise<void> {
  return until(() => !pids.some(isRunning), `for ${pids.join(', ')} to vanish`)
}
