import { CronError, type CronErrorField, quoted } from './cron-error.ts'
import { nearest } from './nearest-match.ts'

export interface FieldRule {
  readonly field: Exclude<CronErrorField, 'expression' | 'zone'>
  readonly min: number
  readonly max: number
  /** Names of the values, the first one for `min`. */
  readonly names: readonly string[]
}

/** One piece of an expression with its position. */
export interface Piece {
  readonly text: string
  readonly position: number
}

export interface FieldContext {
  readonly expression: string
  readonly rule: FieldRule
}

export const SUNDAY_AGAIN = 7

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
export const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const SECOND: FieldRule = { field: 'second', min: 0, max: 59, names: [] }
export const MINUTE: FieldRule = { field: 'minute', min: 0, max: 59, names: [] }
export const HOUR: FieldRule = { field: 'hour', min: 0, max: 23, names: [] }
export const DAY_OF_MONTH: FieldRule = { field: 'day-of-month', min: 1, max: 31, names: [] }
export const MONTH: FieldRule = { field: 'month', min: 1, max: 12, names: MONTHS }
/** Up to 7, because Sunday may be 0 or 7. */
export const DAY_OF_WEEK: FieldRule = { field: 'day-of-week', min: 0, max: SUNDAY_AGAIN, names: WEEKDAYS }

export function refuse(context: FieldContext, position: number, reason: string, suggestion: string): never {
  throw new CronError(context.expression, { field: context.rule.field, position, reason, suggestion })
}

/** Splits at a separator and keeps the position of every piece, empty ones included. */
export function splitPiece({ text, position }: Piece, separator: string): Piece[] {
  let start = position
  return text.split(separator).map((part) => {
    const piece = { text: part, position: start }
    start += part.length + separator.length
    return piece
  })
}

export function parseList(context: FieldContext, field: Piece): Piece[] {
  const items = splitPiece(field, ',')
  for (const item of items) {
    if (item.text !== '') continue
    refuse(context, item.position, 'a comma has nothing on one side', 'Write a value on each side, or remove the comma')
  }
  return items
}

/** The values of one item of a list: `*`, `5`, `1-5`, and the latter or `*` with a step. */
export function parseItem(context: FieldContext, item: Piece): number[] {
  const [base = item, step, ...more] = splitPiece(item, '/')
  if (more[0]) refuse(context, more[0].position - 1, 'it has a second step', 'Keep one step, as in 0-30/5')
  const range = parseRange(context, base)
  if (step === undefined) return expand(context, base, range, 1)
  const everyNth = parseStep(context, step)
  if (range.from === range.to && !base.text.includes('-')) {
    const spelled = `${base.text}-${lastOf(context.rule)}/${everyNth}`
    refuse(
      context,
      step.position - 1,
      'a step needs a range to walk through',
      `Write ${spelled}, or ${base.text} alone`,
    )
  }
  return expand(context, base, range, everyNth)
}

interface Range {
  readonly from: number
  readonly to: number
}

function parseRange(context: FieldContext, base: Piece): Range {
  const { rule } = context
  if (base.text === '*') return { from: rule.min, to: lastOf(rule) }
  const [first = base, last, ...more] = splitPiece(base, '-')
  if (more[0]) refuse(context, more[0].position - 1, 'a range has two ends', 'Write first-last, for instance 1-5')
  if (last === undefined) {
    const value = parseValue(context, first)
    return { from: value, to: value }
  }
  const example = `Write first-last, for instance ${rule.min}-${rule.min + 4}`
  if (first.text === '') refuse(context, first.position, 'a range has no first value', example)
  if (last.text === '') refuse(context, last.position, 'a range has no last value', example)
  const from = parseValue(context, first)
  const to = parseValue(context, last)
  // SUN ends a week as naturally as it begins one; as a name it has no number of its own.
  const isClosingSunday = rule.field === 'day-of-week' && from > 0 && last.text.toUpperCase() === 'SUN'
  return { from, to: isClosingSunday ? SUNDAY_AGAIN : to }
}

/** The values from first to last. A range that wraps around is refused, and the error spells it out. */
function expand(context: FieldContext, base: Piece, { from, to }: Range, everyNth: number): number[] {
  const { rule } = context
  if (from > to) refuse(context, base.position, 'the range runs backwards', unwrapped(rule, { from, to }, everyNth))
  const values: number[] = []
  for (let value = from; value <= to; value += everyNth) values.push(value)
  return values
}

