import { cron } from '../cron/cron.ts'
import { CronError } from '../cron/cron-error.ts'
import type { Problem } from '../problem.ts'
import { opening } from './opening.ts'

/** What is wrong with a cron expression whose matching minutes are open. */
export function minutesProblems(field: string, expression: string | undefined): Problem[] {
  if (expression === undefined) return []
  try {
    const fields = expression.trim().split(/\s+/).length
    if (cron(expression, 'UTC') && fields <= 5) return []
    return [
      { field, problem: `has ${fields} fields`, expected: 'a cron of five fields, whose matching minutes are open' },
    ]
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const problem = `is wrong at character ${error.position + 1}: ${error.reason}`
    return [{ field, problem, expected: error.expected }]
  }
}

/** What is wrong with a window: with its expression, or that it does not open. */
export function windowProblems(
  window: string | undefined,
  { zone, now }: { readonly zone: string; readonly now: number },
): Problem[] {
  const problems = minutesProblems('window', window)
  if (window === undefined || problems.length > 0) return problems
  const { open, changesAt } = opening({ at: now, calendar: { zone, cron: window } })
  if (open || changesAt !== null) return []
  const expected = 'a cron that matches some minute, such as * 8-19 * * 1-5'
  return [{ field: 'window', problem: 'does not open within the next 400 days', expected }]
}
