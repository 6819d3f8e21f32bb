import { DurationError, parseDuration } from './duration.ts'
import { jsonPathExpected, parseJsonPath } from './json/json-path.ts'
import { isClause, shownJson } from './json/json-shown.ts'
import {
  type Found,
  type MatchProblem,
  matchProblems,
  type Operator,
  type Operators,
  operators,
  whatIs,
} from './json/matcher.ts'
import { isRecord } from './json/record.ts'
import { steeredEveryMsMin, steeredTtlMsMax, ttlMsMin } from './schedule/hint-bounds.ts'

/** A number, or where one stands in the answer. */
export type Threshold = number | { readonly field: string }

/** When a rule asks for a single run: at once, after a delay, or at an instant in the answer. */
export type RuleAt = 'now' | `+${string}` | { readonly field: string; readonly plusMinutes?: Threshold | undefined }

/** What a rule does: exactly one of these. */
export interface RuleThen {
  readonly everyMs?: number | undefined
  readonly at?: RuleAt | undefined
  readonly pauseMs?: number | undefined
  readonly clear?: true | undefined
  readonly ttlMs?: number | undefined
}

/**
 * A condition on the answer of a run, and the hint that it gives. A person wrote the rule, so it acts at every level of
 * autonomy.
 */
export interface Rule {
  readonly name: string
  readonly when: Readonly<Record<string, unknown>>
  /** How many runs in a row must meet the condition. Default: 1. */
  readonly runs?: number | undefined
  /** The schedule of the same group whose runs are judged instead of its own. */
  readonly sibling?: string | undefined
  readonly then: RuleThen
}

export const rulesMax = 20
export const runsMax = 10
/** More values to compare than these would not fit in the memory of a schedule. */
export const changedMax = 20
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,39}$/u
/**
 * The largest range for authors that are not persons. A rule beyond it would be clamped at every run, so it is refused when it is written.
 */
export const ttlMsMax = steeredTtlMsMax
const pauseMsMin = 1_000

const thresholdExpected = 'a number, or { "field": "…" } for one in the same answer'

/** A threshold: a number, or a path to a number in the same answer. */
function bound(fits: (value: number, limit: number) => boolean, word: string): Operator {
  return {
    expected: thresholdExpected,
    problem: thresholdProblem,
    difference(found, given, { at }) {
      const limit = isRecord(given) ? at(String(given.field))?.value : given
      if (typeof limit !== 'number')
        return `finds no number to compare with at ${shownJson((given as { field: unknown }).field)}`
      if (typeof found?.value !== 'number') return `${whatIs(found)}, which is not a number`
      return fits(found.value, limit) ? null : `${whatIs(found)}, not ${word} ${limit}`
    },
  }
}

function thresholdProblem(given: unknown): ReturnType<Operator['problem']> {
  if (typeof given === 'number' && Number.isFinite(given)) return null
  if (!isRecord(given)) return { problem: isClause(given) }
  const { field, ...rest } = given
  const [stray] = Object.keys(rest)
  if (stray !== undefined) return { problem: `has ${JSON.stringify(stray)}` }
  if (typeof field === 'string' && isStrayFact(field)) {
    return { at: '.field', problem: `is ${field}, which no end of a run has`, expected: factExpected }
  }
  return typeof field === 'string' && parseJsonPath(field) !== null
    ? null
    : { at: '.field', problem: field === undefined ? 'is missing' : 'is not a path', expected: jsonPathExpected }
}

/** Rules have the operators of routines, and can also compare numbers, and values with those of the previous run. */
export const ruleOperators: Operators = {
  ...operators,
  above: bound((value, limit) => value > limit, 'above'),
  below: bound((value, limit) => value < limit, 'below'),
  changed: {
    expected: 'true or false',
    problem: (given) => (typeof given === 'boolean' ? null : { problem: isClause(given) }),
    difference(found, given, { hasChanged, written }) {
      const isOther = hasChanged?.(written)
      if (isOther === undefined) return `${whatIs(found)}, and there is no earlier value to compare with`
      return isOther === given ? null : `${whatIs(found)}, ${isOther ? 'which has changed' : 'as before'}`
    },
  },
}

/** The facts of a run's end that a path may name; every other path leads into the answer. */
export const endFacts = ['$status', '$failures', '$durationMs'] as const

const factExpected = `${endFacts.join(', ')}; a field of the answer whose name begins with $ is written ["$name"]`

