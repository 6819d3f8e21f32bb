import { z } from 'zod'
import { type Policy, policyFields, policyProblems } from '../../core/queue/policy.ts'
import type { PolicyPatch } from '../../store/port.ts'
import { openChange, readAdded } from '../fields/added-fields.ts'
import { newName } from '../fields/basic-fields.ts'
import { changeShape, storedFields } from '../fields/field-schema.ts'
import { asWritten } from '../input/as-written.ts'
import type { Reading } from '../input/read-input.ts'
import type { Problem } from '../input/refuse-input.ts'
import type { Reader } from '../operation-context.ts'

export const policyInput = openChange('queue', {
  name: newName.describe('The name of the queue.'),
  ...changeShape(policyFields),
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
  readonly ifVersion: number | undefined
  readonly problems: readonly Problem[]
}

export function readPolicy(
  { value, problems: found }: Reading<z.output<typeof policyInput>>,
  { folder, kinds, fields }: Reader,
): ReadPolicy {
  const problems = [...found]
  const patch = {
    ...storedFields(policyFields, value, problems),
    ...readAdded(fields?.queue, value, { folder, kinds, problems }),
  } as PolicyPatch
  return { patch, ifVersion: value.ifVersion, problems }
}

/** A policy with what changes of it; `null` takes an optional field away. */
export function changedPolicy(policy: Policy, { retention, ...patch }: PolicyPatch): object {
  return merged({ ...policy, retention: merged(policy.retention, retention ?? {}) }, patch)
}

function merged(base: object, patch: object): object {
  const fields = Object.entries({ ...base, ...patch }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(fields)
}

/** All that is wrong with a change of a policy, in the words of the caller: what could not be read, and the rules about the whole. */
export function policyFaults(read: Pick<ReadPolicy, 'patch' | 'problems'>, policy: Policy, given: object): Problem[] {
  const whole = changedPolicy(policy, read.patch)
  const told = (problem: Problem) => asWritten(problem, given, policyFields)
  const wrong = new Set(read.problems.map(({ field }) => field.replace(/Ms$/, '')))
  const more = policyProblems(whole, Object.keys(whole)).filter(({ field, expected }) => {
    const named = /`(\w+)`/.exec(expected)?.[1]
    return ![field, named ?? ''].some((name) => wrong.has(name.replace(/Ms$/, '')))
  })
  return [...read.problems, ...more].map(told)
}
