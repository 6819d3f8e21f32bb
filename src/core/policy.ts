/** At most `startsMax` runs of a queue start in any window of `perMs`. */
export interface RateLimit {
  readonly startsMax: number
  readonly perMs: number
}

/** How long what has ended is kept. Parked runs are kept for ever unless `parkedMs` is given. */
export interface Retention {
  /** Completed, cancelled and skipped runs. */
  readonly completedMs: number
  readonly failedMs: number
  readonly ledgerMs: number
  readonly endedRunsMax: number
  readonly parkedMs?: number | undefined
}

/** The rules of one queue, as plain data. */
export interface Policy {
  readonly maxConcurrent: number
  readonly maxConcurrentPerKey?: number | undefined
  readonly maxAttempts: number
  readonly leaseTtlMs: number
  readonly backoffBaseMs: number
  readonly backoffFactor: number
  readonly backoffCapMs: number
  /** The largest part of its backoff a run may be spared, so that runs which failed together return apart. */
  readonly backoffSpread?: number | undefined
  readonly rateLimit?: RateLimit | undefined
  readonly onExhausted?: 'park' | 'fail' | undefined
  readonly retention: Retention
}

/** The queue of work that names none. */
export const defaultQueue = 'default'

const dayMs = 86_400_000
const countMax = 1_000_000
const durationMsMax = 36_500 * dayMs

export const defaultPolicy: Policy = Object.freeze({
  maxConcurrent: 5,
  maxAttempts: 3,
  leaseTtlMs: 300_000,
  backoffBaseMs: 1_000,
  backoffFactor: 2,
  backoffCapMs: 60_000,
  retention: Object.freeze({
    completedMs: 7 * dayMs,
    failedMs: 30 * dayMs,
    ledgerMs: 90 * dayMs,
    endedRunsMax: 1_000_000,
  }),
})

export interface PolicyProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

interface Rule {
  readonly expected: string
  readonly optional?: boolean
  fits(value: unknown): boolean
}

const integer = (min: number, max: number): Rule => ({
  expected: `an integer from ${min} to ${max}`,
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
})

const real = (min: number, max: number): Rule => ({
  expected: `a number from ${min} to ${max}`,
  fits: (value) => Number.isFinite(value) && (value as number) >= min && (value as number) <= max,
})

const optional = (rule: Rule): Rule => ({ ...rule, optional: true })

const object: Rule = {
  expected: 'an object',
  fits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

const policyRules: Record<keyof Policy, Rule> = {
  maxConcurrent: integer(1, countMax),
  maxConcurrentPerKey: optional(integer(1, countMax)),
  maxAttempts: integer(1, countMax),
  leaseTtlMs: integer(1_000, 7 * dayMs),
  backoffBaseMs: integer(0, durationMsMax),
  backoffFactor: real(1, 1_000),
  backoffCapMs: integer(0, durationMsMax),
  backoffSpread: optional(real(0, 1)),
  rateLimit: optional(object),
  onExhausted: optional({ expected: "'park' or 'fail'", fits: (value) => value === 'park' || value === 'fail' }),
  retention: object,
}

const rateLimitRules: Record<keyof RateLimit, Rule> = {
  startsMax: integer(1, countMax),
  perMs: integer(1, durationMsMax),
}

const retentionRules: Record<keyof Retention, Rule> = {
  completedMs: integer(0, durationMsMax),
  failedMs: integer(0, durationMsMax),
  ledgerMs: integer(0, durationMsMax),
  endedRunsMax: integer(0, Number.MAX_SAFE_INTEGER),
  parkedMs: optional(integer(0, durationMsMax)),
}

/** Says everything that is wrong with a policy, so that a door can refuse it whole. An empty list means it is sound. */
export function policyProblems(policy: unknown): PolicyProblem[] {
  if (!isRecord(policy)) return [problem('policy', policy, object.expected)]
  const problems = [
    ...fieldProblems('', policy, policyRules),
    ...(isRecord(policy.rateLimit) ? fieldProblems('rateLimit.', policy.rateLimit, rateLimitRules) : []),
    ...(isRecord(policy.retention) ? fieldProblems('retention.', policy.retention, retentionRules) : []),
  ]
  const { backoffBaseMs: baseMs, backoffCapMs: capMs } = policy
  if (typeof baseMs === 'number' && typeof capMs === 'number' && capMs < baseMs) {
    problems.push(problem('backoffCapMs', capMs, `at least \`backoffBaseMs\`, which is ${baseMs}`))
  }
  return problems
}

function fieldProblems(
  prefix: string,
  record: Record<string, unknown>,
  rules: Readonly<Record<string, Rule>>,
): PolicyProblem[] {
  const problems: PolicyProblem[] = []
  for (const [name, rule] of Object.entries(rules)) {
    const value = record[name]
    if (value === undefined && rule.optional) continue
    if (!rule.fits(value)) problems.push(problem(prefix + name, value, rule.expected))
  }
  for (const name of Object.keys(record)) {
    if (Object.hasOwn(rules, name)) continue
    const known = Object.keys(rules).join(', ')
    problems.push({ field: prefix + name, problem: 'is not a field of a policy', expected: `one of ${known}` })
  }
  return problems
}

function problem(field: string, value: unknown, expected: string): PolicyProblem {
  return { field, problem: value === undefined ? 'is missing' : `is ${shown(value)}`, expected }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'bigint' ? `the bigint ${value}` : String(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return object.fits(value)
}