/** A path that names a fact which no end has: it would never fit. */
function isStrayFact(path: string): boolean {
  return path.startsWith('$') && !endFacts.some((fact) => fact === path)
}

type Problems = MatchProblem[]

/** Reads rules as people write them, durations with units. Everything that is wrong is in `problems`. */
export function readRules(given: unknown, field: string, problems: Problems): Rule[] {
  if (!Array.isArray(given)) {
    problems.push({ field, problem: isClause(given), expected: `a list of at most ${rulesMax} rules` })
    return []
  }
  if (given.length > rulesMax) {
    problems.push({ field, problem: `has ${given.length} rules`, expected: `at most ${rulesMax}` })
  }
  const rules = given.slice(0, rulesMax).map((rule, index) => readRule(rule, `${field}[${index}]`, problems))
  const names = rules.map(({ name }) => name)
  for (const [index, name] of names.entries()) {
    if (name === '' || names.indexOf(name) === index) continue
    const problem = `is ${JSON.stringify(name)}, the name of ${field}[${names.indexOf(name)}] too`
    problems.push({ field: `${field}[${index}].name`, problem, expected: 'a name of its own' })
  }
  const compared = rules.reduce((sum, { when }) => sum + changedPaths(when).length, 0)
  if (compared > changedMax) {
    problems.push({ field, problem: `compare ${compared} values by changed`, expected: `at most ${changedMax}` })
  }
  return rules
}

/** The paths of a condition whose values are compared with those of the previous run. */
export function changedPaths(when: Rule['when']): string[] {
  return Object.keys(when).filter((path) => isRecord(when[path]) && Object.hasOwn(when[path], 'changed'))
}

function readRule(given: unknown, at: string, problems: Problems): Rule {
  // biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
  const nothing = { name: '', when: {}, then: {} }
  if (!isRecord(given)) {
    problems.push({ field: at, problem: isClause(given), expected: 'an object with name, when and then' })
    return nothing
  }
  const { name, when, runs, sibling, then, ...rest } = given
  const label = typeof name === 'string' && name !== '' ? `${at} (${name})` : at
  const wrong = (field: string, problem: string, expected: string) =>
    void problems.push({ field: `${at}.${field}`, problem, expected })
  for (const stray of Object.keys(rest)) wrong(stray, 'is not a field of a rule', 'name, when, runs, sibling, then')
  if (typeof name !== 'string' || !namePattern.test(name)) {
    wrong('name', name === undefined ? 'is missing' : isClause(name), 'at most 40 letters, digits, ., - and _')
  }
  noteWhen(when, `${label}.when`, problems)
  if (runs !== undefined && !(Number.isInteger(runs) && (runs as number) >= 1 && (runs as number) <= runsMax)) {
    wrong('runs', isClause(runs), `an integer from 1 to ${runsMax}`)
  }
  if (sibling !== undefined && (typeof sibling !== 'string' || sibling === '')) {
    wrong('sibling', isClause(sibling), 'the name of a schedule of the same group')
  }
  return {
    name: typeof name === 'string' && namePattern.test(name) ? name : '',
    when: isRecord(when) ? when : {},
    ...(typeof runs === 'number' && runs > 1 && { runs }),
    ...(typeof sibling === 'string' && { sibling }),
    // biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
    then: readThen(then, `${label}.then`, problems),
  }
}

const whenExpected = 'a condition, such as {"queue_depth":{"above":200}}'

function noteWhen(when: unknown, field: string, problems: Problems): void {
  if (when === undefined || (isRecord(when) && Object.keys(when).length === 0)) {
    problems.push({ field, problem: when === undefined ? 'is missing' : 'is empty', expected: whenExpected })
    return
  }
  for (const problem of matchProblems(when, ruleOperators, field)) problems.push(problem)
  for (const path of isRecord(when) ? Object.keys(when).filter(isStrayFact) : []) {
    if (parseJsonPath(path) === null) continue
    const problem = 'is a fact that no end of a run has'
    problems.push({ field: `${field}[${JSON.stringify(path)}]`, problem, expected: factExpected })
  }
}

/** The rules, by their indexes, that have no effect on a schedule that runs only once. */
export function unfitOnce(rules: readonly Rule[]): number[] {
  return rules.flatMap(({ then }, index) => (then.everyMs === undefined ? [] : [index]))
}

const effects = ['every', 'at', 'pause', 'clear'] as const
const thenExpected = 'exactly one of every, at, pause, clear'

