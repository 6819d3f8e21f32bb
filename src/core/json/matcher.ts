import { reasonText } from '../reason-text.ts'
import { jsonProblem, plainData } from './json.ts'
import { atJsonPath, isSameJson, jsonPathExpected, parseJsonPath } from './json-path.ts'
import { abbreviated, isClause, shownJson } from './json-shown.ts'
import { patternExpected, patternMatches, patternProblem } from './pattern.ts'
import { isRecord } from './record.ts'

/** The expected values of an event, by path. */
export type Match = Readonly<Record<string, unknown>>

/** Which events match. Fields that are not given do not matter. */
export interface EventRules {
  readonly type?: readonly string[] | undefined
  readonly match?: Match | undefined
}

export interface MatchInput {
  readonly rules: EventRules
  readonly event: { readonly type: string | null; readonly payload: unknown }
}

export type Matching = { readonly matched: true } | { readonly matched: false; readonly reason: string }

const rulesMax = 50
const choicesMax = 1_000
/** How many characters of a text a pattern reads: many rules over long texts would block the process. */
const judgedCharactersMax = 10_000

/** Whether an event matches; if not, the reason names the first rule that fails. */
export function matchEvent({ rules, event }: MatchInput): Matching {
  const { payload } = event
  const reason =
    typeDifference(rules.type, event.type) ??
    matchDifference(rules.match ?? {}, { operators, at: (path) => valueAt(payload, path) })
  return reason === null ? { matched: true } : { matched: false, reason: reasonText(reason) }
}

function typeDifference(wanted: EventRules['type'], type: string | null): string | null {
  if (wanted === undefined || (type !== null && wanted.includes(type))) return null
  const expected = wanted.map(shownJson).join(' or ')
  return type === null
    ? `the type is missing; it must be ${expected}`
    : `the type is ${shownJson(type)}, not ${expected}`
}

/** What a match is compared with. */
export interface MatchedValues {
  readonly operators: Operators
  /** The value at a path, given as text. */
  at(written: string): Found
  /** Whether the value at a path differs from the last one; `undefined` where there is no last one. */
  hasChanged?(written: string): boolean | undefined
}

/** The first path whose value does not match, as a clause; `null` when all match. */
export function matchDifference(match: Match, values: MatchedValues): string | null {
  for (const [written, expected] of Object.entries(match)) {
    const difference = differenceOf(written, expected, values)
    if (difference !== null) return `${abbreviated(written)} ${difference}`
  }
  return null
}

/** The value at a path; `null` where there is none, as opposed to a null value. */
export type Found = { readonly value: unknown } | null

/** The value at a path as it is written; nothing where that is no path. */
export function valueAt(value: unknown, written: string): Found {
  const path = parseJsonPath(written)
  const found = path === null ? null : atJsonPath(value, path)
  return found !== null && 'value' in found ? found : null
}

function differenceOf(written: string, expected: unknown, values: MatchedValues): string | null {
  if (parseJsonPath(written) === null) return 'is not a path'
  const [name, given] = isRecord(expected) ? (Object.entries(expected)[0] ?? ['', undefined]) : ['equals', expected]
  const operator = operatorOf(values.operators, name)
  if (operator === null) return `has no operator ${shownJson(name)}`
  return operator.difference(values.at(written), given, { written, ...values })
}

/** A way to compare the value at a path. */
export interface Operator {
  readonly expected: string
  /** The problem with the given rule, as a clause. */
  problem(given: unknown): { readonly problem: string; readonly at?: string; readonly expected?: string } | null
  /** How the value differs, as a clause after the path; `null` when the rule holds. */
  difference(found: Found, given: unknown, values: MatchedValues & { readonly written: string }): string | null
}

export type Operators = Readonly<Record<string, Operator>>

