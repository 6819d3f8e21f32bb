import { quoted } from '../cron/cron-error.ts'

export interface CalendarFault {
  /** Index of the first wrong character. */
  readonly position: number
  /** What is wrong, as a clause without a full stop. */
  readonly problem: string
  /** The correction, as a clause. */
  readonly expected: string
}

/** A text of a calendar that cannot be used: the problem, its position, and the correction. */
export class CalendarError extends Error {
  override readonly name = 'CalendarError'
  readonly input: string
  readonly position: number
  readonly problem: string
  readonly expected: string

  constructor(input: string, { position, problem, expected }: CalendarFault) {
    super(`${quoted(input)} is wrong at position ${position}: ${problem}. Expected: ${expected}.`)
    this.input = input
    this.position = position
    this.problem = problem
    this.expected = expected
  }
}
