import { z } from 'zod'
import { jsonProblem, plainData } from '../../core/json.ts'
import { traceparentExpected, traceparentProblem } from '../../core/trace.ts'
import type { NewRun } from '../../store/port.ts'
import { type ExecutionOptions, executionFields, executionOptions } from '../execution-input.ts'
import { key, newName, payload, priority } from '../fields.ts'
import type { Reading } from '../input.ts'
import { instant, isoText } from '../instant.ts'
import { noted } from '../note.ts'
import { onlyGiven } from '../only-given.ts'
import type { Problem } from '../problem.ts'
import { noteSizes } from '../sizes.ts'
import { targetForm } from '../target-form.ts'
import { type TargetInput, targetOf } from '../target-input.ts'

/** Work that says nothing of what it does is most often a field forgotten; a caller that means it says null. */
const withoutTarget: Problem = {
  field: 'target',
  problem: 'is missing',
  expected: 'an object, such as {"handler":"report"}; null for work that outside hosts take',
}

const target = noted(z.unknown(), { form: targetForm, expected: withoutTarget.expected })
  .nullable()
  .describe(
    'What the run does: exactly one of a handler, a command and an HTTP request. Null for work that outside hosts take.',
  ) as unknown as z.ZodType<unknown, TargetInput | null>

const shape = {
  queue: newName.describe('The queue that it goes through. Default: default.').optional(),
  target,
  payload: payload.optional(),
  priority: priority.optional(),
  notBefore: instant.describe('It does not start before this instant.').optional(),
  deadline: instant.describe('From this instant on it does not start any more.').optional(),
  concurrencyKey: key.describe('Runs with the same key share the ceiling for a key of their queue.').optional(),
  idempotencyKey: key.describe('The same key and the same work is the same run, for 30 days.').optional(),
  dedupeKey: key.describe('While a run with this key is live, it is the one.').optional(),
  ...executionFields,
  repeatable: z
    .boolean()
    .describe('Whether it is tried again when nobody knows whether it was done. Default: true.')
    .optional(),
  traceparent: z.string().describe('The W3C trace context that its attempts belong to.').optional(),
}

export const runInput = noted(z.strictObject(shape), { id: 'RunInput' })

/** Work that is enqueued directly. */
export type RunInput = z.input<typeof runInput>

export interface ReadRun {
  readonly run: NewRun
  readonly problems: readonly Problem[]
}

/** Reads work as people write it into what is stored. */
export function readRun(
  { value, problems: found }: Pick<Reading<z.output<typeof runInput>>, 'value' | 'problems'>,
  { folder }: { readonly folder: string },
): ReadRun {
  const { target: aimed, kind, problems: ofTarget } = targetOf(value.target, { folder })
  const problems = [...found, ...ofTarget]
  // A program may hand on a target that it has not got, which is as good as none.
  if (value.target === undefined && !found.some(({ field }) => field === 'target')) problems.push(withoutTarget)
  const options = { ...executionOptions(value, kind, problems), ...traceOf(value.traceparent, problems) }
  noteUnkept(value.payload, problems)
  noteSizes(value, problems)
  const { queue, payload, priority, notBefore, deadline, concurrencyKey, idempotencyKey, dedupeKey } = value
  if (notBefore !== undefined && deadline !== undefined && deadline <= notBefore) {
    const expected = `after \`notBefore\`, which is ${isoText(notBefore)}`
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
