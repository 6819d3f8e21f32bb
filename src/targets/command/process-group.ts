import assert from 'node:assert'
import { pause, systemClock } from '../../core/clock.ts'
import { amongProcesses, isOver, processRow } from '../process-table.ts'

const pollMsMax = 50
/** By then most are gone; what is left may be dead and unburied, which only the table of processes tells. */
const thoroughPollMs = 8
/** How long a killed process may take to vanish: it may sit in a call that the kernel does not interrupt. */
const vanishMsMax = 10_000

/**
 * A program and all its descendants that did not leave its group. Signals reach them at once and as a whole, those that
 * are being started at that instant included.
 *
 * All waiting here is by the machine's clock, whatever clock the attempt lives by: a real program takes real time.
 */
export class ProcessGroup {
  readonly id: number
  readonly #killAfterMs: number
  #endingSince: number | null = null
  #takeBack: () => void = () => undefined

  /** `id` is the pid of the program that leads it. */
  constructor(id: number, killAfterMs: number) {
    // A signal to "-0" would reach our own group, and one to "-1" everything.
    assert(id > 1, `process group ${id}`)
    this.id = id
    this.#killAfterMs = killAfterMs
  }

  /** Asks all of it to end (TERM), and after `killAfterMs` makes it (KILL). */
  end(): void {
    if (this.#endingSince !== null) return
    this.#endingSince = systemClock.monotonic()
    this.#send('SIGTERM')
    this.#takeBack = systemClock.after(this.#killAfterMs, () => this.#send('SIGKILL'))
  }

  /**
   * Ends what is left after its leader has ended, and resolves when nothing of it runs: `false` when that was waited for
   * in vain, because the rest belongs to another user or hangs in the kernel.
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
   * A pid is not given away while a group bears it. The one instant at which this could reach a stranger is between the
   * end of the last member and the next line here, and pids are not used up in that time.
   */
  #send(signal: 'SIGTERM' | 'SIGKILL' | 0): 'sent' | 'gone' | 'forbidden' {
    try {
      process.kill(-this.id, signal)
      return 'sent'
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM' ? 'forbidden' : 'gone'
    }
  }

  /** The dead that nobody has buried yet still count as members, so a thorough look asks whether any of them lives. */
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
