import type { AddedToRun, CopiedToRun, StoredFields } from '../../core/added.ts'
import { formatDuration } from '../../core/duration.ts'
import { fieldProblems, type StoredOf } from '../../core/field-table.ts'
import { type ExpectedKind, expectationProblems } from '../../core/run/expect.ts'
import { type OwnRetries, retriesProblems } from '../../core/run/retries.ts'
import { executionFields } from '../../core/run/work-fields.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { outputShape } from '../fields/field-schema.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { asWritten } from '../input/as-written.ts'
import type { Problem } from '../input/refuse-input.ts'
import { count, text } from '../schema/output-schema.ts'

/** Options stored for the executor and for readers; the store itself does not interpret them. */
export interface ExecutionOptions
  extends Omit<StoredOf<typeof executionFields>, 'attempts'>,
    OwnRetries,
    StoredFields<AddedToRun>,
    StoredFields<CopiedToRun> {
  /** The trace context of the run. */
  readonly traceparent?: string | undefined
  /** The schedule that the run tests. */
  readonly testOf?: string | undefined
}

const { attempts: _, ...others } = outputShape(executionFields)

/** The same options as a run's answer shows them; its `attempts` field counts attempts used. */
export const executionSchema = {
  ...others,
  maxAttempts: count('The most attempts, where the run sets its own limit.').optional(),
  traceparent: text('The W3C trace context of its attempts.').optional(),
  testOf: text('The schedule that the run tests; the run changes nothing of that schedule.').optional(),
}

/** Retry fields are checked together with the rules between them. */
const timeoutAlone = { timeout: executionFields.timeout }

interface OptionsContext {
  /** The options as the caller wrote them; problems use these words. */
  readonly given: object
  /** The kind of target decides which expectations are possible. */
  readonly kind: (ExpectedKind & Pick<TargetKind, 'called' | 'timeoutRangeMs'>) | undefined
  readonly problems: Problem[]
}

/** Reads the options into their stored form and reports their problems. */
export function executionOptions(
  { timeoutMs, expect, attempts, backoff, tags }: StoredOf<typeof executionFields>,
  { given, kind, problems }: OptionsContext,
): ExecutionOptions {
  const isPlain = [timeoutMs, expect, attempts, backoff, tags].every((value) => value === undefined)
  if (isPlain) return {}
  const own = onlyGiven({ timeoutMs, expect, maxAttempts: attempts, backoff, tags })
  const found = [...fieldProblems(timeoutAlone, { timeoutMs }, { noun: 'a run' }), ...retriesProblems(own)]
  if (found.length === 0) found.push(...rangeProblems(timeoutMs, kind, given))
  problems.push(...found.map((problem) => asWritten(problem, given, executionFields)))
  // One by one: spreading a hundred thousand arguments overflows the stack.
  if (expect !== undefined) for (const problem of expectationProblems(expect, kind)) problems.push(problem)
  if (backoff !== undefined && Object.keys(backoff).length === 0) {
    problems.push({
      field: 'backoff',
      problem: 'is empty',
      expected: 'one of base, factor and cap, or no backoff at all',
    })
  }
  const twice = tags?.find((tag, index) => tags.indexOf(tag) !== index)
  if (twice !== undefined) {
    problems.push({ field: 'tags', problem: `each tag once`, expected: 'each tag once' })
  }
  return own
}

/** A stored timeout that was valid when it was written stays valid until the timeout or the target is edited. */
function rangeProblems(
  timeoutMs: number | undefined,
  kind: OptionsContext['kind'],
  given: { readonly timeout?: unknown; readonly timeoutMs?: unknown; readonly target?: unknown },
): Problem[] {
  const range = kind?.timeoutRangeMs
  if (range === undefined || timeoutMs === undefined || (timeoutMs >= range.min && timeoutMs <= range.max)) return []
  if (given.timeout === undefined && given.timeoutMs === undefined && given.target === undefined) return []
  const expected = `for ${kind?.called} a duration of ${formatDuration(range.min)} to ${formatDuration(range.max)}`
  return [{ field: 'timeoutMs', problem: `is ${timeoutMs}`, expected }]
}
