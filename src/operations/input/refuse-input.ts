import { bounded } from '../../core/bounded-text.ts'
import { BelfryError } from '../../core/error.ts'
import type { Problem } from '../../core/problem.ts'

export { isShown, type Problem, quoted } from '../../core/problem.ts'

/** Bad input is refused whole, with everything that is wrong with it. */
export function refuse(subject: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw refusal(subject, problems)
}

/** Whoever sends a megabyte of what is wrong is not sent a megabyte, or more, of it back. */
const fieldLengthMax = 200
const clauseLengthMax = 1_000
/** How many problems a refusal tells; the others are counted. */
export const problemsMax = 100

function told(problems: readonly Problem[]): Problem[] {
  const first = problems.slice(0, problemsMax).map(({ field, problem, expected }) => ({
    field: bounded(field, fieldLengthMax),
    problem: bounded(problem, clauseLengthMax),
    expected: bounded(expected, clauseLengthMax),
  }))
  const more = problems.length - first.length
  if (more === 0) return first
  return [...first, { field: '…', problem: `and ${more} more`, expected: 'these mended first' }]
}

/** What could not be read is told, and not as missing besides. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  const wrong = new Set(problems.filter(({ problem }) => problem !== 'is missing').map(({ field }) => twinless(field)))
  return problems.filter(({ field, problem }) => problem !== 'is missing' || !wrong.has(twinless(field)))
}

function twinless(field: string): string {
  return field.replace(/Ms$/, '')
}

export function refusal(subject: string, found: readonly Problem[], cause?: unknown): BelfryError {
  const problems = told(distinct(found))
  const said = problems.map(({ field, problem, expected }) => `${field} ${problem} (expected: ${expected})`).join('; ')
  return new BelfryError('invalid', `${subject} is refused: ${said}.`, { details: { subject, problems }, cause })
}

/** What the store found wrong, where it was the last to look: at sizes, and at what changed since we looked. */
export function storeProblems(error: unknown): Problem[] | null {
  if (!(error instanceof BelfryError) || error.code !== 'invalid') return null
  const { problems } = error.details ?? {}
  return Array.isArray(problems) ? (problems as Problem[]) : null
}

/** Lets a step of the store speak of the caller's fields, as the caller wrote them. */
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
