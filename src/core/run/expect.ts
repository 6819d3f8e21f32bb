import { jsonProblem, plainData } from '../json/json.ts'
import {
  atJsonPath,
  formatJsonPath,
  isSameJson,
  type JsonPath,
  jsonPathExpected,
  parseJsonPath,
} from '../json/json-path.ts'
import { abbreviated, isClause, shownJson } from '../json/json-shown.ts'
import { patternExpected, patternMatches, patternProblem } from '../json/pattern.ts'
import { isRecord } from '../json/record.ts'
import { reasonText } from '../reason-text.ts'
import { anomalyRange, type UsageRule, usageRuleProblems } from './expect-usage.ts'
import type { Usage } from './usage.ts'
import type { Utilisation } from './utilisation.ts'
import type { Outcome } from './verdict.ts'

/** What the answer of a run must be to count as success. Every given field must hold. */
export interface Expectation extends AnswerRules {
  /**
   * The answer of a run that found nothing to do. Statuses and exit codes that it does not name are those of the
   * success rules.
   */
  readonly noop?: AnswerRules | undefined
  /** The most that a success may have used; more is a failure. */
  readonly usage?: UsageRule | undefined
  /** Warn when a success used more than this many times what is usual. */
  readonly anomaly?: number | undefined
}

/** Rules for an answer. */
export interface AnswerRules {
  /** Accepted statuses, as numbers or as classes such as `2xx`; default 2xx. */
  readonly statuses?: readonly (number | string)[] | undefined
  /** Accepted exit codes; default 0. */
  readonly exitCodes?: readonly number[] | undefined
  /** The answer's text contains this. */
  readonly textIncludes?: string | undefined
  /** The answer's text matches this regular expression somewhere, in the notation of `core/json/pattern.ts`. */
  readonly textMatches?: string | undefined
  /** The values of the answer, parsed as JSON, at these paths (`status`, `items[0].id`). */
  readonly json?: Readonly<Record<string, unknown>> | undefined
}

/** A fact that only some kinds of targets end with. */
export type EndFact = 'status' | 'exitCode'

/** A refusal by a provider's limit. */
export interface RateLimited {
  /** When the limit opens again, if the provider named it. */
  readonly resetAt?: number | undefined
  /** The reset as the provider wrote it, where that is not a usable instant, such as a time of day without a zone. */
  readonly resetText?: string | undefined
  /** The name of the limit, such as `five_hour`. */
  readonly window?: string | undefined
  /** Whether the attempt may have had effects before it was refused. Default: true. */
  readonly hasBegun?: boolean | undefined
  /** Whether the run is deferred even if it names no account. Default: false, and then its failure counts. */
  readonly defersAlways?: boolean | undefined
}

/**
 * How a target ended, as the executor saw it. `null`: the fact is missing, although targets of this kind normally end
 * with it.
 */
export interface EndFacts {
  /** There is no answer: it threw, could not be started, could not be reached. */
  readonly error?: string | undefined
  /** `false`: no further attempt can succeed; `true`: it surely had no effect. */
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  /** The provider refused by its limit: a structured answer said so, never free text. */
  readonly rateLimited?: RateLimited | undefined
  /** The usage that the answer reports. */
  readonly usage?: Usage | undefined
  /** How much of the account's limits is used, as the answer reports it. */
  readonly utilisation?: readonly Utilisation[] | undefined
  readonly status?: number | null | undefined
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  /** The answer, for text rules. */
  readonly text?: string | undefined
  /** Why the answer is incomplete, as a clause: it was longer than the kept part, or could not be read. */
  readonly incomplete?: string | undefined
  /** The answer, for JSON rules; absent when it is not JSON. */
  readonly json?: unknown
}

export interface OutcomeInput {
  readonly facts: EndFacts
  readonly expect?: Expectation | undefined
}

/** The rule that failed, in words. */
interface Breach {
  readonly reason: string
  readonly retryable?: false
}

