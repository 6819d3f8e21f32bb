import { readFile, stat } from 'node:fs/promises'
import { type Clock, pause, systemClock } from '../core/clock.ts'
import { killAfterVariable, killAfterMsMax as longestMs, ProcessGroup } from './process-group.ts'
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
  /**
   * The most that a leftover is given after TERM, whatever its environment says: an agent can write any value into the
   * environment of its children.
   */
  readonly killAfterMsMax?: number
}

/** More than the kernel allows a program by default. */
const environmentBytesMax = 2 * 1024 * 1024
/** A process that is being ended may start another one, so the search repeats until none is found. */
const passesMax = 5
const vanishMsMax = 5_000
const pollMsMax = 50
/** The lease was written by the store's clock, which may be that of another machine. */
const clockDifferenceMsMax = 5_000

/**
 * Ends processes that attempts of dead workers left running on this machine, so that a run is not leased again while its last
 * attempt still acts. Resolves to how many processes were found, when they are gone or cannot be ended.
 *
 * A leftover is a process of this user that has run, fence and claim of the attempt in its environment and started after the lease:
 * descendants that left their group are found as well. Its whole group is ended: at once, or, where its environment says how long
 * it has after TERM, by TERM first. Even if they keep starting others, all are killed when the longest such time is over. Only
 * Linux shows the environment of other processes; on other systems this does nothing, and only the tether ends leftovers.
 */
export async function endLeftovers(
  attempts: readonly DeadAttempt[],
  { clock = systemClock, killAfterMsMax = longestMs }: LeftoverOptions = {},
): Promise<number> {
  const bootedAt = attempts.length === 0 ? null : await bootInstant(clock)
  if (bootedAt === null) return 0
  const wanted = new Map(attempts.map((each) => [keyOf(each.runId, String(each.fence), each.claimId), each]))
  const search = { wanted, bootedAt, spared: await ownLine() }
  const ended = new Set<string>()
  const startedAt = systemClock.monotonic()
  const leftMs = (wantedMs: number) => Math.min(wantedMs, killAfterMsMax) - (systemClock.monotonic() - startedAt)
  for (let pass = 0; pass < passesMax; pass++) {
    const found = await amongProcesses((pid) => leftover(pid, search))
    const known = ended.size
    for (const { pid, startTicks } of found) ended.add(`${pid} ${startTicks}`)
    // Processes that are still there after a pass belong to another user, or hang in the kernel.
    if (ended.size === known) break
    const { spared } = search
    const each = new Map(found.map((row) => [isWholeGroup(row, spared) ? -row.group : row.pid, row]))
    await Promise.all([...each.values()].map((row) => end(row, { leftMs: leftMs(row.killAfterMs), spared })))
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

interface Ending {
  /** How much of the time after TERM is left for a process. */
  readonly leftMs: number
  readonly spared: Spared
}

interface Leftover extends ProcessRow {
  readonly killAfterMs: number
}

async function leftover(pid: number, { wanted, bootedAt, spared }: Search): Promise<Leftover | null> {
  if (spared.pids.has(pid) || !(await isOwn(pid))) return null
  const marks = await marksOf(pid)
  const attempt = marks === null ? undefined : wanted.get(marks.key)
  const row = attempt === undefined ? null : await processRow(pid)
  if (marks === null || attempt === undefined || row === null || isOver(row)) return null
  const startedAt = bootedAt + row.startTicks * msPerTick
  return startedAt < attempt.leasedAt - clockDifferenceMsMax ? null : { ...row, killAfterMs: marks.killAfterMs }
}

/** Checks again just before: the process may have ended, and its pid may have been reused. */
async function end({ pid, startTicks }: ProcessRow, { leftMs, spared }: Ending): Promise<void> {
  const row = await processRow(pid)
  if (row?.startTicks !== startTicks) return
  const isWhole = isWholeGroup(row, spared)
  if (isWhole && leftMs > 0) {
    await new ProcessGroup(row.group, leftMs).endRest()
    return
  }
  try {
    process.kill(isWhole ? -row.group : pid, 'SIGKILL')
  } catch {
    // The process ended by itself, or this user may not end it; the next check shows which.
  }
}

/** Group 0 cannot be seen from here, and a signal to "-1" would reach everything. */
function isWholeGroup({ group }: ProcessRow, spared: Spared): boolean {
  return group > 1 && !spared.groups.has(group)
}

async function isOwn(pid: number): Promise<boolean> {
  try {
    return (await stat(`/proc/${pid}`)).uid === process.geteuid?.()
  } catch {
    // The process has ended.
    return false
  }
}

interface Marks {
  /** The attempt. */
  readonly key: string
  readonly killAfterMs: number
}

/** The attempt that the environment of a process names; `null` when it names none, or is not readable. */
async function marksOf(pid: number): Promise<Marks | null> {
  const environment = await startOfFile(`/proc/${pid}/environ`, environmentBytesMax)
  if (environment === null || !environment.includes('BELFRY_CLAIM=')) return null
  const values = new Map(
    environment
      .toString('utf8')
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  const killAfterMs = Number(values.get(killAfterVariable) ?? 0) || 0
  return { key: keyOf(values.get('BELFRY_RUN'), values.get('BELFRY_ATTEMPT'), values.get('BELFRY_CLAIM')), killAfterMs }
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
