/** The part of a cron that is wrong; `expression` is the text as a whole. */
export type CronErrorField =
  | 'expression'
  | 'second'
  | 'minute'
  | 'hour'
  | 'day-of-month'
  | 'month'
  | 'day-of-week'
  | 'zone'

export interface CronFault {
  field: CronErrorField
  /** Index of the first wrong character, counted from 0 in the expression, or in the zone when `field` is `zone`. */
  position: number
  /** What is wrong, as a clause without a full stop. */
  reason: string
  /** The correction, as an imperative sentence without its full stop. */
  suggestion: string
}

const SHOWN_CHARS_MAX = 100

/** A cron expression or zone that cannot be used: the problem, its position, and the correction. */
export class CronError extends Error {
  override readonly name = 'CronError'
  readonly field: CronErrorField
  readonly position: number
  readonly reason: string
  readonly suggestion: string
  /** The whole refused text: the expression, or the zone when `field` is `zone`. */
  readonly input: string

  constructor(input: string, { field, position, reason, suggestion }: CronFault) {
    const subject = field === 'zone' ? 'Time zone' : 'Cron expression'
    const where = field === 'zone' || field === 'expression' ? '' : ` in the ${field} field`
    const advice = suggestion.endsWith('?') ? suggestion : `${suggestion}.`
    super(`${subject} ${quoted(input)} is wrong${where} at position ${position}: ${reason}. ${advice}`)
    this.field = field
    this.position = position
    this.reason = reason
    this.suggestion = suggestion
    this.input = input
  }

  /** The correction as a clause: `a number from 0 to 59`, `JAN, if that was meant`. */
  get expected(): string {
    const [, meant] = /^Did you mean "?(.+?)"?\?$/.exec(this.suggestion) ?? []
    return meant === undefined ? this.suggestion.replace(/^(Write|Use|Keep) /, '') : `${meant}, if that was meant`
  }
}

/** Quotes text for a message: escapes control characters and shortens long text. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
  return JSON.stringify(shown)
}
