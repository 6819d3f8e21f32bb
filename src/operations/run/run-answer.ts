import type { AddedToAttempt, StoredFields } from '../../core/added.ts'
import type { LeaseView, OutputView, RunPage, RunSummary, RunView } from '../../store/views.ts'
import type { ExecutionOptions } from '../target/execution-options.ts'

/** A value as JSON keeps it: a `Date` becomes text, and functions are dropped. */
export type Kept<Value> = Value extends { toJSON(...args: never): infer Text }
  ? Kept<Text>
  : Value extends (...args: never) => unknown
    ? never
    : Value extends object
      ? { [Field in keyof Value]: Kept<Value[Field]> }
      : Value

/** The result of a run. A result too long to keep is cut text. */
export type RunResult<Result> =
  | { readonly value: Kept<Result>; readonly truncated: false }
  | { readonly value: unknown; readonly truncated: true }

/** The lease of a run, without its claim: only the holder may know that part of the lease id. */
export type RunLease = Omit<LeaseView, 'claimId'>

/** A run in a list, with the fields of its input. */
export interface RunLine extends Omit<RunSummary, 'options' | 'lease'>, ExecutionOptions {
  readonly lease: RunLease | null
  /** The fields of parts about its newest attempt; in lists, only about an attempt at work. */
  readonly attempt?: KnownAttempt
}

export type KnownAttempt = { readonly fence: number } & StoredFields<AddedToAttempt>

export interface Run<Result = unknown>
  extends Omit<RunView, 'options' | 'payload' | 'result' | 'lease'>,
    ExecutionOptions {
  readonly lease: RunLease | null
  readonly payload?: unknown
  readonly result: RunResult<Result> | null
  /** The output of its last attempt, where the caller asked for it; `null` when there is none. */
  readonly output?: OutputView | null
  /** The fields of parts about its newest attempt. */
  readonly attempt?: KnownAttempt
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
  /** May have fewer runs than requested, even none, while there is a `next`. */
  readonly runs: readonly RunLine[]
  /** The `before` of the next page. */
  readonly next: string | null
}

export function listOf({ runs, next }: RunPage): RunList {
  return { runs: runs.map(lineOf), next }
}
