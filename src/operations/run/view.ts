import type { RunPage, RunSummary, RunView } from '../../store/view.ts'
import type { ExecutionOptions } from '../execution-input.ts'

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

/** A run in a list, in the words of its input. */
export interface RunLine extends Omit<RunSummary, 'options'>, ExecutionOptions {}

/** A run with all that was kept of it. */
export interface Run<Result = unknown> extends Omit<RunView, 'options' | 'payload' | 'result'>, ExecutionOptions {
  /** Absent where none was given. */
  readonly payload?: unknown
  readonly result: RunResult<Result> | null
}

export function runOf<Result = unknown>({ options, payload, ...run }: RunView): Run<Result> {
  const given = payload === undefined ? {} : { payload }
  return { ...run, ...given, ...(options as ExecutionOptions), result: run.result as RunResult<Result> | null }
}

export interface RunList {
  /** May be fewer than asked for, even none, while there is a `next`. */
  readonly runs: readonly RunLine[]
  /** Where the list goes on: the `before` of the next page. */
  readonly next: string | null
}

export function listOf({ runs, next }: RunPage): RunList {
  return { runs: runs.map(({ options, ...run }) => ({ ...run, ...(options as ExecutionOptions) })), next }
}