function readThen(given: unknown, at: string, problems: Problems): RuleThen {
  if (!isRecord(given)) {
    problems.push({ field: at, problem: given === undefined ? 'is missing' : isClause(given), expected: thenExpected })
    return {}
  }
  const { at: instant, clear, every, everyMs, pause, pauseMs, ttl, ttlMs, ...rest } = given
  for (const stray of Object.keys(rest)) {
    problems.push({
      field: `${at}.${stray}`,
      problem: 'is not an effect of a rule',
      expected: `${thenExpected}; and ttl`,
    })
  }
  const named = effects.filter((effect) => given[effect] !== undefined || given[`${effect}Ms`] !== undefined)
  if (named.length !== 1) {
    const problem = named.length === 0 ? 'has no effect' : `has ${named.join(' and ')}`
    problems.push({ field: at, problem, expected: thenExpected })
  }
  const duration = (name: string, from: number, to: number) => readDuration({ given, at, name, from, to }, problems)
  if (instant !== undefined) noteAt(instant, `${at}.at`, problems)
  if (clear !== undefined && clear !== true) {
    problems.push({ field: `${at}.clear`, problem: isClause(clear), expected: 'true' })
  }
  const ttlField = duration('ttl', ttlMsMin, ttlMsMax)
  if (ttlField !== undefined && (named.includes('pause') || named.includes('clear'))) {
    problems.push({ field: `${at}.ttl`, problem: `means nothing beside ${named[0]}`, expected: 'leave it out' })
  }
  return Object.fromEntries(
    Object.entries({
      everyMs: duration('every', steeredEveryMsMin, ttlMsMax),
      at: instant,
      pauseMs: duration('pause', pauseMsMin, ttlMsMax),
      clear,
      ttlMs: ttlField,
    }).filter(([, value]) => value !== undefined),
  )
}

interface Lasting {
  readonly given: Readonly<Record<string, unknown>>
  readonly at: string
  readonly name: string
  readonly from: number
  readonly to: number
}

function readDuration({ given, at, name, from, to }: Lasting, problems: Problems): number | undefined {
  const [text, ms] = [given[name], given[`${name}Ms`]]
  if (text === undefined && ms === undefined) return undefined
  const field = `${at}.${text === undefined ? `${name}Ms` : name}`
  const expected = `a duration from ${from / 1_000}s to 24h, such as 30s, 15m or 2h`
  if (text !== undefined && ms !== undefined) {
    problems.push({ field, problem: `is given beside \`${name}Ms\``, expected: 'only one of the two' })
    return undefined
  }
  const read = text === undefined ? ms : durationIn(text)
  if (typeof read === 'number' && Number.isInteger(read) && read >= from && read <= to) return read
  problems.push({ field, problem: isClause(text ?? ms), expected })
  return undefined
}

/** The ms of a duration; `null` where the text is not a duration. */
export function durationIn(text: unknown): number | null {
  try {
    return typeof text === 'string' ? parseDuration(text) : null
  } catch (error) {
    if (error instanceof DurationError) return null
    throw error
  }
}

function noteAt(instant: unknown, field: string, problems: Problems): void {
  const expected =
    'now, a duration after it such as +5m, or { "field": "…", "plusMinutes": … } for an instant in the answer'
  if (typeof instant === 'string') {
    const isLater = instant.startsWith('+') && (durationIn(instant.slice(1)) ?? Number.POSITIVE_INFINITY) <= ttlMsMax
    if (instant !== 'now' && !isLater) problems.push({ field, problem: isClause(instant), expected })
    return
  }
  if (!isRecord(instant)) return void problems.push({ field, problem: isClause(instant), expected })
  const { field: path, plusMinutes, ...rest } = instant
  for (const stray of Object.keys(rest))
    problems.push({ field: `${field}.${stray}`, problem: 'is not known', expected })
  if (typeof path !== 'string' || parseJsonPath(path) === null) {
    problems.push({
      field: `${field}.field`,
      problem: path === undefined ? 'is missing' : 'is not a path',
      expected: jsonPathExpected,
    })
  }
  const found = plusMinutes === undefined ? null : thresholdProblem(plusMinutes)
  if (found !== null) {
    const where = `${field}.plusMinutes${found.at ?? ''}`
    problems.push({ field: where, problem: found.problem, expected: found.expected ?? thresholdExpected })
  }
}

/** The number that a threshold names in an answer. */
export function thresholdIn(threshold: Threshold, at: (path: string) => Found): number | null {
  const value = typeof threshold === 'number' ? threshold : at(threshold.field)?.value
  return typeof value === 'number' ? value : null
}
