import { defaultPolicy, policyProblems } from '../../core/queue/policy.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import type { PolicyPatch } from '../../store/port.ts'
import { type Draft, type Left, nothing, shown } from './draft.ts'
import { fieldsIn, strangers } from './json-file.ts'

const names = ['maxConcurrent', 'maxAttempts', 'leaseTtlMs', 'backoffBaseMs', 'backoffFactor', 'backoffCapMs'] as const
type Name = (typeof names)[number]

const known: ReadonlySet<string> = new Set(['schemaVersion', ...names])
const where = 'policy'

/** Reads `scheduling-policy.json`, whose fields a queue has under the same names. An invalid value is reported and not rounded: cool-workflow silently replaced it by a default. */
export function draftOfPolicy(text: string, problems: Problem[]): Draft {
  const file = fieldsIn(text, { field: 'policy', name: 'scheduling-policy.json', problems })
  if (file === null) return nothing
  const left: Left[] = strangers(file, known, where, 'a policy of cool-workflow has no such field, so it had no effect')
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

/** The expected value, checked without the other fields; `null` when the value is valid. */
function wrongAlone(name: Name, value: unknown): string | null {
  const problems = policyProblems({ ...defaultPolicy, backoffBaseMs: 0, [name]: value })
  return problems.find(({ field }) => field === name)?.expected ?? null
}

/** cool-workflow allowed a cap below the base, and cut every wait to the cap; here both are set to the cap. They are set together, because one alone might not fit the other value of the queue. */
function withSoundBackoff(patch: Partial<Record<Name, number>>, left: Left[]): PolicyPatch {
  const { backoffBaseMs, backoffCapMs } = patch
  if (backoffBaseMs === undefined && backoffCapMs === undefined) return patch
  const baseMs = backoffBaseMs ?? defaultPolicy.backoffBaseMs
  const capMs = backoffCapMs ?? defaultPolicy.backoffCapMs
  if (capMs >= baseMs) return { ...patch, backoffBaseMs: baseMs, backoffCapMs: capMs }
  const why = `every wait was cut to a cap of ${capMs}, so the first wait has that length here`
  left.push({ where, what: `backoffBaseMs ${baseMs}`, why, isTaken: true })
  return { ...patch, backoffBaseMs: capMs, backoffCapMs: capMs }
}