function unwrapped(rule: FieldRule, { from, to }: Range, everyNth: number): string {
  const last = lastOf(rule)
  const start = from > last ? rule.min : from
  if (everyNth === 1) {
    const parts = start > to ? [span(rule, start, last), span(rule, rule.min, to)] : [span(rule, start, to)]
    return `Write ${parts.join(',')}`
  }
  const count = last - rule.min + 1
  const values: number[] = []
  for (let value = start; value <= (start > to ? to + count : to); value += everyNth) {
    values.push(((value - rule.min) % count) + rule.min)
  }
  return `Write ${values.map((value) => spell(rule, value)).join(',')}`
}

function span(rule: FieldRule, from: number, to: number): string {
  return from === to ? spell(rule, from) : `${spell(rule, from)}-${spell(rule, to)}`
}

function spell(rule: FieldRule, value: number): string {
  return rule.names[value - rule.min] ?? String(value)
}

/** The last value, without second spellings such as 7 for Sunday. */
function lastOf(rule: FieldRule): number {
  return rule.field === 'day-of-week' ? SUNDAY_AGAIN - 1 : rule.max
}

function parseStep(context: FieldContext, step: Piece): number {
  const { rule } = context
  const stepMax = lastOf(rule) - rule.min + 1
  const suggestion = `Write a step from 1 to ${stepMax}`
  if (step.text === '') refuse(context, step.position, 'the step after the slash is missing', suggestion)
  if (!/^\d+$/.test(step.text)) {
    refuse(context, step.position, `the step ${quoted(step.text)} is not a whole number`, suggestion)
  }
  const everyNth = Number(step.text)
  if (everyNth === 0) refuse(context, step.position, 'a step of 0 never moves on', suggestion)
  if (everyNth > stepMax) {
    const reason = `a step of ${step.text} is longer than the ${stepMax} values of the field, and the field starts again after its last value`
    refuse(context, step.position, reason, `${suggestion}, or use the timing \`every\` for a longer interval`)
  }
  return everyNth
}

/** A number or a name, in range. */
export function parseValue(context: FieldContext, piece: Piece): number {
  const { rule } = context
  const { text, position } = piece
  const suggestion = `Write ${allowed(rule)}`
  if (/^\d+$/.test(text)) {
    const value = Number(text)
    if (value < rule.min) refuse(context, position, `${text} is below the lowest value, ${rule.min}`, suggestion)
    if (value > rule.max) refuse(context, position, `${text} is above the highest value, ${rule.max}`, suggestion)
    if (text.length > 2) refuse(context, position, `${text} has needless zeros`, `Write ${value}`)
    return value
  }
  const index = rule.names.indexOf(text.toUpperCase())
  if (index >= 0) return index + rule.min
  return refuseWord(context, piece)
}

function refuseWord(context: FieldContext, { text, position }: Piece): never {
  const { rule } = context
  const suggestion = `Write ${allowed(rule)}`
  if (text === '') refuse(context, position, 'a value is missing', suggestion)
  if (text === '?') {
    const reason = '"?" is a sign of Quartz, which also counts the days of the week from 1 = Sunday'
    refuse(
      context,
      position,
      reason,
      'Write *, and check the day-of-week field: here 0 and 7 are Sunday and 1 is Monday',
    )
  }
  if (text.includes('*'))
    refuse(context, position, '"*" stands alone or before a step', 'Write * or, for instance, */5')
  if (rule.field !== 'day-of-month' && /^(L|LW|L-\d+|\d+W)$/i.test(text)) {
    refuse(context, position, `${quoted(text)} is for the day-of-month field`, suggestion)
  }
  if (rule.field !== 'day-of-week' && /^(\d+|[A-Z]{3})(L|#\d*)$/i.test(text)) {
    refuse(context, position, `${quoted(text)} is for the day-of-week field`, suggestion)
  }
  const guess = nearest(text.length > 4 ? text.slice(0, 3) : text, rule.names, 1)
  const kind = rule.names.length === 0 ? 'a number' : 'a number or a name'
  const hint = guess === undefined ? suggestion : `Did you mean ${guess}?`
  return refuse(context, position, `${quoted(text)} is not ${kind}`, hint)
}

function allowed({ field, min, max, names }: FieldRule): string {
  const numbers = `a number from ${min} to ${max}`
  if (names.length > 0) return `${numbers} or a name from ${names[0]} to ${names.at(-1)}`
  return field === 'day-of-month' ? `${numbers}, L, LW or a day with W such as 15W` : numbers
}
