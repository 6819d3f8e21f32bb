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
  ifVersion: z.int().min(0).describe('Write only over this version; 0: only if the queue does not exist.').optional(),
})

/** A change of a policy: a field that is not given stays, and `null` removes an optional field. */
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

/** Applies a change to a policy; `null` removes an optional field. */
export function changedPolicy(policy: Policy, { retention, ...patch }: PolicyPatch): object {
  return merged({ ...policy, retention: merged(policy.retention, retention ?? {}) }, patch)
}

function merged(base: object, patch: object): object {
  const fields = Object.entries({ ...base, ...patch }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(fields)
}

/** Every problem of a policy change, in the caller's words: unreadable fields and broken rules between fields. */
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
