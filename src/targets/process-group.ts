import assert from 'node:assert'
import { pause, systemClock } from '../core/clock.ts'
import { amongProcesses, isOver, processRow } from './process-table.ts'

/**
 * How long the processes of an attempt have between TERM and KILL, in milliseconds. It is in their environment, so that a worker that
 * finds these processes after their own worker died knows the time.
 */
export const killAfterVariable = 'BELFRY_KILL_AFTER_MS'
/** The largest value that a target can request. */
export const killAfterMsMax = 15_000

const pollMsMax = 50
/** After this time most processes are gone; the rest may be zombies, which only the process table shows. */
const thoroughPollMs = 8
/** How long a killed process may take to vanish: it may be in a system call that the kernel does not interrupt. */
const vanishMsMax = 10_000

/**
 * A program and all its descendants that did not leave its group. A signal reaches all of them at once, including processes that
 * are being started at that instant.
 *
 * All waiting here uses the machine's clock, whatever clock the attempt uses: a real program takes real time.
 */
export class ProcessGroup {
  readonly id: number
  readonly #killAfterMs: number
  #endingSince: number | null = null
  #takeBack: () => void = () => undefined

  /** `id` is the pid of the program that leads the group. */
  constructor(id: number, killAfterMs: number) {
    // A signal to "-0" would reach our own group, and one to "-1" everything.
    assert(id > 1, `process group ${id}`)
    this.id = id
    this.#killAfterMs = killAfterMs
  }

  /** Sends TERM to the group, and KILL after `killAfterMs`. */
  end(): void {
    if (this.#endingSince !== null) return
    this.#endingSince = systemClock.monotonic()
    this.#send('SIGTERM')
    this.#takeBack = systemClock.after(this.#killAfterMs, () => this.#send('SIGKILL'))
  }

  /**
   * Ends the rest of the group after its leader has ended, and resolves when no process of the group runs; `false` if some
   * cannot be ended, because they belong to another user or hang in the kernel.
   */
  async endRest(): Promise<boolean> {
    if (!(await this.#isRunning(false))) return this.#over(true)
    this.end()
    const since = this.#endingSince ?? 0
    for (let pollMs = 1; ; pollMs = Math.min(2 * pollMs, pollMsMax)) {
      await pause(systemClock, pollMs)
      if (!(await this.#isRunning(pollMs >= thoroughPollMs))) return this.#over(true)
      if (systemClock.monotonic() - since > this.#killAfterMs + vanishMsMax) return this.#over(false)
    }
  }

  #over(isGone: boolean): boolean {
    this.#takeBack()
    return isGone
  }

  /**
   * A pid is not reused while a group has it. The signal could reach another process only if the pid were reused between the
   * end of the last member and the next line, which is too short for that.
   */
  #send(signal: 'SIGTERM' | 'SIGKILL' | 0): 'sent' | 'gone' | 'forbidden' {
    try {
      process.kill(-this.id, signal)
      return 'sent'
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM' ? 'forbidden' : 'gone'
    }
  }

  /** Zombies still count as members, so a thorough check asks whether any member lives. */
  async #isRunning(isThorough: boolean): Promise<boolean> {
    const answer = this.#send(0)
    if (answer === 'gone') return false
    if (process.platform !== 'linux') return answer === 'sent'
    if (!isThorough) return true
    const living = await amongProcesses(async (pid) => {
      const row = await processRow(pid)
      return row !== null && row.group === this.id && !isOver(row) ? pid : null
    })
    return living.length > 0
  }
}
