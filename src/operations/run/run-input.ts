import type { z } from 'zod'
import { instant, keyLengthMax, plain, required, type StoredOf, text } from '../../core/field-table.ts'
import { jsonProblem, plainData } from '../../core/json/json.ts'
import { executionFields, workFields } from '../../core/run/work-fields.ts'
import { traceparentExpected, traceparentProblem } from '../../core/trace.ts'
import type { NewRun } from '../../store/port.ts'
import { openInput, readAdded, unfitProblems } from '../fields/added-fields.ts'
import { inputShape, storedFields } from '../fields/field-schema.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { noteSizes } from '../fields/payload-size.ts'
import { isoText } from '../input/instant.ts'
import type { Reading } from '../input/read-input.ts'
import type { Problem } from '../input/refuse-input.ts'
import type { Reader } from '../operation-context.ts'
import { noted } from '../schema/schema-note.ts'
import { type ExecutionOptions, executionOptions } from '../target/execution-options.ts'
import { kindQueue } from '../target/kind-queue.ts'
import { targetOf } from '../target/target-input.ts'

/** A missing target is most often a forgotten field; a caller that wants none writes null. */
const withoutTarget: Problem = {
  field: 'target',
  problem: 'is missing',
  expected: 'an object, such as {"handler":"report"}; null for work that outside hosts lease',
}

/** The stored form of a run: its work, and when it may start. */
export const runFields = {
  ...workFields,
  target: required({
    ...workFields.target,
    says: 'What the run does: exactly one of {kinds}. Null: outside hosts lease it.',
    expected: withoutTarget.expected,
  }),
  notBefore: instant({ says: 'Do not start the run before this instant.' }),
  deadline: instant({ says: 'Do not start the run from this instant on.' }),
  idempotencyKey: text('key', keyLengthMax, {
    says: 'The same key with the same work returns the same run, for 30 days.',
  }),
  dedupeKey: text('key', keyLengthMax, { says: 'While a run with this key is live, return that run.' }),
}
const traceFields = { traceparent: plain({ says: 'The W3C trace context of its attempts.' }) }

export const runInput = noted(openInput('run', inputShape({ ...runFields, ...executionFields, ...traceFields })), {
  id: 'RunInput',
})

export type RunInput = z.input<typeof runInput>

export interface ReadRun {
  readonly run: NewRun
  readonly problems: readonly Problem[]
}

/** Reads a run input into its stored form. */
export function readRun(
  { value, problems: found }: Pick<Reading<z.output<typeof runInput>>, 'value' | 'problems'>,
  { folder, kinds, fields }: Reader,
): ReadRun {
  const { target, kind, problems: ofTarget } = targetOf(value.target, { folder, kinds })
  const problems = [...found, ...ofTarget]
  // A program may pass `target: undefined`, which counts as missing.
  if (value.target === undefined && !found.some(({ field }) => field === 'target')) problems.push(withoutTarget)
  const execution = storedFields(executionFields, value, problems) as StoredOf<typeof executionFields>
  const options = {
    ...(target == null ? {} : kind?.optionsOf?.(target)),
    ...executionOptions(execution, { given: value, kind, problems }),
    ...traceOf(value.traceparent, problems),
    ...readAdded(fields?.run, value, { folder, kinds, problems }),
  }
  // A target that could not be read counts as given.
  problems.push(...unfitProblems(fields?.run, options, { target: target === undefined ? {} : target }))
  noteUnkept(value.payload, problems)
  // The store measures what it writes. For work that is refused anyway its size problems are added
  // here.
  if (problems.length > 0) noteSizes(value, problems)
  const { notBefore, deadline } = value
  if (notBefore !== undefined && deadline !== undefined && deadline <= notBefore) {
    const expected = `after \`notBefore\`, which is ${isoText(notBefore)}`
    problems.push({ field: 'deadline', problem: `is ${isoText(deadline)}`, expected })
  }
  const isPlain = Object.keys(options).length === 0
  const repeats = target != null && kind?.repeats?.(target) === false ? { repeatable: false } : {}
  const keyed = onlyGiven({ concurrencyKey: target == null ? undefined : kind?.keyOf?.(target) })
  const run = {
    ...keyed,
    ...repeats,
    ...storedFields(runFields, value, problems),
    queue: kindQueue({ kind, given: value.queue, problems }),
    target,
    ...(!isPlain && { options }),
  }
  return { run: onlyGiven(run) as NewRun, problems }
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
