import { defaultPolicy, policyProblems } from '../../core/queue/policy.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import type { PolicyPatch } from '../../store/port.ts'
import { type Draft, type Left, nothing, shown } from './draft.ts'
import { fieldsIn, strangers } from './json-file.ts'

const names = ['maxConcurrent', 'maxAttempts', 'leaseTtlMs', 'backoffBaseMs', 'backoffFactor', 'backoffCapMs'] as const
type Name = (typeof names)[number]

const known: ReadonlySet<string> = new Set(['schemaVersion', ...names])
const where = 'policy'

/**
 * Reads `scheduling-policy.json`, whose fields a queue has under the same names. A value that a queue would not take is
 * told, and not rounded to one that it would: there it was silently replaced by a default.
 */
export function draftOfPolicy(text: string, problems: Problem[]): Draft {
  const file = fieldsIn(text, { field: 'policy', name: 'scheduling-policy.json', problems })
  if (file === null) return nothing
  const left: Left[] = strangers(file, known, where, 'a policy there has no such field, so that it had no effect')
  const patch: Partial<Record<Name, number>> = {}
  for (const name of names) {
    const value = file[name]
    if (value === undefined) continue
    const expected = wrongAlone(name, value)
    if (expected === null) patch[name] = value as number
    else left.push({ where, what: `${name} ${shown(value)}`, why: `a queue takes ${expected}` })
  }
  const policy = withSoundBackoff(patch, left)
  return { ...nothing, policy: Object.keys(policy).length === 0 ? null : policy, left }
}

/** What would be right in place of a value, looked at without the other fields; `null` where it is right. */
function wrongAlone(name: Name, value: unknown): string | null {
  const problems = policyProblems({ ...defaultPolicy, backoffBaseMs: 0, [name]: value })
  return problems.find(({ field }) => field === name)?.expected ?? null
}

/**
 * A cap below the base was allowed there, and cut every wait to the cap; here both say so. They are told together, because
 * one alone might not fit the other that the queue has.
 */
function withSoundBackoff(patch: Partial<Record<Name, number>>, left: Left[]): PolicyPatch {
  const { backoffBaseMs, backoffCapMs } = patch
  if (backoffBaseMs === undefined && backoffCapMs === undefined) return patch
  const baseMs = backoffBaseMs ?? defaultPolicy.backoffBaseMs
  const capMs = backoffCapMs ?? defaultPolicy.backoffCapMs
  if (capMs >= baseMs) return { ...patch, backoffBaseMs: baseMs, backoffCapMs: capMs }
  const why = `every wait was cut to a cap of ${capMs}, so that it begins with that here`
  left.push({ where, what: `backoffBaseMs ${baseMs}`, why, isTaken: true })
  return { ...patch, backoffBaseMs: capMs, backoffCapMs: capMs }
}