/** Text rules read this much of an answer; no more of an answer is kept. */
const judgedCharactersMax = 100 * 1024
const textIncludesLengthMax = 1_000

/**
 * Decides whether an ended attempt succeeded; if not, the reason names the rule that failed.
 *
 * For an unexpected answer the policy decides about retries: the next answer may differ. It is never marked retryable, because
 * that would also repeat a run that must not repeat: an odd answer does not prove that nothing happened.
 */
export function outcomeOf({ facts, expect = {} }: OutcomeInput): Outcome {
  if (facts.error !== undefined) return failed(facts, { reason: facts.error }, facts.retryable)
  const breach = breachOf(facts, expect)
  if (breach !== null) return failed(facts, breach, breach.retryable)
  return isNoop(facts, expect) ? { kind: 'success', noop: true } : { kind: 'success' }
}

/** Whether a success did nothing, by the rules for that. */
function isNoop(facts: EndFacts, { noop, statuses, exitCodes }: Expectation): boolean {
  return noop !== undefined && breachOf(facts, { statuses, exitCodes, ...noop }) === null
}

function breachOf(facts: EndFacts, rules: AnswerRules): Breach | null {
  return (
    statusBreach(facts, rules.statuses) ??
    exitBreach(facts, rules.exitCodes) ??
    textBreach(facts, rules) ??
    jsonBreach(facts, rules.json)
  )
}

