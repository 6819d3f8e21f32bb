import { CronError, quoted } from './cron-error.ts'
import { type MonthDays, parseMonthDays, parseWeekDays, type WeekDays } from './days.ts'
import { type FieldRule, HOUR, MINUTE, MONTH, type Piece, parseItem, parseList, SECOND } from './field.ts'
import { nearest } from './nearest-match.ts'

/** The fields of an expression, before any date is checked. */
export interface ParsedCron {
  readonly seconds: ReadonlySet<number>
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly monthDays: MonthDays
  /** January is 1. */
  readonly months: ReadonlySet<number>
  readonly weekDays: WeekDays
  /** The hour field starts with `*` or matches all hours; this decides what happens at a change of offset. */
  readonly isHourWildcard: boolean
}

const EXPRESSION_CHARS_MAX = 1_000
const FIELD_ORDER = 'Write five fields (minute hour day-of-month month day-of-week), or six with the second before them'

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

export function parse(expression: string): ParsedCron {
  if (typeof expression !== 'string') throw refused(String(expression), 0, 'an expression is text', FIELD_ORDER)
  if (expression.length > EXPRESSION_CHARS_MAX) {
    const reason = `it has ${expression.length} characters, more than ${EXPRESSION_CHARS_MAX}`
    throw refused(expression, EXPRESSION_CHARS_MAX, reason, 'Write shorter lists, with ranges and steps')
  }
  refuseStrangeCharacters(expression)
  const start = expression.search(/[^ \t]/)
  if (expression[start] === '@') return parse(expandMacro(expression, start))
  return parseFields(expression)
}

function refuseStrangeCharacters(expression: string): void {
  const position = expression.search(/[^\x20-\x7e\t]/)
  if (position < 0) return
  const code = (expression.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const suggestion = 'Write letters, digits and the signs * , - / # @ only, with spaces between the fields'
  throw refused(expression, position, `the character U+${code} has no place in it`, suggestion)
}

function parseFields(expression: string): ParsedCron {
  const pieces: Piece[] = [...expression.matchAll(/[^ \t]+/g)].map(({ 0: text, index }) => ({ text, position: index }))
  const [second, ...fields] = pieces.length === 6 ? pieces : [undefined, ...pieces]
  const [minute, hour, dayOfMonth, month, dayOfWeek, extra] = fields
  if (extra) {
    const reason = `it has ${pieces.length} fields`
    const position = pieces[6]?.position ?? extra.position
    throw refused(expression, position, reason, `${FIELD_ORDER}; there is no field for years`)
  }
  if (!minute || !hour || !dayOfMonth || !month || !dayOfWeek) {
    const reason = pieces.length === 0 ? 'it is empty' : `it has only ${counted(pieces.length)}`
    throw refused(expression, expression.length, reason, FIELD_ORDER)
  }
  const hours = parseValues(expression, HOUR, hour)
  return {
    seconds: second ? parseValues(expression, SECOND, second) : new Set([0]),
    minutes: parseValues(expression, MINUTE, minute),
    hours,
    monthDays: parseMonthDays(expression, dayOfMonth),
    months: parseValues(expression, MONTH, month),
    weekDays: parseWeekDays(expression, dayOfWeek),
    isHourWildcard: hour.text.startsWith('*') || hours.size === 24,
  }
}

function parseValues(expression: string, rule: FieldRule, field: Piece): Set<number> {
  const context = { expression, rule }
  return new Set(parseList(context, field).flatMap((item) => parseItem(context, item)))
}

function expandMacro(expression: string, start: number): string {
  const macro = expression.trim()
  const fields = MACROS[macro.toLowerCase()]
  if (fields !== undefined) return fields
  const names = Object.keys(MACROS)
  if (/^@every\b/i.test(macro)) {
    const reason = '@every is an interval, not a calendar'
    throw refused(expression, start, reason, 'Use `every` in place of `cron`, such as 5m')
  }
  if (/^@reboot$/i.test(macro)) {
    throw refused(expression, start, '@reboot names no instant', 'Use a timing with a calendar, such as @daily')
  }
  const guess = nearest(macro, names, 3)
  const suggestion = guess === undefined ? `Write one of ${names.join(', ')}` : `Did you mean ${guess}?`
  throw refused(expression, start, `${quoted(macro)} is not a known shorthand`, suggestion)
}

function counted(fields: number): string {
  return fields === 1 ? '1 field' : `${fields} fields`
}

function refused(expression: string, position: number, reason: string, suggestion: string): CronError {
  return new CronError(expression, { field: 'expression', position, reason, suggestion })
}
