import { defaultQueue } from '../../core/queue/policy.ts'
import { leaseTried, queueLock } from '../leases/lease.ts'
import type { Leased } from '../leases/lease-at-once.ts'
import type { Enqueued, LeaseAnswer, LeaseRequest, NewRun } from '../port.ts'
import { ahead, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { enqueue, enqueueBefore } from './enqueue.ts'

/**
 * The lock that every lease takes, if it is free. An enqueue must not wait for a worker: a worker that stops in the middle of its
 * lease would delay it for seconds.
 */
const tryLockQueue = queueLock('enqueue try lock queue', 'skip locked')

interface Joined {
  readonly request: LeaseRequest
  readonly answer: (answer: LeaseAnswer | Promise<LeaseAnswer>) => void
}

/**
 * A lone run that is being enqueued. An idle worker of the same process leases at the same time, and both happen in one
 * transaction: a commit waits for the disk, which is most of the time from `enqueue` to the start of the run. It is a lease like
 * any other, so it takes the best-ranked run, and exceeds no ceiling.
 */
export class LoneRun {
  readonly queue: string
  #joined: Joined | null = null
  #hasBegun = false

  constructor({ queue = defaultQueue }: NewRun) {
    this.queue = queue
  }

  get isJoined(): boolean {
    return this.#joined !== null
  }

  /** Leases in the same transaction; `null` if that transaction can no longer be joined. */
  join(request: LeaseRequest): Promise<LeaseAnswer> | null {
    if (this.#hasBegun || this.#joined !== null || request.queue !== this.queue) return null
    return new Promise((answer) => {
      this.#joined = { request, answer }
    })
  }

  /** From here on no lease can join. Returns the joined request. */
  begin(): LeaseRequest | null {
    this.#hasBegun = true
    return this.#joined?.request ?? null
  }

  /** Answers the joined lease. The enqueue is answered first, so that its caller knows the run before it starts. */
  answer(answerTo: (request: LeaseRequest) => Promise<LeaseAnswer>): void {
    if (this.#joined === null) return
    const { request, answer } = this.#joined
    setImmediate(() => answer(answerTo(request)))
  }
}

/** Whether the work waits for nothing but a free slot, so that its transaction does not wait either. */
export function isLone(runs: readonly NewRun[]): runs is readonly [NewRun] {
  const [run] = runs
  const { calendar, account } = run?.options ?? {}
  if (run === undefined || runs.length > 1 || (calendar ?? account) !== undefined) return false
  return (run.notBefore ?? run.concurrencyKey ?? run.idempotencyKey ?? run.dedupeKey) === undefined
}

export interface LoneAnswer {
  /**
   * `null` if the run was not enqueued, because its lane does not exist yet. Creating the lane may have to wait for another
   * transaction that creates the same lane, and that may be a caller's own transaction, of any length. No step may wait for
   * that while it holds the lock of the queue.
   */
  readonly answers: Enqueued[] | null
  /** The answer of the lease in the same transaction; `null` if the lease must be done separately. */
  readonly leased: Leased | null
}

/** On PostgreSQL the lease is sent together with the run. */
export function* enqueueLone(
  context: StoreContext,
  runs: readonly NewRun[],
  { lone, waitsForAnswers }: { readonly lone: LoneRun; readonly waitsForAnswers: boolean },
): Step<LoneAnswer> {
  const request = lone.begin()
  if (request === null) return { answers: yield* enqueue(context, runs), leased: null }
  const tried = yield* ahead(tryLockQueue, context.ns, lone.queue)
  const answersOf = waitsForAnswers ? yield* enqueueBefore(context, runs) : answered(yield* enqueue(context, runs))
  const leased = yield* leaseTried(context, request, tried)
  return { answers: yield* answersOf(), leased }
}

function answered(answers: Enqueued[]): () => Step<Enqueued[]> {
  // biome-ignore lint/correctness/useYield: what was answered need not be asked for.
  return function* () {
    return answers
  }
}

/** Whether the run is leased already, so that no other worker need be woken for it. */
export function isTaken({ answers, leased }: LoneAnswer): boolean {
  const ids = new Set(leased?.leases.map(({ runId }) => runId))
  return answers?.every(({ id }) => ids.has(id)) === true
}
