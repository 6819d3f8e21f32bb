import type { AddedToRun, StoredFields } from '../../core/added.ts'
import { fieldProblems, type StoredOf } from '../../core/field-table.ts'
import { type ExpectedKind, expectationProblems } from '../../core/run/expect.ts'
import { type OwnRetries, retriesProblems } from '../../core/run/retries.ts'
import { executionFields } from '../../core/run/work-fields.ts'
import { outputShape } from '../fields/field-schema.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { asWritten } from '../input/as-written.ts'
import type { Problem } from '../input/refuse-input.ts'
import { count, text } from '../schema/output-schema.ts'

/** What is stored for the executor and for people, beside what the store itself understands. */
export interface ExecutionOptions
  extends Omit<StoredOf<typeof executionFields>, 'attempts'>,
    OwnRetries,
    StoredFields<AddedToRun> {
  /** The trace that the run belongs to. */
  readonly traceparent?: string | undefined
}

const { attempts: _, ...others } = outputShape(executionFields)

/** The same as runs answer it, whose `attempts` are those that they have used. */
export const executionSchema = {
  ...others,
  maxAttempts: count('How often it is tried, where its queue does not say it.').optional(),
  traceparent: text('The W3C trace context that its attempts belong to.').optional(),
}

/** The retries are judged with the rules between them. */
const timeoutAlone = { timeout: executionFields.timeout }

interface OptionsContext {
  /** As they were given: problems are told in these words. */
  readonly given: object
  /** What can be expected of the target depends on its kind. */
  readonly kind: ExpectedKind | undefined
  readonly problems: Problem[]
}

/** The options among fields that were read, as they are stored; it notes what is wrong with them. */
export function executionOptions(
  { timeoutMs, expect, attempts, backoff, tags }: StoredOf<typeof executionFields>,
  { given, kind, problems }: OptionsContext,
): ExecutionOptions {
  const isPlain = [timeoutMs, expect, attempts, backoff, tags].every((value) => value === undefined)
  if (isPlain) return {}
  const own = onlyGiven({ timeoutMs, expect, maxAttempts: attempts, backoff, tags })
  const found = [...fieldProblems(timeoutAlone, { timeoutMs }, { noun: 'a run' }), ...retriesProblems(own)]
  problems.push(...found.map((problem) => asWritten(problem, given, executionFields)))
  // One by one: as arguments of one call a hundred thousand would not fit on the stack.
  if (expect !== undefined) for (const problem of expectationProblems(expect, kind)) problems.push(problem)
  if (backoff !== undefined && Object.keys(backoff).length === 0) {
    problems.push({ field: 'backoff', problem: 'is empty', expected: 'one of base, factor and cap, or leave it out' })
  }
  const twice = tags?.find((tag, index) => tags.indexOf(tag) !== index)
  if (twice !== undefined) {
    problems.push({ field: 'tags', problem: `has ${JSON.stringify(twice)} twice`, expected: 'each of them once' })
  }
  return own
}
