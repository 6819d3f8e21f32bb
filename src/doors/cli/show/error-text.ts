import { BelfryError } from '../../../core/error.ts'
import { errorCodes } from '../../../operations/error-codes.ts'
import { type Problem, storeProblems } from '../../../operations/input/refuse-input.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { indented, type Paint } from '../../../operations/show.ts'
import { TypedFields } from '../spelling/field-spelling.ts'
import { columns } from './columns.ts'

/** Any thrown value as one error of ours; an unexpected one is marked as such. */
export function asError(thrown: unknown): BelfryError {
  if (thrown instanceof BelfryError) return thrown
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  return new BelfryError('failure', `Unexpected error: ${said}`, { cause: thrown })
}

export function exitOf({ code }: BelfryError): number {
  return errorCodes[code].exit
}

/** The verb, and the typed words. */
export interface TypedCommand {
  readonly operation: AnyOperation | undefined
  readonly typed: readonly string[]
  /** Spells commands in hints as they must be typed here. */
  readonly spell: (hint: string) => string
}

/** An error for people: what is wrong, where, what is expected, and what to do next. */
export function errorText(error: BelfryError, asked: TypedCommand, paint: Paint): string {
  const typed = new TypedFields(asked)
  const problems = storeProblems(error) ?? []
  const hint = error.hint === undefined ? [] : [`${paint.bold('hint:')} ${asked.spell(typed.text(error.hint))}`]
  if (problems.length === 0) return [`${paint.red('error:')} ${error.message}`, ...hint].join('\n')
  const { subject = 'The command' } = error.details ?? {}
  const rows = problems.flatMap(({ field, problem, expected }) => [
    [paint.bold(typed.field(field)), typed.text(problem, field)],
    ['', paint.dim(`expected: ${asked.spell(typed.text(expected))}`)],
  ])
  return [`${paint.red('error:')} ${String(subject)} is refused.`, indented(columns(null, rows)), ...hint].join('\n')
}

export function errorJson({ code, message, hint, details }: BelfryError, spell: TypedCommand['spell']): string {
  const told = { code, message, hint: hint === undefined ? undefined : spell(hint), details: spelledIn(details, spell) }
  return JSON.stringify({ error: told })
}

function spelledIn(details: BelfryError['details'], spell: TypedCommand['spell']): BelfryError['details'] {
  if (!Array.isArray(details?.problems)) return details
  const problems = (details.problems as Problem[]).map((each) => ({ ...each, expected: spell(each.expected) }))
  return { ...details, problems }
}
