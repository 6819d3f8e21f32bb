import { readFile, stat } from 'node:fs/promises'
import { type Clock, pause, systemClock } from '../core/clock.ts'
import { amongProcesses, isOver, msPerTick, type ProcessRow, processRow, startOfFile } from './process-table.ts'

/** An attempt whose worker is dead. */
export interface DeadAttempt {
  readonly runId: string
  readonly fence: number
  readonly claimId: string
  readonly leasedAt: number
}

export interface LeftoverOptions {
  /** The clock that `leasedAt` is compared with. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** More than the kernel allows a program by default. */
const environmentBytesMax = 2 * 1024 * 1024
/** A leftover may start another while it is being ended, so the search repeats until none is found. */
const passesMax = 5
const vanishMsMax = 5_000
const pollMsMax = 50
/** The lease was written by the store's clock, which may be that of another machine. */
const clockDifferenceMsMax = 5_000

/**
 * Ends processes that attempts of dead workers left running on this machine, so that a run is not leased again while its last
 * attempt still acts. Resolves to how many processes were found, when they are gone or cannot be ended.
 *
 * A leftover is a process of this user that has run, fence and claim of the attempt in its environment and started after the
 * lease: descendants that left their group are found as well. Its whole group is ended. Only Linux shows the environment of other
 * processes; elsewhere this does nothing, and the tether alone must do.
 */
export async function endLeftovers(
  attempts: readonly DeadAttempt[],
  { clock = systemClock }: LeftoverOptions = {},
): Promise<number> {
  const bootedAt = attempts.length === 0 ? null : await bootInstant(clock)
  if (bootedAt === null) return 0
  const wanted = new Map(attempts.map((each) => [keyOf(each.runId, String(each.fence), each.claimId), each]))
  const search = { wanted, bootedAt, spared: await ownLine() }
  const ended = new Set<string>()
  for (let pass = 0; pass < passesMax; pass++) {
    const found = await amongProcesses((pid) => leftover(pid, search))
    const known = ended.size
    for (const { pid, startTicks } of found) ended.add(`${pid} ${startTicks}`)
    // Processes that are still there after a pass are not ours to end, or hang in the kernel.
    if (ended.size === known) break
    for (const row of found) await end(row, search.spared)
    await vanished(found)
  }
  return ended.size
}

interface Search {
  readonly wanted: ReadonlyMap<string, DeadAttempt>
  readonly bootedAt: number
  readonly spared: Spared
}

interface Spared {
  readonly pids: ReadonlySet<number>
  readonly groups: ReadonlySet<number>
}

async function leftover(pid: number, { wanted, bootedAt, spared }: Search): Promise<ProcessRow | null> {
  if (spared.pids.has(pid) || !(await isOwn(pid))) return null
  const attempt = wanted.get((await keyInEnvironment(pid)) ?? '')
  const row = attempt === undefined ? null : await processRow(pid)
  if (attempt === undefined || row === null || isOver(row)) return null
  const startedAt = bootedAt + row.startTicks * msPerTick
  return startedAt < attempt.leasedAt - clockDifferenceMsMax ? null : row
}

/** Checks again just before: the process may have ended, and its pid may have been reused. */
async function end({ pid, startTicks }: ProcessRow, spared: Spared): Promise<void> {
  const row = await processRow(pid)
  if (row?.startTicks !== startTicks) return
  // Group 0 cannot be seen from here, and a signal to "-1" would reach everything.
  const isWholeGroup = row.group > 1 && !spared.groups.has(row.group)
  try {
    process.kill(isWholeGroup ? -row.group : pid, 'SIGKILL')
  } catch {
    // It ended by itself, or this user may not end it; the next check tells.
  }
}

async function isOwn(pid: number): Promise<boolean> {
  try {
    return (await stat(`/proc/${pid}`)).uid === process.geteuid?.()
  } catch {
    // It has ended.
    return false
  }
}

/** The attempt in the environment of the process; `null` when there is none, or it is not readable. */
async function keyInEnvironment(pid: number): Promise<string | null> {
  const environment = await startOfFile(`/proc/${pid}/environ`, environmentBytesMax)
  if (environment === null || !environment.includes('BELFRY_CLAIM=')) return null
  const values = new Map(
    environment
      .toString('utf8')
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  return keyOf(values.get('BELFRY_RUN'), values.get('BELFRY_ATTEMPT'), values.get('BELFRY_CLAIM'))
}

function keyOf(...parts: readonly (string | undefined)[]): string {
  return parts.join('\0')
}

/** This process and its ancestors, which must not be ended. */
async function ownLine(): Promise<Spared> {
  const pids = new Set<number>()
  const groups = new Set<number>()
  for (let pid = process.pid; pid > 0 && !pids.has(pid); ) {
    pids.add(pid)
    const row = await processRow(pid)
    if (row === null) break
    groups.add(row.group)
    pid = row.parent
  }
  return { pids, groups }
}

/** Real processes take real time to vanish, whatever clock is injected. */
async function vanished(rows: readonly ProcessRow[]): Promise<void> {
  const until = systemClock.monotonic() + vanishMsMax
  let pollMs = 1
  for (const row of rows) {
    while (await isRunning(row)) {
      if (systemClock.monotonic() > until) return
      await pause(systemClock, pollMs)
      pollMs = Math.min(2 * pollMs, pollMsMax)
    }
  }
}

async function isRunning({ pid, startTicks }: ProcessRow): Promise<boolean> {
  const row = await processRow(pid)
  return row !== null && row.startTicks === startTicks && !isOver(row)
}

/** When this machine booted, by its current wall clock; `null` where there is no table of processes to read. */
async function bootInstant(clock: Pick<Clock, 'now'>): Promise<number | null> {
  try {
    const [seconds] = (await readFile('/proc/uptime', 'latin1')).split(' ')
    return clock.now() - Number(seconds) * 1_000
  } catch {
    // This is not Linux.
    return null
  }
}
