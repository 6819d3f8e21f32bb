import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Identifies one process: a pid is valid only in its pid namespace and until the next boot, and is reused, so its start time is
 * part of it.
 */
export interface ProcessIdentity {
  readonly pid: number
  readonly startedAt: string
  readonly bootId: string
  readonly pidNamespace: string
}

/** This process, where the system gives enough information to recognise it again (Linux); elsewhere `null`. */
export function ownIdentity(): ProcessIdentity | null {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const startedAt = startOf(process.pid)
    if (startedAt === null) return null
    return { pid: process.pid, startedAt, bootId, pidNamespace: readlinkSync('/proc/self/ns/pid') }
  } catch {
    // No /proc: no process can be proven dead.
    return null
  }
}

/**
 * A process counts as dead only when that is certain: a process of another machine or container may be alive, whatever its
 * pid looks like here.
 */
export function isProvenDead(other: ProcessIdentity, own: ProcessIdentity | null = ownIdentity()): boolean {
  if (own === null || other.bootId !== own.bootId || other.pidNamespace !== own.pidNamespace) return false
  return startOf(other.pid) !== other.startedAt
}

/** The states of a process that has ended but was not yet reaped by its parent. */
const endedStates = ['Z', 'X']

/** The start of a process in ticks since boot, or `null` where it does not exist. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in brackets and may itself contain blanks and brackets.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return endedStates.includes(state) ? null : (rest[18] ?? null)
  } catch {
    return null
  }
}
