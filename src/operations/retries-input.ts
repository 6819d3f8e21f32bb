import { z } from 'zod'
import { type OwnRetries, retriesProblems } from '../core/retries.ts'
import { durationFields, durationOf, inUnits } from './duration-input.ts'
import { noted } from './note.ts'
import { onlyGiven } from './only-given.ts'
import type { Problem } from './problem.ts'

const backoff = noted(
  z.strictObject({
    ...durationFields('base', 'The wait before the second attempt. Default: the backoffBase of the queue.'),
    factor: z
      .number()
      .describe('By how much each wait is longer than the one before. Default: the backoffFactor of the queue.')
      .optional(),
    ...durationFields('cap', 'The longest wait between attempts. Default: the backoffCap of the queue, at least base.'),
  }),
  { expected: 'an object, such as {"base":"5s","factor":2,"cap":"10m"}', hasFlags: true },
)

/** What a schedule and a run say alike about how they are tried again. */
export const retriesFields = {
  attempts: z
    .int()
    .describe('How often a run is tried, the first attempt included. Default: the maxAttempts of its queue.')
    .optional(),
  backoff: backoff.describe('How long a run waits between its attempts. Default: the backoff of its queue.').optional(),
}

/** A backoff as it is written: durations are in ms by now, in the field that they were written in. */
export type BackoffFields = z.output<typeof backoff>

interface RetriesFields {
  readonly attempts?: number | undefined
  readonly backoff?: BackoffFields | undefined
}

/** Says what is to be stored of them, and notes what is wrong, in the words it was written in. */
export function retriesOf({ attempts, backoff: given }: RetriesFields, problems: Problem[]): OwnRetries {
  const parts = given === undefined ? undefined : backoffOf(given, problems)
  const own: OwnRetries = onlyGiven({ maxAttempts: attempts, backoff: parts })
  problems.push(...retriesProblems(own).map((problem) => inWrittenWords(problem, given ?? {})))
  return own
}

function backoffOf(given: BackoffFields, problems: Problem[]): NonNullable<OwnRetries['backoff']> {
  if (Object.keys(given).length === 0) {
    problems.push({ field: 'backoff', problem: 'is empty', expected: 'one of base, factor and cap, or leave it out' })
  }
  return onlyGiven({
    baseMs: durationOf(given, 'base', problems, 'backoff.'),
    factor: given.factor,
    capMs: durationOf(given, 'cap', problems, 'backoff.'),
  })
}

/** A change of a backoff: what it does not name stays as it was. */
export function changedBackoff(before: BackoffFields | undefined, change: BackoffFields): BackoffFields {
  const { baseMs, capMs, ...rest } = before ?? {}
  const named = (name: 'base' | 'cap') => change[name] !== undefined || change[`${name}Ms`] !== undefined
  return {
    ...rest,
    ...(baseMs !== undefined && !named('base') && { baseMs }),
    ...(capMs !== undefined && !named('cap') && { capMs }),
    ...change,
  }
}

/** `backoff.cap is 1s` of a `cap: '1s'`, and `backoff.capMs is 1000` of a `capMs: 1000`. */
function inWrittenWords({ field, problem, expected }: Problem, given: BackoffFields): Problem {
  const isText = (name: 'base' | 'cap') => given[`${name}Ms`] === undefined
  const named = expected.replace('`backoff.baseMs`', isText('base') ? '`backoff.base`' : '`backoff.baseMs`')
  const [, name] = /^backoff\.(base|cap)Ms$/.exec(field) ?? []
  if (name === undefined || !isText(name as 'base' | 'cap')) return { field, problem, expected: named }
  return { field: `backoff.${name}`, problem: inUnits(problem), expected: inUnits(named) }
}
