import { BelfryError } from '../core/error.ts'
import { reasonText } from '../core/reason-text.ts'
import type { RunStatus } from '../core/run/run-state.ts'
import { needOf } from '../core/target.ts'
import type { AttemptEnd, Settled } from '../store/port.ts'
import { findRun } from '../store/reads/find-run.ts'
import { listAttempts } from '../store/reads/list-attempts.ts'
import { attemptName, type EngineContext } from './engine-context.ts'
import { eventOfEnd, type RunEnded } from './events.ts'
import type { Holding } from './leases/holdings.ts'
import { Loop, type LoopOptions } from './loop.ts'

/** Ends per flush at most. */
const batchMax = 500

/** An attempt that has ended, and is not yet written. */
export interface Finished {
  readonly holding: Holding
  readonly end: AttemptEnd
  readonly durationMs: number
  /** The store refused the end; it is written once more without its result. */
  readonly isBare?: boolean
}

export interface SettlerOptions extends Pick<LoopOptions, 'failed'> {
  /** The queues whose ends have been sent and are not yet written. */
  readonly writing: (queues: ReadonlySet<string>) => void
  readonly settled: (queues: ReadonlySet<string>) => void
}

/**
 * Writes ends, many in one commit. A flush begins with the next turn of the event loop: ends of the same turn go together, a lone
 * run does not wait, and ends during a flush form the next one. Until its end is written a run stays leased and is renewed.
 */
export class Settler {
  readonly #context: EngineContext
  readonly #loop: Loop
  readonly #writing: (queues: ReadonlySet<string>) => void
  readonly #settled: (queues: ReadonlySet<string>) => void
  #waiting: Finished[] = []
  #inWriting = 0
  #underWay: Promise<unknown> = Promise.resolve()
  #wentWell = true
  #isAsked = false
  /** Ends that are being read so that they can be reported. */
  readonly #reading = new Set<Promise<void>>()

  constructor(context: EngineContext, options: SettlerOptions) {
    this.#context = context
    this.#writing = options.writing
    this.#settled = options.settled
    this.#loop = new Loop({ name: 'settle', clock: context.clock, failed: options.failed, tick: () => this.#flush() })
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#isAsked && this.#loop.isAsleep && this.#reading.size === 0
  }

  /** How many ends are being written, if the last write succeeded. */
  get inWriting(): number {
    return this.#inWriting
  }

  /** Resolves when the ends being written have been reported, or could not be written. */
  get underWay(): Promise<unknown> {
    return this.#underWay
  }

  start(): void {
    this.#loop.start()
  }

