import { z } from 'zod'
import type { PolicyPatch } from '../store/port.ts'
import { durationFields, durationOf, inUnits } from './duration-input.ts'
import { read } from './input.ts'
import { onlyGiven } from './only-given.ts'
import { patched } from './patch.ts'
import type { Problem } from './problem.ts'

const rateLimit = z.strictObject({
  startsMax: z.int(),
  ...durationFields('per'),
})

const retention = z.strictObject({
  ...patched(durationFields('completed')),
  ...patched(durationFields('failed')),
  ...patched(durationFields('ledger')),
  endedRunsMax: z.int().nullable().optional(),
  ...patched(durationFields('parked')),
})

export const policyInput = z.strictObject({
  maxConcurrent: z.int().optional(),
  maxConcurrentPerKey: z.int().nullable().optional(),
  maxAttempts: z.int().optional(),
  ...patched(durationFields('leaseTtl')),
  ...patched(durationFields('backoffBase')),
  backoffFactor: z.number().optional(),
  ...patched(durationFields('backoffCap')),
  backoffSpread: z.number().nullable().optional(),
  rateLimit: rateLimit.nullable().optional(),
  onExhausted: z.enum(['park', 'fail']).nullable().optional(),
  retention: retention.optional(),
  ifVersion: z.int().min(0).optional(),
})

/** What changes of a queue's policy: what is not named stays, and `null` takes an optional field away. */
export type PolicyInput = z.input<typeof policyInput>

export interface ReadPolicy {
  readonly patch: PolicyPatch
  readonly ifVersion: number | undefined
  readonly problems: readonly Problem[]
}

export function readPolicy(input: unknown): ReadPolicy {
  const { value, problems: found } = read(policyInput, input, 'a policy')
  const problems = [...found]
  const { ifVersion, leaseTtl: _, backoffBase: __, backoffCap: ___, retention, rateLimit, ...rest } = value
  const patch = onlyGiven({
    ...rest,
    leaseTtlMs: durationOf(value, 'leaseTtl', problems),
    backoffBaseMs: durationOf(value, 'backoffBase', problems),
    backoffCapMs: durationOf(value, 'backoffCap', problems),
    rateLimit: rateLimit ? rateOf(rateLimit, problems) : rateLimit,
    retention: retention === undefined ? undefined : retentionOf(retention, problems),
  })
  return { patch: patch as PolicyPatch, ifVersion, problems }
}

function rateOf(given: z.output<typeof rateLimit>, problems: Problem[]) {
  const perMs = durationOf(given, 'per', problems, 'rateLimit.')
  if (perMs === undefined)
    problems.push({ field: 'rateLimit.per', problem: 'is missing', expected: 'such as 1s or 1m' })
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
  return { field: base, problem: inUnits(problem), expected: inUnits(expected) }
}

function isText(input: unknown, path: string): boolean {
  let value = input
  for (const step of path.split('.')) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step]
  return typeof value === 'string'
}
