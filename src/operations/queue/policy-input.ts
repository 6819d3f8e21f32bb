import { z } from 'zod'
import { type Policy, policyProblems } from '../../core/policy.ts'
import type { NotifyPatch } from '../../store/notice-steps.ts'
import type { PolicyPatch } from '../../store/port.ts'
import { durationFields, durationOf, inUnits } from '../duration-input.ts'
import { newName } from '../fields.ts'
import type { Reading } from '../input.ts'
import { noted } from '../note.ts'
import { notifyPatchOf, notifyShape } from '../notify-input.ts'
import { onlyGiven } from '../only-given.ts'
import { patched } from '../patch.ts'
import type { Problem } from '../problem.ts'

const rateLimit = noted(
  z.strictObject({
    startsMax: z.int().describe('How many runs may start in that time.'),
    ...durationFields('per', 'The time in which they are counted.'),
  }),
  { expected: 'an object, such as {"startsMax":10,"per":"1m"}' },
)

const retention = noted(
  z.strictObject({
    ...durationFields('completed', 'How long completed, cancelled and skipped runs are kept. Default: 7d.'),
    ...durationFields('failed', 'How long failed runs are kept. Default: 30d.'),
    ...durationFields('ledger', 'How long the history of schedules is kept. Default: 90d.'),
    endedRunsMax: z.int().describe('How many ended runs are kept. Default: 1000000.').optional(),
    ...patched(durationFields('parked', 'How long parked runs are kept; without it for ever.')),
  }),
  { expected: 'an object, such as {"completed":"7d","failed":"30d"}' },
)

const {
  maxConcurrentPerKey,
  backoffSpread,
  onExhausted,
  rateLimit: rateLimitChange,
} = patched({
  maxConcurrentPerKey: z
    .int()
    .describe('How many runs with the same concurrencyKey are at work at once; without it no fewer than of the queue.')
    .optional(),
  backoffSpread: z
    .number()
    .describe(
      'The largest part of its wait that a run is spared, so that runs which failed together return apart; without it none.',
    )
    .optional(),
  rateLimit: rateLimit.describe('How many runs may start in any stretch of time; without it any number.').optional(),
  onExhausted: z
    .enum(['park', 'fail'])
    .describe('What becomes of a run that has used all its attempts; without it work parks and occurrences fail.')
    .optional(),
})

export const policyInput = z.strictObject({
  name: newName.describe('The name of the queue.'),
  maxConcurrent: z
    .int()
    .describe('How many runs of the queue are at work at once, over all workers. Default: 1; of the queue default 5.')
    .optional(),
  maxConcurrentPerKey,
  maxAttempts: z.int().describe('How often a run is tried. Default: 3.').optional(),
  ...durationFields('leaseTtl', "How long an outside host's lease lasts. Default: 5m."),
  ...durationFields('backoffBase', 'The wait before the second attempt. Default: 1s.'),
  backoffFactor: z.number().describe('By how much each wait is longer than the one before. Default: 2.').optional(),
  ...durationFields('backoffCap', 'The longest wait between attempts. Default: 1m.'),
  backoffSpread,
  rateLimit: rateLimitChange,
  onExhausted,
  retention: retention
    .describe(
      'How long what has ended is kept. Default: 7d completed, 30d failed, 90d history, 1000000 ended runs; parked runs for ever.',
    )
    .optional(),
  ...patched(notifyShape),
  ifVersion: z
    .int()
    .min(0)
    .describe('Refuses to write over any other version than this; 0 is that of a queue that does not exist.')
    .optional(),
})

/** What changes of a queue's policy: what is not named stays, and `null` takes an optional field away. */
export type PolicyInput = Omit<z.input<typeof policyInput>, 'name'>

export interface ReadPolicy {
  readonly patch: PolicyPatch
  /** Where notices about its work go; absent where nothing is said of that. */
  readonly notify: NotifyPatch | undefined
  readonly ifVersion: number | undefined
  readonly problems: readonly Problem[]
}

export function readPolicy(
  { value, problems: found }: Reading<z.output<typeof policyInput>>,
  { folder }: { readonly folder: string },
): ReadPolicy {
  const problems = [...found]
  const { ifVersion, maxConcurrent, maxConcurrentPerKey, maxAttempts, backoffFactor, backoffSpread, onExhausted } =
    value
  const { rateLimit, retention } = value
  const patch = onlyGiven({
    ...{ maxConcurrent, maxConcurrentPerKey, maxAttempts, backoffFactor, backoffSpread, onExhausted },
    leaseTtlMs: durationOf(value, 'leaseTtl', problems),
    backoffBaseMs: durationOf(value, 'backoffBase', problems),
    backoffCapMs: durationOf(value, 'backoffCap', problems),
    rateLimit: rateLimit ? rateOf(rateLimit, problems) : rateLimit,
    retention: retention === undefined ? undefined : retentionOf(retention, problems),
  })
  const notify = notifyPatchOf(value, { folder, problems })
  const isNotify = Object.keys(notify).length > 0
  return { patch: patch as PolicyPatch, notify: isNotify ? notify : undefined, ifVersion, problems }
}

function rateOf(given: z.output<typeof rateLimit>, problems: Problem[]) {
  const perMs = durationOf(given, 'per', problems, 'rateLimit.')
  if (perMs === undefined)
    problems.push({ field: 'rateLimit.per', problem: 'is missing', expected: 'a duration, such as 1s or 1m' })
  return { startsMax: given.startsMax, perMs }
}

function retentionOf(given: z.output<typeof retention>, problems: Problem[]) {
  const [completedMs, failedMs, ledgerMs, parkedMs] = ['completed', 'failed', 'ledger', 'parked'].map((name) =>
    durationOf(given, name, problems, 'retention.'),
  )
  return onlyGiven({ completedMs, failedMs, ledgerMs, parkedMs, endedRunsMax: given.endedRunsMax })
}

/** What is wrong with a policy, in the words of whoever wrote it: `backoffCap` where that is what it says. */
export function inPolicyWords({ field, problem, expected }: Problem, input: unknown): Problem {
  const base = /^(.+)Ms$/.exec(field)?.[1]
  if (base === undefined || !isText(input, base)) return { field, problem, expected }
  // What is told beside it is told in the same words.
  const named = expected.replace(/`(\w+)Ms`/, '`$1`')
  return { field: base, problem: inUnits(problem), expected: inUnits(named) }
}

function isText(input: unknown, path: string): boolean {
  let value = input
  for (const step of path.split('.')) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step]
  return typeof value === 'string'
}

/** A policy with what changes of it; `null` takes an optional field away. */
export function changedPolicy(policy: Policy, { retention, ...patch }: PolicyPatch): object {
  return merged({ ...policy, retention: merged(policy.retention, retention ?? {}) }, patch)
}

function merged(base: object, patch: object): object {
  const fields = Object.entries({ ...base, ...patch }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(fields)
}

/** All that is wrong with a change of a policy: what could not be read of it, and the rules about the whole. */
export function policyFaults(read: Pick<ReadPolicy, 'patch' | 'problems'>, policy: Policy, given: unknown): Problem[] {
  const told = read.problems.map((problem) => inPolicyWords(problem, given))
  const wrong = new Set(told.map(({ field }) => field.replace(/Ms$/, '')))
  const more = policyProblems(changedPolicy(policy, read.patch)).map((problem) => inPolicyWords(problem, given))
  return [
    ...told,
    ...more.filter(({ field, expected }) => {
      const named = /`(\w+)`/.exec(expected)?.[1]
      return ![field, named ?? ''].some((name) => wrong.has(name.replace(/Ms$/, '')))
    }),
  ]
}