  /** Resolves when the event of every written end was emitted: the store is closed next, and nothing can be read then. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await Promise.all(this.#reading)
  }

  add(finished: Finished): void {
    this.#waiting.push(finished)
    if (this.#isAsked) return
    this.#isAsked = true
    setImmediate(() => {
      this.#isAsked = false
      this.#loop.wake()
    })
  }

  async #flush(): Promise<number | null> {
    const batch = this.#waiting.splice(0, batchMax)
    if (batch.length === 0) return null
    const writing = this.#write(batch)
    this.#underWay = writing.catch(() => undefined)
    await writing
    this.#context.signal('settle.written', batch.length)
    return this.#waiting.length > 0 ? 0 : null
  }

  async #write(batch: readonly Finished[]): Promise<void> {
    const held = batch.filter(({ holding }) => !this.#isGone(holding))
    const queues = new Set(batch.map(({ holding }) => holding.lease.queue))
    for (const { holding } of held) holding.isSettling = true
    try {
      const answers = held.length === 0 ? [] : await this.#asked(held, queues)
      for (const [index, finished] of held.entries()) this.#conclude(finished, answers[index] as Settled)
    } catch (error) {
      // Either nothing was written, or the result is unknown. The same ends are written again; the store answers which
      // of them it already has.
      for (const { holding } of held) {
        holding.isSettling = false
        holding.isInDoubt ||= isUnknown(error)
      }
      this.#waiting.unshift(...held)
      throw error
    }
    this.#settled(queues)
  }

  /** While ends cannot be written, no lease relies on the slots that they would free: unwritten ends would pile up. */
  async #asked(held: readonly Finished[], queues: ReadonlySet<string>): Promise<Settled[]> {
    const answers = this.#context.store.settle(held.map(({ end }) => end))
    if (this.#wentWell) {
      this.#inWriting = held.length
      this.#writing(queues)
    }
    this.#wentWell = false
    try {
      const settled = await answers
      this.#wentWell = true
      return settled
    } finally {
      this.#inWriting = 0
    }
  }

  /** A reclaimed run cannot be ended here any more. */
  #isGone(holding: Holding): boolean {
    if (!holding.isLost) return false
    this.#context.holdings.remove(holding)
    return true
  }

  #conclude(finished: Finished, answer: Settled): void {
    const { holding } = finished
    const { events, holdings } = this.#context
    if (answer.answer === 'refused' && finished.isBare !== true) {
      holding.isSettling = false
      this.add(bare(finished, answer.error))
      return
    }
    // From here on it is not renewed; if its end could not be written, it expires and is judged as lost.
    holdings.remove(holding)
    switch (answer.answer) {
      case 'written':
        this.#tell(finished, answer.status, answer.reason, answer.nextEligibleAt)
        break
      case 'already-written':
        this.#readThenTell(finished)
        break
      case 'gone':
        // If this worker cannot have written the end before, it has lost the run to the one that ended it.
        if (holding.isInDoubt) events.tell('run.forgotten', attemptName(holding.lease))
        else events.tell('run.lease-lost', { ...attemptName(holding.lease), because: 'taken-back' })
        break
      case 'lease-lost':
        events.tell('run.lease-lost', { ...attemptName(holding.lease), because: 'taken-back' })
        break
      case 'refused':
        events.tell('run.unsettled', { ...attemptName(holding.lease), error: answer.error })
    }
  }

  #tell(
    { holding, durationMs, end: { usage } }: Finished,
    status: RunStatus,
    reason: string,
    nextEligibleAt?: number,
  ): void {
    const { runId, fence, queue, scheduleId, source } = holding.lease
    const ended: RunEnded = { runId, fence, queue, scheduleId, status, reason, durationMs, source }
    const { events } = this.#context
    events.tell(eventOfEnd(status), nextEligibleAt === undefined ? ended : { ...ended, nextEligibleAt })
    if (usage === undefined || Object.keys(usage).length === 0) return
    const need = needOf(holding.lease.target)
    const { kind = '', name = '' } = ('need' in need ? need.need : null) ?? {}
    events.tell('run.used', { ...attemptName(holding.lease), kind, name, usage })
  }

  /** Only `stop` waits for this read: it may take long, and the next ends must not wait. */
  #readThenTell(finished: Finished): void {
    const reading = this.#tellAsRead(finished)
      .catch((error: Error) => this.#context.events.tell('store.unavailable', { doing: 'settle', error }))
      .finally(() => this.#reading.delete(reading))
    this.#reading.add(reading)
  }

  /** An earlier commit that seemed to fail had succeeded: the store has its end. */
  async #tellAsRead(finished: Finished): Promise<void> {
    const { events, store } = this.#context
    const { lease } = finished.holding
    const [run, attempts] = await Promise.all([store.look(findRun, lease.runId), store.look(listAttempts, lease.runId)])
    const attempt = attempts.find(({ fence }) => fence === lease.fence)
    if (run === null || attempt === undefined) {
      events.tell('run.forgotten', attemptName(lease))
      return
    }
    const reason = run.end?.reason ?? run.parked?.reason ?? attempt.reason ?? attempt.outcome
    this.#tell(finished, attempt.ends ?? run.status, reason)
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof BelfryError && error.code === 'commit-unknown'
}

/** Of an end, only the result comes from the target; it is replaced by the reason why it could not be stored. */
function bare({ holding, end, durationMs }: Finished, { message }: Error): Finished {
  const { result, ...rest } = end
  const mark = result === undefined ? {} : { result: `[not kept: ${reasonText(message)}]` }
  return { holding, durationMs, isBare: true, end: { ...rest, ...mark } }
}
