import { type JsonPath, jsonPathExpected, parseJsonPath } from '../json/json-path.ts'
import { isClause } from '../json/json-shown.ts'
import { patternExpected, patternProblem } from '../json/pattern.ts'

/**
 * A fact of a transcript. In a stream of JSON it stands at paths (`usage.input_tokens`, `content[*].text`) of the lines that have
 * all of these values; in plain text it is the word before a given word, in a line with a given beginning.
 */
export interface ReadRule {
  readonly when?: Readonly<Record<string, Plain | readonly Plain[]>> | undefined
  readonly at?: string | readonly string[] | undefined
  /** A number that the found number includes and that is subtracted from it. */
  readonly minus?: string | undefined
  readonly starts?: string | undefined
  readonly word?: string | undefined
  /** Numbers of several lines are added; by default the last one counts. */
  readonly sum?: true | undefined
  /** Texts of lines in a row are joined: the stream sends them in pieces. */
  readonly join?: true | undefined
  /** For several limits, by name: where the share used and the reset stand. */
  readonly share?: string | undefined
  readonly reset?: string | undefined
  /** What an instant is counted in. */
  readonly unit?: 's' | 'ms' | undefined
}

type Plain = string | number | boolean | null
export type Rules = ReadRule | readonly ReadRule[]

/** The facts that are read from a transcript. */
export const readNames = [
  'session',
  'model',
  'tokensIn',
  'tokensOut',
  'tokensCached',
  'cost',
  'turns',
  'utilisation',
  'window',
  'reset',
  'final',
  'done',
  'say',
  'tools',
  'denials',
] as const
export type ReadName = (typeof readNames)[number]

/** What an exit code or a line of the transcript proves. */
export const proofs = ['setup', 'exhausted', 'error'] as const
export type Proof = (typeof proofs)[number]

/** How the transcript of an agent is read and judged. */
export interface TranscriptProfile {
  /** One JSON value per line, one JSON value in all, or plain text. */
  readonly stream: 'jsonl' | 'json' | 'text'
  readonly read: { readonly [Name in ReadName]?: Rules | undefined }
  readonly verdict?:
    | ({ readonly [Name in Proof]?: Rules | undefined } & {
        /** What exit codes prove. */
        readonly exits?: Readonly<Record<string, Proof>> | undefined
      })
    | undefined
  /** How a provider refuses because of its limit; the value is the instant at which the limit resets. */
  readonly limits?: Rules | undefined
  /** Whether the attempt fails when tools were denied. */
  readonly denials?: 'fail' | 'ignore' | undefined
  /** The price of a million tokens by model, or of every model by `*`, for agents that report no money. */
  readonly prices?: Readonly<Record<string, Price>> | undefined
  readonly currency?: string | undefined
}

export interface Price {
  readonly in: number
  readonly out: number
  readonly cached?: number | undefined
}

/** A path split at its wildcards; each wildcard stands for all values of a list or an object. */
export type Path = readonly JsonPath[]

/** `content[*].text`; `null` where the text is not a path. */
export function parsePath(text: string): Path | null {
  const pieces = text.split('[*]').map((piece, index) => {
    if (piece === '') return []
    return parseJsonPath(index === 0 ? piece : piece.replace(/^\./, ''))
  })
  return text === '' || pieces.includes(null) ? null : (pieces as JsonPath[])
}

export interface ProfileProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

const pathExpected = jsonPathExpected.replace('headers["x-id"]', 'items[*].id')

/** The problems of the paths and rules of a profile; the form of the profile was checked before. */
export function transcriptProblems({ stream, read, verdict = {}, limits }: TranscriptProfile): ProfileProblem[] {
  const { exits: _, ...proven } = verdict
  const named = [
    ...Object.entries(read).map(([name, rules]) => [`read.${name}`, rules] as const),
    ...Object.entries(proven).map(([name, rules]) => [`verdict.${name}`, rules] as const),
    ['limits', limits] as const,
  ]
  const problems = named.flatMap(([field, rules]) =>
    listOf(rules).flatMap((rule, index) =>
      ruleProblems(rule, { field: Array.isArray(rules) ? `${field}[${index}]` : field, stream }),
    ),
  )
  if (stream === 'text' || read.final !== undefined) return problems
  const problem = 'is missing'
  return [...problems, { field: 'read.final', problem, expected: 'the rule that finds the final message' }]
}

interface RulePlace {
  readonly field: string
  readonly stream: TranscriptProfile['stream']
}

function ruleProblems(rule: ReadRule, { field, stream }: RulePlace): ProfileProblem[] {
  const { when = {}, at = [], starts, word, minus, share, reset } = rule
  const paths = [
    ...Object.keys(when).map((path) => [`${field}.when`, path] as const),
    ...[at].flat().map((path) => [`${field}.at`, path] as const),
    ...Object.entries({ minus, share, reset }).flatMap(([name, path]) =>
      path === undefined ? [] : [[`${field}.${name}`, path] as const],
    ),
  ]
  const wrong = paths
    .filter(([, path]) => parsePath(path) === null)
    .map(([where, path]) => ({ field: where, problem: isClause(path), expected: pathExpected }))
  const strays = stream === 'text' ? { when: rule.when, at: rule.at, minus } : { starts, word }
  const stray = Object.entries(strays).find(([, value]) => value !== undefined)
  if (stray === undefined) return wrong
  const expected =
    stream === 'text'
      ? '`starts` and `word`, because the stream is text'
      : '`when` and `at`, because the stream is JSON'
  return [...wrong, { field: `${field}.${stray[0]}`, problem: `does not apply to a ${stream} stream`, expected }]
}

export function listOf(rules: Rules | undefined): readonly ReadRule[] {
  return rules === undefined ? [] : Array.isArray(rules) ? rules : [rules as ReadRule]
}

/** The problems of patterns in a list. */
export function patternProblems(field: string, patterns: readonly string[] = []): ProfileProblem[] {
  return patterns.flatMap((pattern, index) => {
    const problem = patternProblem(pattern)
    return problem === null ? [] : [{ field: `${field}[${index}]`, problem, expected: patternExpected }]
  })
}

/** All values at a path, up to a bound. */
export function valuesAt(value: unknown, path: Path): unknown[] {
  const first = inner(value, path[0] as JsonPath)
  if (first === undefined) return []
  let found: unknown[] = [first]
  for (const piece of path.slice(1)) {
    const all = found.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
    if (all.length > valuesMax) all.length = valuesMax
    found = all.flatMap((each) => inner(each, piece) ?? [])
  }
  return found
}

const valuesMax = 1_000

/** A JSON value never contains undefined. */
function inner(value: unknown, path: JsonPath): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string | number, unknown>)[key]
  }
  return found
}
