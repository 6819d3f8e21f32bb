import { isSecretName, secretNameExpected } from '../core/secret-name.ts'
import { isSecretReference } from './secret.ts'

export interface TargetProblem {
  /** Its path inside the target: `command[2]`, `http.headers["x-id"]`. */
  readonly field: string
  /** The problem, as a clause after the field's name. */
  readonly problem: string
  /** The correction. */
  readonly expected: string
}

export function problemAt(field: string, problem: string, expected: string): TargetProblem {
  return { field, problem, expected }
}

const itemProblemsMax = 100

/** The problems of the items of a list, up to a limit; the remaining items are counted. */
export function problemsAmong(
  items: readonly unknown[],
  field: string,
  problemsOf: (item: unknown, index: number) => TargetProblem[],
): TargetProblem[] {
  const problems: TargetProblem[] = []
  for (const [index, item] of items.entries()) {
    problems.push(...problemsOf(item, index))
    const left = items.length - index - 1
    if (problems.length < itemProblemsMax || left === 0) continue
    const said = `has ${left} more after ${field}[${index}], which were not read`
    return [problemAt(field, said, 'those before them corrected first'), ...problems]
  }
  return problems
}

/** The problems of the name in `{ secret: … }`. The name is never shown: it may be the secret itself, in the wrong place. */
export function secretProblems(name: unknown, field: string): TargetProblem[] {
  return isSecretName(name) ? [] : [problemAt(`${field}.secret`, 'is not the name of a secret', secretNameExpected)]
}

export function unicodeProblems(text: string, field: string): TargetProblem[] {
  return text.isWellFormed() ? [] : [problemAt(field, 'has half of a surrogate pair', 'well-formed Unicode')]
}

const shownLengthMax = 60

/** A value after the word "is", shortened. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isSecretReference(value)) return 'a secret'
  if (typeof value === 'object') return 'an object'
  const text = String(value)
  const cut = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax).toWellFormed()}…` : text
  return `the ${typeof value} ${cut}`
}
