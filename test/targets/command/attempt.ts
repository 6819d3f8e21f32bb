import { systemClock } from '../../../src/core/clock.ts'
import type { Target } from '../../../src/core/target.ts'
import type { Attempt, Ended, StopReason } from '../../../src/targets/attempt.ts'
import { commandExecutor } from '../../../src/targets/command/command-executor.ts'
import { secretResolver } from '../../../src/targets/secret.ts'

export const claimId = '0123456789abcdef0123456789abcdef'

/** An attempt whose output can be read and waited for, and which can be told to stop. */
export class Stage {
  readonly #controller = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly attempt: Attempt
  heard = ''

  constructor(target: Target, parts: Partial<Attempt> = {}) {
    this.attempt = {
      runId: 'r7',
      fence: 3,
      claimId,
      queue: 'nightly',
      scheduleId: null,
      plannedAt: Date.UTC(2026, 0, 5, 9),
      source: 'cron',
      idempotencyKey: 'key-7',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      payload: undefined,
      signal: this.#controller.signal,
      clock: systemClock,
      output: (text) => this.hear(text),
      usage: () => undefined,
      account: null,
      utilisation: () => undefined,
      state: () => undefined,
      drained: async () => undefined,
      ...parts,
      target,
    }
  }

  hear(text: string): void {
    this.heard += text
    for (const look of [...this.#waiting]) look()
  }

  stop(reason: StopReason = 'cancelled'): void {
    this.#controller.abort(reason)
  }

  /** What the program said, once it has said as much. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      const look = () => {
        const match = pattern.exec(this.heard)
        if (match === null) return
        this.#waiting.delete(look)
        resolve(match)
      }
      this.#waiting.add(look)
      look()
    })
  }
}

export const secrets = secretResolver({ env: { BELFRY_SECRET_KEY: 'a canary of 1 secret' }, folder: null })

/** Executes a target and answers how it ended, with all it said. */
export async function executed(target: Target, parts: Partial<Attempt> = {}): Promise<Ended & { heard: string }> {
  const stage = new Stage(target, parts)
  const ended = await commandExecutor({ secrets })(stage.attempt)
  return { ...ended, heard: stage.heard }
}

/** The arguments of a program that runs this script. */
export function script(text: string): string[] {
  return [process.execPath, '-e', text]
}