/** The operators of every match. */
export const operators: Operators = {
  equals: {
    expected: plainData,
    problem: unkept,
    difference: (found, given) =>
      found !== null && isSameJson(found.value, given) ? null : `${whatIs(found)}, not ${shownJson(given)}`,
  },
  in: {
    expected: `a list of 1 to ${choicesMax} values`,
    problem(given) {
      if (!Array.isArray(given)) return { problem: isClause(given) }
      if (given.length === 0) return { problem: 'is empty' }
      return given.length > choicesMax ? { problem: `has ${given.length} values` } : unkept(given)
    },
    difference(found, given) {
      const isThere = found !== null && (given as readonly unknown[]).some((one) => isSameJson(one, found.value))
      return isThere ? null : `${whatIs(found)}, which is not one of the listed values`
    },
  },
  matches: {
    expected: patternExpected,
    problem(given) {
      const problem = typeof given === 'string' && given !== '' ? patternProblem(given) : isClause(given)
      return problem === null ? null : { problem: reasonText(problem) }
    },
    difference(found, given) {
      const text = typeof found?.value === 'string' ? found.value.slice(0, judgedCharactersMax) : null
      if (text !== null && patternMatches(String(given), text)) return null
      return `${whatIs(found)}, which does not match ${abbreviated(`/${given}/`)}`
    },
  },
  exists: {
    expected: 'true or false',
    problem: (given) => (typeof given === 'boolean' ? null : { problem: isClause(given) }),
    difference: (found, given) => ((found !== null) === given ? null : found === null ? 'is missing' : 'is there'),
  },
}

function operatorOf(known: Operators, name: string): Operator | null {
  return Object.hasOwn(known, name) ? (known[name] as Operator) : null
}

function unkept(given: unknown): ReturnType<Operator['problem']> {
  const found = jsonProblem(given)
  return found === null ? null : { at: found.path, problem: found.problem, expected: plainData }
}

export function whatIs(found: Found): string {
  return found === null ? 'is missing' : `is ${shownJson(found.value)}`
}

export interface MatchProblem {
  readonly field: string
  /** A clause after the field's name. */
  readonly problem: string
  readonly expected: string
}

/** All problems of a match, so that a door can refuse it whole. Empty: valid. */
export function matchProblems(match: unknown, known: Operators = operators, field = 'match'): MatchProblem[] {
  const expected = 'an object with a path for each name, such as { "ref": "refs/heads/main" }'
  if (!isRecord(match)) return [{ field, problem: isClause(match), expected }]
  const rules = Object.entries(match)
  if (rules.length === 0) {
    return [{ field, problem: 'is empty', expected: 'at least one path; leave out the match to take every event' }]
  }
  if (rules.length > rulesMax) {
    return [{ field, problem: `has ${rules.length} paths`, expected: `at most ${rulesMax}` }]
  }
  return rules.flatMap(([written, rule]) =>
    ruleProblem({ field: `${field}[${JSON.stringify(abbreviated(written))}]`, written, rule, known }),
  )
}

interface Written {
  readonly field: string
  readonly written: string
  readonly rule: unknown
  readonly known: Operators
}

function ruleProblem({ field, written, rule, known }: Written): MatchProblem[] {
  if (parseJsonPath(written) === null) return [{ field, problem: 'is not a path', expected: jsonPathExpected }]
  const names = isRecord(rule) ? Object.keys(rule) : ['equals']
  const [name = ''] = names
  const operator = operatorOf(known, name)
  if (operator === null || names.length !== 1) {
    const expected = `a value that must be there, or an object with exactly one of ${Object.keys(known).join(', ')}`
    return [{ field, ...notOneOperator(names, known), expected }]
  }
  const [at, given] = isRecord(rule) ? [`.${name}`, rule[name]] : ['', rule]
  const found = operator.problem(given)
  if (found === null) return []
  return [
    { field: field + at + (found.at ?? ''), problem: found.problem, expected: found.expected ?? operator.expected },
  ]
}

function notOneOperator(names: readonly string[], known: Operators): { readonly problem: string } {
  if (names.length === 0) return { problem: 'is an empty object' }
  const unknown = names.find((name) => operatorOf(known, name) === null)
  if (unknown === undefined) return { problem: `has ${names.join(' and ')}` }
  return {
    problem: `has ${JSON.stringify(abbreviated(unknown))}, which is not an operator; compare an object with equals`,
  }
}
