/** A run of a schedule, as the ledger keeps it. */
export interface LedgerRun {
  /** Its nominal instant. */
  readonly at: number
  readonly hasFailed: boolean
  /** Whether the schedule's own timing planned the run, not a hint. */
  readonly isBaseline: boolean
}

/** The outcome of a hint: the runs while it was in force. */
export interface HintOutcome {
  readonly starts: number
  readonly failures: number
  /** How long after the beginning the first run failed. */
  readonly firstFailureMs: number | null
  /**
   * The same figures for the schedule's own timing, in the same hours of the seven days before; `null`: not enough runs to
   * compare.
   */
  readonly baseline: BaselineOutcome | null
  /** Older runs are not counted: there were too many, or retention removed them. */
  readonly isAtLeast: boolean
}

export interface BaselineOutcome {
  /** How many runs the figures are computed from. */
  readonly runs: number
  /** Scaled to the time that the hint was in force. */
  readonly starts: number
  readonly failures: number
  readonly firstFailureMs: number | null
}

export interface HintOutcomeInput {
  readonly hint: { readonly createdAt: number; readonly endedAt: number }
  /** The runs of the schedule, in any order. */
  readonly runs: readonly LedgerRun[]
  /** The ledger is complete from this instant on. */
  readonly sinceAt: number
}

const dayMs = 86_400_000
/** How far back the baseline is looked for. */
export const comparedMs = 7 * dayMs
/** With fewer runs a comparison means nothing. */
export const comparedRunsMin = 5

/**
 * The outcome of a hint that has ended, compared with the runs of the schedule's own timing in the same hours of the seven days
 * before.
 */
export function hintOutcome({ hint: { createdAt, endedAt }, runs, sinceAt }: HintOutcomeInput): HintOutcome {
  const within = (from: number, to: number) => runs.filter(({ at }) => at >= from && at < to)
  const own = within(createdAt, Math.max(endedAt, createdAt + 1))
  const livedMs = Math.max(1, endedAt - createdAt)
  const spanMs = Math.min(livedMs, dayMs)
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => createdAt - day * dayMs).filter((from) => from >= sinceAt)
  const compared = days.map((from) => ({
    from,
    runs: within(from, from + spanMs).filter(({ isBaseline }) => isBaseline),
  }))
  const all = compared.flatMap((day) => day.runs)
  const share = livedMs / spanMs / Math.max(1, days.length)
  const delays = compared.flatMap((day) => firstFailure(day.runs, day.from) ?? [])
  const baseline = {
    runs: all.length,
    starts: rounded(all.length * share),
    failures: rounded(all.filter(({ hasFailed }) => hasFailed).length * share),
    firstFailureMs: delays.length === 0 ? null : Math.round(delays.reduce((sum, ms) => sum + ms, 0) / delays.length),
  }
  return {
    starts: own.length,
    failures: own.filter(({ hasFailed }) => hasFailed).length,
    firstFailureMs: firstFailure(own, createdAt),
    baseline: all.length < comparedRunsMin ? null : baseline,
    isAtLeast: sinceAt > createdAt,
  }
}

function firstFailure(runs: readonly LedgerRun[], from: number): number | null {
  const failed = runs.filter(({ hasFailed }) => hasFailed).map(({ at }) => at - from)
  return failed.length === 0 ? null : Math.min(...failed)
}

function rounded(count: number): number {
  return Math.round(count * 10) / 10
}
