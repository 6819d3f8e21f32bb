import { bounded } from '../../core/bounded-text.ts'
import { BelfryError } from '../../core/error.ts'
import type { Problem } from '../../core/problem.ts'

export { isShown, type Problem, quoted } from '../../core/problem.ts'

/** Bad input is refused whole, with every problem. */
export function refuse(subject: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw refusal(subject, problems)
}

/** The size limit of a refusal: a megabyte of bad input must not be echoed back. */
const fieldLengthMax = 200
const clauseLengthMax = 1_000
/** How many problems a refusal lists; the rest are counted. */
export const problemsMax = 100

function told(problems: readonly Problem[]): Problem[] {
  const first = problems.slice(0, problemsMax).map(({ field, problem, expected }) => ({
    field: bounded(field, fieldLengthMax),
    problem: bounded(problem, clauseLengthMax),
    expected: bounded(expected, clauseLengthMax),
  }))
  const more = problems.length - first.length
  if (more === 0) return first
  return [...first, { field: '…', problem: `and ${more} more`, expected: 'these to be corrected first' }]
}

/** A field that could not be read is not also reported as missing, and a missing one is reported once. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  const wrong = new Set(problems.filter(({ problem }) => problem !== 'is missing').map(({ field }) => twinless(field)))
  const firstMissing = new Map<string, Problem>()
  for (const one of problems)
    if (one.problem === 'is missing' && !firstMissing.has(one.field)) firstMissing.set(one.field, one)
  return problems.filter((one) => {
    return one.problem !== 'is missing' || (firstMissing.get(one.field) === one && !wrong.has(twinless(one.field)))
  })
}

function twinless(field: string): string {
  return field.replace(/Ms$/, '')
}

export function refusal(subject: string, found: readonly Problem[], cause?: unknown): BelfryError {
  const problems = told(distinct(found))
  const said = problems.map(({ field, problem, expected }) => `${field} ${problem} (expected: ${expected})`).join('; ')
  return new BelfryError('invalid', `${subject} is refused: ${said}.`, { details: { subject, problems }, cause })
}

/** The problems that the store found: the store checks last, for sizes and for changes since our read. */
export function storeProblems(error: unknown): Problem[] | null {
  if (!(error instanceof BelfryError) || error.code !== 'invalid') return null
  const { problems } = error.details ?? {}
  return Array.isArray(problems) ? (problems as Problem[]) : null
}

/** Words the store's problems with the fields as the caller wrote them. */
export async function inWordsOf<Answer>(
  subject: string,
  translate: (problem: Problem) => Problem,
  step: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await step()
  } catch (error) {
    const problems = storeProblems(error)
    throw problems === null ? error : refusal(subject, problems.map(translate), error)
  }
}
