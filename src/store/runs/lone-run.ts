import { defaultQueue } from '../../core/queue/policy.ts'
import { leaseTried, queueLock } from '../leases/lease.ts'
import type { Leased } from '../leases/lease-at-once.ts'
import type { Enqueued, LeaseAnswer, LeaseRequest, NewRun } from '../port.ts'
import { ahead, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { enqueue, enqueueBefore } from './enqueue.ts'

/**
 * The lock that every lease takes, if nobody else has it. Whoever enqueues waits for no worker: one that stops in the
 * middle of its lease would keep him waiting for seconds.
 */
const tryLockQueue = queueLock('enqueue try lock queue', 'skip locked')

interface Joined {
  readonly request: LeaseRequest
  readonly answer: (answer: LeaseAnswer | Promise<LeaseAnswer>) => void
}

/**
 * A lone run on its way into its queue. A worker of the same process that has nothing to do asks for its lease at the same
 * time, and both are done in one transaction: a commit waits for the disk, which is most of the time from `enqueue` to the
 * start of the run. It is the same lease as any other, so it takes whoever ranks first, and passes no ceiling.
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

  /** Does the lease in the same transaction, or answers nothing where it has begun without. */
  join(request: LeaseRequest): Promise<LeaseAnswer> | null {
    if (this.#hasBegun || this.#joined !== null || request.queue !== this.queue) return null
    return new Promise((answer) => {
      this.#joined = { request, answer }
    })
  }

  /** From here on nobody joins; answers what is to be done with it. */
  begin(): LeaseRequest | null {
    this.#hasBegun = true
    return this.#joined?.request ?? null
  }

  /**
   * Answers whoever joined with what comes of the request. Whoever enqueued hears of it first, so that he knows the run
   * before it begins.
   */
  answer(answerTo: (request: LeaseRequest) => Promise<LeaseAnswer>): void {
    if (this.#joined === null) return
    const { request, answer } = this.#joined
    setImmediate(() => answer(answerTo(request)))
  }
}

/** Work that waits for nothing and nobody but a free slot, so that its transaction does not wait either. */
export function isLone(runs: readonly NewRun[]): runs is readonly [NewRun] {
  const [run] = runs
  if (run === undefined || runs.length > 1) return false
  return (run.notBefore ?? run.concurrencyKey ?? run.idempotencyKey ?? run.dedupeKey) === undefined
}

export interface LoneAnswer {
  /**
   * `null` where nothing was taken in, because its lane has to be made first. Whoever makes the same one at that moment is
   * waited for, and may be in a transaction of a caller's own, which takes as long as it likes: nobody waits for that with
   * the queue in his hands.
   */
  readonly answers: Enqueued[] | null
  /** What was leased in the same transaction; `null` where nothing was, and the lease is to be asked for by itself. */
  readonly leased: Leased | null
}

/** Where answers have to be waited for, the lease is on its way together with the run. */
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

/** Whether the run it is about is leased already, so that nobody else need look for it. */
export function isTaken({ answers, leased }: LoneAnswer): boolean {
  const ids = new Set(leased?.leases.map(({ runId }) => runId))
  return answers?.every(({ id }) => ids.has(id)) === true
}
