import { z } from 'zod'
import { durationMsMax } from '../core/duration.ts'
import { type Expectation, expectationProblems } from '../core/expect.ts'
import type { TargetKind } from '../core/target.ts'
import { durationFields, durationOf } from './duration-input.ts'
import type { Problem } from './problem.ts'

const tagLengthMax = 100
const tagsMax = 50

/** What a schedule and a run say alike about how they are executed. */
export const executionFields = {
  ...durationFields('timeout'),
  /** What the target must have answered to count as done. */
  expect: (z.unknown() as unknown as z.ZodType<unknown, Expectation>).optional(),
  tags: z.array(z.string().min(1).max(tagLengthMax)).max(tagsMax).readonly().optional(),
}

/** What is stored for the executor and for people, beside what the store itself understands. */
export interface ExecutionOptions {
  readonly timeoutMs?: number
  /** What the target must have answered to count as done. */
  readonly expect?: Expectation
  readonly tags?: readonly string[]
  /** The trace that the run belongs to. */
  readonly traceparent?: string
}

interface ExecutionFields {
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
  if (expect !== undefined) problems.push(...expectationProblems(expect, kind))
  const twice = tags?.find((tag, index) => tags.indexOf(tag) !== index)
  if (twice !== undefined) {
    problems.push({ field: 'tags', problem: `has ${JSON.stringify(twice)} twice`, expected: 'each of them once' })
  }
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(expect !== undefined && { expect: expect as Expectation }),
    ...(tags !== undefined && { tags }),
  }
}
