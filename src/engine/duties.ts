import { overdueMsMin, overdueMsWarned } from '../core/timing/overdue.ts'
import { overdueSchedules } from '../store/reads/find-schedule.ts'
import { repair } from '../store/schedules/repair.ts'
import { clockNow } from '../store/statement.ts'
import { takeDuty } from '../store/workers/take-duty.ts'
import type { EngineContext } from './engine-context.ts'
import type { Duty } from './part.ts'

/** A duty is held a little longer than the pause between its rounds, so that it stays with one worker. */
const dutyMsMin = 180_000
const pruneLimit = 500
/** Steps of one round before other work gets a turn. */
const pruneStepsMax = 20
/**
 * After each part of a long round other work gets this many times as long as the part took. It gets more when the part
 * found nothing to remove, because otherwise a hundred thousand schedules without old rows would be read again and again.
 */
const pruneRestFactor = { found: 4, nothing: 49 }
const repairLimit = 100

export interface DutiesOptions {
  readonly context: EngineContext
  readonly workerId: () => string
  /** The duties of the parts. */
  readonly duties: readonly Duty[]
  /** Something is overdue: the worker that should have fired it may have lost a notification. */
  readonly lookAgain: () => void
}

/** A part of a round of retention: whether it was the last, and whether it found anything to remove. */
interface PrunedPart {
  readonly isOver: boolean
  readonly found: keyof typeof pruneRestFactor
}

const notOurs: PrunedPart = { isOver: true, found: 'nothing' }

/** What one worker does for all: retention, the search for stuck work, and repair. */
export class Duties {
  readonly #options: DutiesOptions
  #pruneFrom: string | undefined
  #repairAt = Number.NEGATIVE_INFINITY
  /** When this worker next does a duty of a part, by the monotonic clock. */
  readonly #nextAt = new Map<Duty, number>()

  constructor(options: DutiesOptions) {
    this.#options = options
  }

  async tick(): Promise<number> {
    const { clock, settings, signal } = this.#options.context
    if (await this.#has('reconcile')) await this.#reconcile()
    const begunAt = clock.monotonic()
    const { isOver, found } = (await this.#has('retention')) ? await this.#prune() : notOurs
    await this.#tickParts()
    signal('duties.ticked')
    // Retention pauses between its parts: removal may be late, but due work must not be.
    const restMs = Math.ceil(pruneRestFactor[found] * (clock.monotonic() - begunAt))
    return isOver ? settings.beatMs : Math.min(restMs, settings.beatMs)
  }

  /** A failing duty does not stop the others; the loop reports it and tries again. */
  async #tickParts(): Promise<void> {
    const { context, duties } = this.#options
    const { clock } = context
    const failures: unknown[] = []
    for (const duty of duties) {
      if (clock.monotonic() < (this.#nextAt.get(duty) ?? Number.NEGATIVE_INFINITY)) continue
      this.#nextAt.set(duty, clock.monotonic() + duty.everyMs)
      if (await this.#has(duty.name)) await duty.tick(context).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  #has(name: string): Promise<boolean> {
    const { context, workerId } = this.#options
    const forMs = Math.max(dutyMsMin, 3 * context.settings.beatMs)
    return context.store.do(takeDuty, { name, workerId: workerId(), forMs })
  }

  async #reconcile(): Promise<void> {
    const { store, clock, events, settings } = this.#options.context
    await this.#tellOverdue()
    if (clock.monotonic() < this.#repairAt) return
    this.#repairAt = clock.monotonic() + settings.reconcileMs
    for (const repaired of await store.do(repair, { limit: repairLimit })) events.tell('store.repaired', repaired)
  }

  async #tellOverdue(): Promise<void> {
    const { context, lookAgain } = this.#options
    const now = await context.store.look(clockNow)
    const overdue = await context.store.look(overdueSchedules, { lateMs: overdueMsMin, limit: repairLimit })
    for (const { spec, wakeAt } of overdue) {
      const behindMs = overdueMsWarned({ now, wakeAt: wakeAt ?? now, timing: spec.timing })
      if (behindMs !== null) context.events.tell('schedule.overdue', { schedule: spec.name, overdueMs: behindMs })
    }
    if (overdue.length > 0) lookAgain()
  }

  async #prune(): Promise<PrunedPart> {
    const { store, events } = this.#options.context
    const sum = { runs: 0, ledger: 0, other: 0 }
    for (let step = 0; step < pruneStepsMax; step++) {
      const { runs, ledger, other, next } = await store.prune({
        limit: pruneLimit,
        ...(this.#pruneFrom === undefined ? {} : { from: this.#pruneFrom }),
      })
      sum.runs += runs
      sum.ledger += ledger
      sum.other += other
      this.#pruneFrom = next ?? undefined
      if (next === null) break
    }
    const found = sum.runs + sum.ledger + sum.other > 0 ? 'found' : 'nothing'
    if (found === 'found') events.tell('worker.pruned', sum)
    return { isOver: this.#pruneFrom === undefined, found }
  }
}
