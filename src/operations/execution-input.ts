import { z } from 'zod'
import { durationMsMax } from '../core/duration.ts'
import { type Expectation, expectationProblems } from '../core/expect.ts'
import type { OwnRetries } from '../core/retries.ts'
import type { TargetKind } from '../core/target.ts'
import { durationFields, durationOf } from './duration-input.ts'
import { noted } from './note.ts'
import type { Problem } from './problem.ts'
import { type BackoffFields, retriesFields, retriesOf } from './retries-input.ts'

const tagLengthMax = 100
const tagsMax = 50

const statusForm = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)])

const rules = {
  statuses: z
    .array(statusForm)
    .min(1)
    .describe('Statuses that are fine, such as 404 or 2xx, in place of every 2xx.')
    .optional(),
  exitCodes: z
    .array(z.int().min(0).max(255))
    .min(1)
    .describe('Exit codes that are fine, in place of 0 alone.')
    .optional(),
  textIncludes: z.string().min(1).describe('The text of the answer has this part.').optional(),
  textMatches: z.string().min(1).describe('The text of the answer matches this regular expression.').optional(),
  json: z
    .record(z.string(), z.unknown())
    .describe('What the answer, read as JSON, has at these paths: { "items[0].id": 7 }.')
    .optional(),
}

/**
 * The form of an expectation. What is wrong with one is told by `expectationProblems`, which knows the kind of the target
 * too; a test compares the two.
 */
export const expectationForm = noted(
  z.strictObject(rules).describe('What must have been answered; every rule that is given must hold.'),
  { id: 'Expectation' },
)

/** What a schedule and a run say alike about how they are executed. */
export const executionFields = {
  ...durationFields(
    'timeout',
    'How long an attempt may take. Default: 1h for a command, 30s for HTTP, no end for a handler.',
  ),
  expect: (
    noted(z.unknown(), { form: expectationForm }).describe(
      'What the target must have answered to count as done; every rule that is given must hold.',
    ) as unknown as z.ZodType<unknown, Expectation>
  ).optional(),
  ...retriesFields,
  tags: z
    .array(z.string().min(1).max(tagLengthMax))
    .max(tagsMax)
    .readonly()
    .describe('Words to find it by, each once.')
    .optional(),
}

/** What is stored for the executor and for people, beside what the store itself understands. */
export interface ExecutionOptions extends OwnRetries {
  readonly timeoutMs?: number
  /** What the target must have answered to count as done. */
  readonly expect?: Expectation
  readonly tags?: readonly string[]
  /** The trace that the run belongs to. */
  readonly traceparent?: string
}

interface ExecutionFields {
  readonly attempts?: number | undefined
  readonly backoff?: BackoffFields | undefined
  readonly expect?: unknown
  readonly tags?: readonly string[] | undefined
}

/** Says what is to be stored of them, and notes what is wrong. The kind of the target tells what can be expected of it. */
export function executionOptions(
  fields: ExecutionFields,
  kind: TargetKind | undefined,
  problems: Problem[],
): ExecutionOptions {
  const { expect, tags } = fields
  const timeoutMs = durationOf(fields, 'timeout', problems)
  if (timeoutMs !== undefined && (timeoutMs < 1 || timeoutMs > durationMsMax)) {
    problems.push({ field: 'timeoutMs', problem: `is ${timeoutMs}`, expected: `an integer from 1 to ${durationMsMax}` })
  }
  // One by one: as arguments of one call a hundred thousand would not fit on the stack.
  if (expect !== undefined) for (const problem of expectationProblems(expect, kind)) problems.push(problem)
  const retries = retriesOf(fields, problems)
  const twice = tags?.find((tag, index) => tags.indexOf(tag) !== index)
  if (twice !== undefined) {
    problems.push({ field: 'tags', problem: `has ${JSON.stringify(twice)} twice`, expected: 'each of them once' })
  }
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(expect !== undefined && { expect: expect as Expectation }),
    ...retries,
    ...(tags !== undefined && { tags }),
  }
}
