import type { LeaseView, OutputView, RunPage, RunSummary, RunView } from '../../store/views.ts'
import type { ExecutionOptions } from '../target/execution-options.ts'

/** What JSON keeps of a value: a `Date` comes back as text, and functions do not come back. */
export type Kept<Value> = Value extends { toJSON(...args: never): infer Text }
  ? Kept<Text>
  : Value extends (...args: never) => unknown
    ? never
    : Value extends object
      ? { [Field in keyof Value]: Kept<Value[Field]> }
      : Value

/** What a run answered. What was too long to be kept whole has lost its form with its end. */
export type RunResult<Result> =
  | { readonly value: Kept<Result>; readonly truncated: false }
  | { readonly value: unknown; readonly truncated: true }

/** Who has a run. The claim is not told: it is the part of a lease's id that only its holder may know. */
export type RunLease = Omit<LeaseView, 'claimId'>

/** A run in a list, in the words of its input. */
export interface RunLine extends Omit<RunSummary, 'options' | 'lease'>, ExecutionOptions {
  readonly lease: RunLease | null
}

/** A run with all that was kept of it. */
export interface Run<Result = unknown>
  extends Omit<RunView, 'options' | 'payload' | 'result' | 'lease'>,
    ExecutionOptions {
  readonly lease: RunLease | null
  /** Absent where none was given. */
  readonly payload?: unknown
  readonly result: RunResult<Result> | null
  /** What its last attempt has put out, where that was asked for; `null` where nothing was. */
  readonly output?: OutputView | null
}

export function runOf<Result = unknown>({ payload, result, ...run }: RunView): Run<Result> {
  const given = payload === undefined ? {} : { payload }
  return { ...lineOf(run), ...given, decision: run.decision, result: result as RunResult<Result> | null }
}

function lineOf<Fields extends RunSummary>({ options, lease, ...run }: Fields) {
  return { ...run, ...(options as ExecutionOptions), lease: lease === null ? null : leaseOf(lease) }
}

function leaseOf({ claimId: _, ...lease }: LeaseView): RunLease {
  return lease
}

export interface RunList {
  /** May be fewer than asked for, even none, while there is a `next`. */
  readonly runs: readonly RunLine[]
  /** Where the list goes on: the `before` of the next page. */
  readonly next: string | null
}

export function listOf({ runs, next }: RunPage): RunList {
  return { runs: runs.map(lineOf), next }
}
