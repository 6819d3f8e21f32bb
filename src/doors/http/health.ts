import type { Clock } from '../../core/clock.ts'
import { isoText } from '../../operations/input/instant.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { readBytesMax } from '../../operations/store/checks/database-check.ts'
import type { Diagnosis } from '../../operations/store/diagnosis.ts'
import { storeOperations } from '../../operations/store/noun.ts'
import { forStrangers, isForeseen } from '../../operations/unforeseen-error.ts'

/** The health of a server in one word, with reasons. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly at: string
  readonly reasons: readonly { readonly check: string; readonly state: 'note' | 'wrong'; readonly says: string }[]
}

/** How long a diagnosis is reused: monitors ask often, and health does not change as fast. */
const keptMs = 5_000

/** The shortest time between two reads of the whole file by readiness checks, because a read takes part of a second. */
const soundKeptMs = 30_000

/** The doctor's findings in the form for monitors. */
export class HealthWatch {
  readonly #context: OperationContext
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #onUnforeseen: ((error: unknown) => void) | undefined
  #readThrough: { readonly until: number; readonly isSound: Promise<boolean> } | null = null
  #known: { readonly until: number; readonly health: Promise<Health> } | null = null

  constructor(context: OperationContext, onUnforeseen?: (error: unknown) => void) {
    this.#context = context
    this.#onUnforeseen = onUnforeseen
    this.#clock = context.clock
  }

  health(): Promise<Health> {
    const now = this.#clock.monotonic()
    if (this.#known === null || this.#known.until <= now) {
      this.#known = { until: now + keptMs, health: this.#look() }
    }
    return this.#known.health
  }

  /** Whether the store answers and is not known to be damaged. */
  async isReady(): Promise<boolean> {
    try {
      const { file } = (await this.#context.store.condition()).database
      return file === null || file.bytes > readBytesMax || (await this.#isSound())
    } catch {
      return false
    }
  }

  /** Pages cached in this process look valid whatever is on the disk, so the file itself is read from time to time. */
  #isSound(): Promise<boolean> {
    const now = this.#clock.monotonic()
    if (this.#readThrough === null || this.#readThrough.until <= now) {
      const damage = this.#context.store.damage()
      this.#readThrough = { until: now + soundKeptMs, isSound: damage.then((found) => found === null) }
    }
    return this.#readThrough.isSound
  }

  async #look(): Promise<Health> {
    try {
      return healthOf(await storeOperations.doctor.call(this.#context, {}), this.#context.checks)
    } catch (error) {
      if (!isForeseen(error)) this.#onUnforeseen?.(error)
      const says = forStrangers(error).message
      const at = isoText(this.#context.clock.now())
      return { status: 'unhealthy', at, reasons: [{ check: 'store', state: 'wrong', says }] }
    }
  }
}

function healthOf({ at, checks }: Diagnosis, examinations: OperationContext['checks']): Health {
  const reasons = checks.flatMap(({ check, state, says }) => (state === 'ok' ? [] : [{ check, state, says }]))
  const harmless = new Set(examinations.filter(({ stopsNothing }) => stopsNothing === true).map(({ check }) => check))
  const isWrong = reasons.some(({ state, check }) => state === 'wrong' && !harmless.has(check))
  const status = isWrong ? 'unhealthy' : reasons.length > 0 ? 'degraded' : 'healthy'
  return { status, at: isoText(at), reasons }
}
