import { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import { jsonProblem, plainData } from '../core/json.ts'
import { traceparentExpected, traceparentProblem } from '../core/trace.ts'
import type { NewRun } from '../store/port.ts'
import { type ExecutionOptions, executionFields, executionOptions } from './execution-input.ts'
import { read } from './input.ts'
import { instant, isoText } from './instant.ts'
import { onlyGiven } from './only-given.ts'
import type { Problem } from './problem.ts'
import { key, name, payload, priority, target } from './schedule-input.ts'
import { targetOf } from './target-input.ts'

export const runInput = z.strictObject({
  queue: name.optional(),
  target: target.optional(),
  payload: payload.optional(),
  priority: priority.optional(),
  notBefore: instant.optional(),
  /** From this instant on it does not start any more. */
  deadline: instant.optional(),
  concurrencyKey: key.optional(),
  /** The same key and the same work is the same run, for 30 days. */
  idempotencyKey: key.optional(),
  /** While a run with this key is live, it is the one. */
  dedupeKey: key.optional(),
  ...executionFields,
  repeatable: z.boolean().optional(),
  /** The W3C trace context that its attempts belong to. */
  traceparent: z.string().optional(),
})

/** Work that is enqueued directly. */
export type RunInput = z.input<typeof runInput>

export interface ReadRun {
  readonly run: NewRun
  readonly problems: readonly Problem[]
}

/** Reads work as people write it into what is stored. */
export function readRun(input: unknown, { folder }: { readonly folder: string }): ReadRun {
  const { value, problems: found } = read(runInput, input, 'a run')
  const { target: aimed, kind, problems: ofTarget } = targetOf(value.target, { folder })
  const problems = [...found, ...ofTarget]
  const options = { ...executionOptions(value, kind, problems), ...traceOf(value.traceparent, problems) }
  noteUnkept(value.payload, problems)
  const { queue, payload, priority, notBefore, deadline, concurrencyKey, idempotencyKey, dedupeKey } = value
  if (notBefore !== undefined && deadline !== undefined && deadline <= notBefore) {
    const expected = `after notBefore, which is ${isoText(notBefore)}`
    problems.push({ field: 'deadline', problem: `is ${isoText(deadline)}`, expected })
  }
  const { repeatable } = value
  const whenAndWhere = { queue, priority, notBefore, deadline, concurrencyKey, idempotencyKey, dedupeKey, repeatable }
  const run = {
    ...whenAndWhere,
    target: aimed,
    payload,
    options: Object.keys(options).length === 0 ? undefined : options,
  }
  return { run: onlyGiven(run), problems }
}

function traceOf(traceparent: string | undefined, problems: Problem[]): Pick<ExecutionOptions, 'traceparent'> {
  if (traceparent === undefined) return {}
  const problem = traceparentProblem(traceparent)
  if (problem !== null) problems.push({ field: 'traceparent', problem, expected: traceparentExpected })
  return { traceparent }
}

function noteUnkept(payload: unknown, problems: Problem[]): void {
  const unkept = payload === undefined ? null : jsonProblem(payload)
  if (unkept !== null) problems.push({ field: `payload${unkept.path}`, problem: unkept.problem, expected: plainData })
}

const runsAtOnceMax = 100_000

/** Whether a list of inputs is one. What is wrong with its items is told by their places. */
export function checkedList(inputs: unknown): readonly unknown[] {
  if (Array.isArray(inputs) && inputs.length <= runsAtOnceMax) return inputs
  const is = Array.isArray(inputs) ? `has ${inputs.length} of them` : 'is none'
  throw new BelfryError('invalid', `The list of runs ${is}; it must be a list of at most ${runsAtOnceMax}.`)
}
