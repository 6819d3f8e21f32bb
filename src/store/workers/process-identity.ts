import { readFileSync, readlinkSync } from 'node:fs'

/**
 * What tells one process from all others: a pid means something only in its pid namespace and until the next boot, and
 * is used again, so its start time is part of it.
 */
export interface ProcessIdentity {
  readonly pid: number
  readonly startedAt: string
  readonly bootId: string
  readonly pidNamespace: string
}

/** This process, where the system tells enough about processes to recognise it again (Linux); elsewhere `null`. */
export function ownIdentity(): ProcessIdentity | null {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const startedAt = startOf(process.pid)
    if (startedAt === null) return null
    return { pid: process.pid, startedAt, bootId, pidNamespace: readlinkSync('/proc/self/ns/pid') }
  } catch {
    // No /proc: nothing can be proven about any process, so nothing is claimed.
    return null
  }
}

/** Dead only when that is certain: a process of another machine or container may live, whatever we can see of its pid. */
export function isProvenDead(other: ProcessIdentity, own: ProcessIdentity | null = ownIdentity()): boolean {
  if (own === null || other.bootId !== own.bootId || other.pidNamespace !== own.pidNamespace) return false
  return startOf(other.pid) !== other.startedAt
}

/** What is left of a process that has ended, until its parent asks how: it does nothing any more. */
const endedStates = ['Z', 'X']

/** The start of a process in ticks since boot, or `null` when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in brackets and may itself hold blanks and brackets.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return endedStates.includes(state) ? null : (rest[18] ?? null)
  } catch {
    return null
  }
}