function failed({ retryAfterMs }: EndFacts, { reason }: Breach, retryable: boolean | undefined): Outcome {
  return {
    kind: 'failed',
    reason: reasonText(reason) || 'failed without a message',
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function statusBreach({ status }: EndFacts, statuses: Expectation['statuses']): Breach | null {
  if (statuses !== undefined) {
    if (typeof status === 'number' && statuses.some((wanted) => isStatus(status, wanted))) return null
    return { reason: `expect.statuses: ${status ?? 'no status'} is not ${statuses.join(' or ')}` }
  }
  if (status === undefined) return null
  if (status === null) return { reason: 'ended without a status' }
  if (status >= 200 && status <= 299) return null
  return { reason: `status ${status}`, ...(isSenderAtFault(status) && { retryable: false }) }
}

/**
 * A 4xx answer is a refusal of the request: the server would refuse it again, while the person who could fix it waits for the
 * last attempt. The exceptions depend on time: too slow (408), conflict (409), too early (425), too many (429). Other schedulers
 * retry every status; to retry a 404, set `expect.statuses`, because then the user defines the statuses and not HTTP.
 */
function isSenderAtFault(status: number): boolean {
  return status >= 400 && status <= 499 && ![408, 409, 425, 429].includes(status)
}

function isStatus(status: number, wanted: number | string): boolean {
  return typeof wanted === 'number' ? status === wanted : String(status)[0] === wanted[0]
}

function exitBreach({ exitCode, signal }: EndFacts, exitCodes: Expectation['exitCodes']): Breach | null {
  const hasExit = typeof exitCode === 'number'
  if (hasExit && (exitCodes ?? [0]).includes(exitCode)) return null
  if (exitCode === undefined && exitCodes === undefined && !signal) return null
  const was = hasExit ? `exit code ${exitCode}` : signal ? `ended by ${signal}` : 'ended without an exit code'
  return { reason: exitCodes === undefined ? was : `expect.exitCodes: ${was}, not ${exitCodes.join(' or ')}` }
}

function textBreach({ text }: EndFacts, { textIncludes, textMatches }: Expectation): Breach | null {
  const judged = (text ?? '').slice(0, judgedCharactersMax)
  const what = text === undefined ? 'there is no text' : 'the text is something else'
  if (textIncludes !== undefined && !judged.includes(textIncludes)) {
    return { reason: `expect.textIncludes: ${shownJson(textIncludes)} is missing: ${what}` }
  }
  if (textMatches !== undefined && !(text !== undefined && patternMatches(textMatches, judged))) {
    return { reason: `expect.textMatches: nothing matches ${abbreviated(`/${textMatches}/`)}: ${what}` }
  }
  return null
}

function jsonBreach(facts: EndFacts, json: Expectation['json']): Breach | null {
  const rules = Object.entries(json ?? {})
  if (rules.length === 0) return null
  const answer = answeredJson(facts)
  if (answer === null) return { reason: 'expect.json: the answer is not JSON' }
  for (const [written, expected] of rules) {
    const path = parseJsonPath(written)
    const difference = path === null ? 'is not a path' : differenceAt(answer.value, path, expected)
    if (difference !== null) return { reason: `expect.json: ${abbreviated(written)} ${difference}` }
  }
  return null
}

function differenceAt(answer: unknown, path: JsonPath, expected: unknown): string | null {
  const found = atJsonPath(answer, path)
  if ('value' in found) {
    return isSameJson(found.value, expected) ? null : `is ${shownJson(found.value)}, not ${shownJson(expected)}`
  }
  const { value: there } = atJsonPath(answer, found.until) as { value: unknown }
  const where = found.until.length === 0 ? 'the answer' : abbreviated(formatJsonPath(found.until))
  return `is missing: ${where} is ${shownJson(there)}`
}

/**
 * The answer as JSON, whatever a handler returned: a date is its text, and a value that JSON cannot express counts as none. Text
 * that parses as JSON counts as JSON, because many programs print JSON without declaring it.
 */
export function answeredJson({ json, text }: EndFacts): { readonly value: unknown } | null {
  try {
    const written = json === undefined ? text : JSON.stringify(json)
    const value: unknown = written === undefined ? undefined : JSON.parse(written)
    // Null too where the answer is nested too deep for any path to reach a difference.
    return jsonProblem(value) === null ? { value } : null
  } catch {
    return null
  }
}

export interface ExpectationProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

type Check = (value: unknown) => { readonly problem: string; readonly at?: string; readonly expected?: string } | null

const checks: Readonly<Record<keyof AnswerRules, { readonly expected: string; readonly check: Check }>> = {
  statuses: {
    expected: 'a list of statuses from 100 to 599, as numbers or as classes such as 2xx',
    check: (value) => listProblem(value, isStatusRule),
  },
  exitCodes: {
    expected: 'a list of exit codes from 0 to 255',
    check: (value) => listProblem(value, (code) => isInteger(code, 0, 255)),
  },
  textIncludes: {
    expected: `a text of 1 to ${textIncludesLengthMax} characters`,
    check: (value) =>
      typeof value === 'string' && value !== '' && value.length <= textIncludesLengthMax
        ? null
        : { problem: isClause(value) },
  },
  textMatches: { expected: patternExpected, check: matchProblem },
  json: { expected: 'an object with a path for each name', check: jsonRuleProblem },
}

/** Fields that apply only to targets that end with this fact. */
const needed: Readonly<Record<string, EndFact>> = { statuses: 'status', exitCodes: 'exitCode' }

/** What an expectation must know about the kind of target. */
export interface ExpectedKind {
  readonly name: string
  /** The facts of its end, besides text and JSON. */
  readonly gives?: readonly EndFact[]
}

/** The names of the rules that can apply to these kinds of targets. */
export function expectationNames(kinds: readonly ExpectedKind[]): string[] {
  const given = new Set(kinds.flatMap(({ gives = [] }) => gives))
  return Object.keys(checks).filter((name) => needed[name] === undefined || given.has(needed[name]))
}

/** All problems of an expectation, so that a door can refuse it whole. Empty: valid. */
export function expectationProblems(expect: unknown, kind?: ExpectedKind): ExpectationProblem[] {
  if (!isRecord(expect)) return [{ field: 'expect', problem: isClause(expect), expected: 'an object' }]
  const { noop, usage, anomaly, ...rules } = expect
  return [
    ...ruleProblems(rules, kind, 'expect'),
    ...(noop === undefined ? [] : noopProblems(noop, kind)),
    ...(usage === undefined ? [] : usageRuleProblems(usage, 'expect.usage')),
    ...(anomaly === undefined ? [] : anomalyProblems(anomaly)),
  ]
}

function anomalyProblems(anomaly: unknown): ExpectationProblem[] {
  const [min, max] = anomalyRange
  if (typeof anomaly === 'number' && anomaly >= min && anomaly <= max) return []
  const expected = `a number from ${min} to ${max}: how many times the usual value`
  return [{ field: 'expect.anomaly', problem: isClause(anomaly), expected }]
}

/** Without a rule every answer would count as empty. */
function noopProblems(noop: unknown, kind: ExpectedKind | undefined): ExpectationProblem[] {
  const field = 'expect.noop'
  if (!isRecord(noop)) return [{ field, problem: isClause(noop), expected: 'an object' }]
  if (Object.keys(noop).length === 0) return [{ field, problem: 'is empty', expected: 'at least one rule' }]
  return ruleProblems(noop, kind, field)
}

function ruleProblems(
  rules: Readonly<Record<string, unknown>>,
  kind: ExpectedKind | undefined,
  field: string,
): ExpectationProblem[] {
  const names = kind === undefined ? Object.keys(checks) : expectationNames([kind])
  return Object.entries(rules).flatMap(([name, value]) => {
    const known = field === 'expect' ? [...names, 'noop', 'usage', 'anomaly'] : names
    return value === undefined ? [] : (fieldProblem([field, name], value, { kind, names, known }) ?? [])
  })
}

interface RuleContext {
  readonly kind: ExpectedKind | undefined
  /** The rules that apply to these kinds. */
  readonly names: readonly string[]
  /** The names that a refusal suggests. */
  readonly known: readonly string[]
}

function fieldProblem(
  [inside, name]: readonly [string, string],
  value: unknown,
  { kind, names, known }: RuleContext,
): ExpectationProblem | null {
  const field = `${inside}.${name}`
  if (!names.includes(name)) {
    const problem = Object.hasOwn(checks, name)
      ? `does not apply to a target of the kind ${kind?.name}`
      : 'is not known'
    return { field, problem, expected: `one of ${known.join(', ')}` }
  }
  const { check, expected } = checks[name as keyof AnswerRules]
  const found = check(value)
  if (found === null) return null
  return { field: `${field}${found.at ?? ''}`, problem: found.problem, expected: found.expected ?? expected }
}

function listProblem(value: unknown, fits: (item: unknown) => boolean): ReturnType<Check> {
  if (!Array.isArray(value) || value.length === 0)
    return { problem: Array.isArray(value) ? 'is empty' : isClause(value) }
  const index = value.findIndex((item) => !fits(item))
  return index === -1 ? null : { at: `[${index}]`, problem: isClause(value[index]) }
}

function isStatusRule(value: unknown): boolean {
  return typeof value === 'string' ? /^[1-5]xx$/.test(value) : isInteger(value, 100, 599)
}

function matchProblem(value: unknown): ReturnType<Check> {
  const problem = typeof value === 'string' && value !== '' ? patternProblem(value) : isClause(value)
  return problem === null ? null : { problem: reasonText(problem) }
}

function jsonRuleProblem(value: unknown): ReturnType<Check> {
  if (!isRecord(value)) return { problem: isClause(value) }
  const rules = Object.entries(value)
  if (rules.length === 0) return { problem: 'is empty' }
  for (const [written, expected] of rules) {
    const at = `[${JSON.stringify(abbreviated(written))}]`
    if (parseJsonPath(written) === null) return { at, problem: 'is not a path', expected: jsonPathExpected }
    const found = jsonProblem(expected)
    if (found !== null) return { at: at + found.path, problem: found.problem, expected: plainData }
  }
  return null
}

function isInteger(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}
