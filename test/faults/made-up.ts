import type { AttemptView, LedgerView } from '../../src/store/views.ts'
import type { Closure, History, Interruption, RecordedRun, RecordedSchedule } from './history.ts'
import type { Witnessed } from './witness.ts'

/** Histories that never happened, one run at a time, to see whether the checks tell a sound one from a broken one. */
export class MadeUp {
  readonly #runs: RecordedRun[] = []
  readonly #schedules: RecordedSchedule[] = []
  readonly #interruptions: Interruption[] = []
  readonly #closures: Closure[] = []
  readonly #samples: History['samples'][number][] = []
  readonly #troubles: string[] = []
  #account = { most: 1, sampled: 0, left: 0 }
  #budget = { over: 0, left: 0, attempts: 0 }
  readonly #witnessed = { starts: [], ends: [], refusals: [], acks: [], defects: [] } as {
    -readonly [Field in keyof Witnessed]: Witnessed[Field][number][]
  }

  /** A run as the store tells of it. What is not said is that of one that went well, once. */
  run(id: string, told: Partial<RecordedRun> = {}): this {
    const attempts = told.attempts ?? [attempt(1)]
    this.#runs.push({
      id,
      queue: 'narrow',
      schedule: null,
      occurrenceAt: null,
      repeatable: true,
      concurrencyKey: null,
      idempotencyKey: null,
      status: 'completed',
      fence: Math.max(0, ...attempts.map(({ fence }) => fence)),
      leasedAt: null,
      ...told,
      attempts,
    })
    return this
  }

  /** An attempt as the witness saw it; it ends unless it says otherwise. */
  seen(runId: string, { fence = 1, at = 1_000, endsAt = (at + 50) as number | null, pid = 7 } = {}): this {
    this.#witnessed.starts.push({ runId, fence, pid, at })
    if (endsAt !== null) this.#witnessed.ends.push({ runId, fence, pid, at: endsAt })
    return this
  }

  refused(runId: string, fence: number): this {
    this.#witnessed.refusals.push({ runId, fence, pid: 7, at: 1_000 })
    return this
  }

  ack(key: string, runId: string): this {
    this.#witnessed.acks.push({ key, runId, at: 900 })
    return this
  }

  sample(inFlight: number, key: string | null = null): this {
    this.#samples.push({ queue: 'narrow', key, inFlight, at: 1_000 })
    return this
  }

  account(told: Partial<History['account']>): this {
    this.#account = { ...this.#account, ...told }
    return this
  }

  budget(told: Partial<History['budget']>): this {
    this.#budget = { ...this.#budget, ...told }
    return this
  }

  schedule(name: string, promise: RecordedSchedule['promise'], ledger: RecordedSchedule['ledger']): this {
    this.#schedules.push({ name, promise, ledger })
    return this
  }

  interruption(interruption: Interruption): this {
    this.#interruptions.push(interruption)
    return this
  }

  closed(from: number, to: number): this {
    this.#closures.push({ from, to })
    return this
  }

  defect(what: string): this {
    this.#witnessed.defects.push(what)
    return this
  }

  get history(): History {
    return {
      runs: this.#runs,
      schedules: this.#schedules,
      ceilings: [{ queue: 'narrow', most: 2, mostPerKey: 1 }],
      witnessed: this.#witnessed,
      samples: this.#samples,
      account: this.#account,
      budget: this.#budget,
      leaseMs: 1_000,
      interruptions: this.#interruptions,
      closures: this.#closures,
      troubles: this.#troubles,
    }
  }
}

export function attempt(fence: number, told: Partial<AttemptView> = {}): AttemptView {
  const isLost = told.outcome !== undefined && told.outcome !== 'success'
  return {
    fence,
    workerId: 'w-1',
    startedAt: 990,
    endedAt: 1_060,
    outcome: 'success',
    reason: null,
    ends: isLost ? null : 'completed',
    ...told,
  }
}

export function row(at: number, told: Partial<LedgerView> = {}): LedgerView {
  return {
    from: at,
    to: at,
    count: 1,
    countIsAtLeast: false,
    outcome: 'completed',
    runId: null,
    causedBy: null,
    decision: null,
    recordedAt: at,
    endedAt: at,
    ...told,
  }
}
