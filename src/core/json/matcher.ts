import { reasonText } from '../reason-text.ts'
import { jsonProblem, plainData } from './json.ts'
import { atJsonPath, isSameJson, jsonPathExpected, parseJsonPath } from './json-path.ts'
import { abbreviated, isClause, shownJson } from './json-shown.ts'
import { patternExpected, patternMatches, patternProblem } from './pattern.ts'
import { isRecord } from './record.ts'

/** What an event must say: at each of these paths, this. */
export type Match = Readonly<Record<string, unknown>>

/** Which events a routine takes. What is not given does not matter. */
export interface EventRules {
  /** The types that it takes. */
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
/** A pattern looks at this much of a text: many rules over long texts would keep everything else waiting. */
const judgedCharactersMax = 10_000

/** Decides whether an event is one that a routine takes; if not, the reason names the first rule that it breaks. */
export function matchEvent({ rules, event }: MatchInput): Matching {
  const reason = typeDifference(rules.type, event.type) ?? payloadDifference(rules.match ?? {}, event.payload)
  return reason === null ? { matched: true } : { matched: false, reason: reasonText(reason) }
}

function typeDifference(wanted: EventRules['type'], type: string | null): string | null {
  if (wanted === undefined || (type !== null && wanted.includes(type))) return null
  const expected = wanted.map(shownJson).join(' or ')
  return type === null
    ? `no type is told, and it must be ${expected}`
    : `the type is ${shownJson(type)}, not ${expected}`
}

function payloadDifference(match: Match, payload: unknown): string | null {
  for (const [written, expected] of Object.entries(match)) {
    const path = parseJsonPath(written)
    const difference = path === null ? 'is no path' : differenceOf(expected, foundAt(payload, path))
    if (difference !== null) return `${abbreviated(written)} ${difference}`
  }
  return null
}

/** What is at a path; `null` where nothing is, which is not the same as a null that is there. */
type Found = { readonly value: unknown } | null

function foundAt(payload: unknown, path: Parameters<typeof atJsonPath>[1]): Found {
  const found = atJsonPath(payload, path)
  return 'value' in found ? found : null
}

function differenceOf(expected: unknown, found: Found): string | null {
  const [name, given] = isRecord(expected) ? (Object.entries(expected)[0] ?? ['', undefined]) : ['equals', expected]
  const operator = operatorOf(name)
  return operator === null ? `has no operator ${shownJson(name)}` : operator.difference(found, given)
}

interface Operator {
  readonly expected: string
  /** What is wrong with what was given, as a clause. */
  problem(given: unknown): { readonly problem: string; readonly at?: string; readonly expected?: string } | null
  /** What is otherwise, as a clause after the path; `null` when the rule holds. */
  difference(found: Found, given: unknown): string | null
}

const operators: Readonly<Record<string, Operator>> = {
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
      return isThere ? null : `${whatIs(found)}, which is none of those that it may be`
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

function operatorOf(name: string): Operator | null {
  return Object.hasOwn(operators, name) ? (operators[name] as Operator) : null
}

function unkept(given: unknown): ReturnType<Operator['problem']> {
  const found = jsonProblem(given)
  return found === null ? null : { at: found.path, problem: found.problem, expected: plainData }
}

function whatIs(found: Found): string {
  return found === null ? 'is missing' : `is ${shownJson(found.value)}`
}

export interface MatchProblem {
  readonly field: string
  /** A clause after the field's name. */
  readonly problem: string
  readonly expected: string
}

const valueExpected = `a value that must be there, or an object with exactly one of ${Object.keys(operators).join(', ')}`

/** Says everything that is wrong with a match, so that a door can refuse it whole. Empty means it is sound. */
export function matchProblems(match: unknown): MatchProblem[] {
  const expected = 'an object with a path for each name, such as { "ref": "refs/heads/main" }'
  if (!isRecord(match)) return [{ field: 'match', problem: isClause(match), expected }]
  const rules = Object.entries(match)
  if (rules.length === 0) {
    return [{ field: 'match', problem: 'is empty', expected: 'a path at least; without a match every event is taken' }]
  }
  if (rules.length > rulesMax) {
    return [{ field: 'match', problem: `has ${rules.length} paths`, expected: `at most ${rulesMax}` }]
  }
  return rules.flatMap(([written, rule]) =>
    ruleProblem(`match[${JSON.stringify(abbreviated(written))}]`, written, rule),
  )
}

function ruleProblem(field: string, written: string, rule: unknown): MatchProblem[] {
  if (parseJsonPath(written) === null) return [{ field, problem: 'is no path', expected: jsonPathExpected }]
  const names = isRecord(rule) ? Object.keys(rule) : ['equals']
  const [name = ''] = names
  const operator = operatorOf(name)
  if (operator === null || names.length !== 1) return [{ field, ...notOneOperator(names), expected: valueExpected }]
  const [at, given] = isRecord(rule) ? [`.${name}`, rule[name]] : ['', rule]
  const found = operator.problem(given)
  if (found === null) return []
  return [
    { field: field + at + (found.at ?? ''), problem: found.problem, expected: found.expected ?? operator.expected },
  ]
}

function notOneOperator(names: readonly string[]): { readonly problem: string } {
  if (names.length === 0) return { problem: 'is an object that says nothing' }
  const unknown = names.find((name) => operatorOf(name) === null)
  if (unknown === undefined) return { problem: `has ${names.join(' and ')}` }
  return { problem: `has ${JSON.stringify(abbreviated(unknown))}, which is no operator; an object is told by equals` }
}
