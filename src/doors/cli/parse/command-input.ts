import type { z } from 'zod'
import { DurationError, parseDuration } from '../../../core/duration.ts'
import { isRecord } from '../../../core/json/record.ts'
import { kinds } from '../../../kinds.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { NameSearch } from '../../../operations/input/nearest-name.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import type { ReadRequest } from '../../../operations/input/unreadable-input.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { absentIn } from '../../../operations/target/target-input.ts'
import { argumentsOf, type Field, fieldsOf, flagOf, takesIn } from './command-fields.ts'
import { jsonOf, readValue, type Texts } from './read-value.ts'
import { flaggedKinds, headFlags, targetFromFlags } from './target-flags.ts'

/** A typed command: arguments, the words after `--`, and the flags by option name. */
export interface Typed {
  readonly args: readonly string[]
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  /** Unknown flags with a word after them that may be an argument. */
  readonly doubtful: readonly string[]
  /** Problems found before the line is read. */
  readonly problems: readonly Problem[]
}

/** The name under which commander keeps a flag: `maxRuns` for `--max-runs`. */
export function optionName(flag: string): string {
  return flag.replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The input of a verb, and its problems. Flags take precedence over the file. */
export async function inputOf(operation: AnyOperation, typed: Typed, texts: Texts, now: number): Promise<ReadRequest> {
  const problems: Problem[] = [...typed.problems]
  const { options, words } = typed
  const fromFile = await fileOf(options.file, texts, problems)
  // Without the file its fields cannot be checked.
  if (problems.length > typed.problems.length) refuse('The command', problems)
  const fields = fieldsOf(operation)
  const named = await argumentValues(operation, withAll(operation, typed), texts, problems)
  refuseOtherNames(named, fromFile, problems)
  const input: Record<string, unknown> = { ...fromFile, ...named }
  for (const field of fields) {
    const value = await flagValue(field, options, texts, problems)
    if (value === undefined) continue
    if (field.part !== undefined && isWholeGiven(field, options, problems)) continue
    input[field.name] = field.part === undefined ? value : withPart(input[field.name], field.part, value)
  }
  for (const field of unsetOf(operation, options.unset, problems)) {
    const given = fields.find(({ name, flag }) => name === field.name && options[optionName(flag)] !== undefined)
    if (given !== undefined) {
      const problem = `names ${field.flag.slice(2)}, which ${given.flag} sets`
      problems.push({ field: '--unset', problem, expected: 'only one of the two' })
    }
    input[field.name] = null
  }
  const target = await targetOf(operation, options, { words, texts, problems })
  if (target !== undefined) {
    if (options.target !== undefined) {
      problems.push({
        field: '--target',
        problem: 'is given beside flags of a target',
        expected: 'only one of the two',
      })
    }
    input.target = target
  } else if (hasTarget(operation)) {
    const field = options.target === undefined ? 'target' : '--target'
    problems.push(...absentIn(input.target, { field, folder: texts.folder, kinds }))
  }
  if (options.in !== undefined && takesIn(operation)) input.at = instantIn(options, now, problems)
  refuseIdle(operation, input, problems)
  return { input, problems }
}

/** `missed drop --all` is `missed drop all`; with another argument there is one too many. */
function withAll({ takesAll }: AnyOperation, typed: Typed): Typed {
  return takesAll === true && typed.options.all === true ? { ...typed, args: [...typed.args, 'all'] } : typed
}

/** The fields that these problems are about. */
export function fieldsAbout(operation: AnyOperation, problems: readonly Problem[]): string[] {
  const fields = [...argumentsOf(operation), ...fieldsOf(operation)]
  return problems.flatMap(({ field: typed }) => {
    if (typed === '--in' && takesIn(operation)) return ['at']
    const [word = ''] = typed.split(/[ .]/)
    if (typed === idleField) return ['target']
    const kind = flaggedKinds.find(({ flags, takesWords }) =>
      typed === '--' ? takesWords === true : flags.some(({ flag }) => flag === word),
    )
    if (kind !== undefined) return ['target', `target.${kind.name}`]
    return fields.filter(({ flag }) => flag === word).map(({ name }) => name)
  })
}

const idleField = 'the target'

/** Whether an object is given both whole and by a flag of one field; only one can be meant. */
function isWholeGiven({ name, flag }: Field, options: Typed['options'], problems: Problem[]): boolean {
  if (options[optionName(flagOf(name))] === undefined) return false
  problems.push({ field: flag, problem: `is given beside ${flagOf(name)}`, expected: 'only one of the two' })
  return true
}

/** A flag of one field takes precedence over the file; the other fields stay. */
function withPart(whole: unknown, part: string, value: unknown): Record<string, unknown> {
  const isObject = isRecord(whole)
  const { [part]: _, [`${part}Ms`]: __, ...others } = (isObject ? whole : {}) as Record<string, unknown>
  return { ...others, [part]: value }
}

/** An instant given as a duration from now; it is stored as the instant. */
function instantIn(options: Typed['options'], now: number, problems: Problem[]): string | undefined {
  const [text = '', ...others] = options.in as string[]
  if (others.length > 0) problems.push({ field: '--in', problem: 'is given more than once', expected: 'it once' })
  if (options.at !== undefined) {
    problems.push({ field: '--in', problem: 'is given beside --at', expected: 'only one of the two' })
  }
  try {
    return isoText(now + parseDuration(text))
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    problems.push({ field: '--in', problem: `is ${JSON.stringify(text.slice(0, 60))}`, expected: error.suggestion })
    return undefined
  }
}

/** A run without a target is most often a forgotten flag; a caller that means it writes null. */
function refuseIdle(operation: AnyOperation, input: Readonly<Record<string, unknown>>, problems: Problem[]): void {
  const isNew =
    hasTarget(operation) && !fieldsOf(operation).some(({ name, isRemovable }) => isRemovable && name !== 'target')
  if (!isNew || input.target !== undefined || fieldsAbout(operation, problems).includes('target')) return
  problems.push({
    field: idleField,
    problem: 'is missing',
    expected: `${headFlags('or')}; --target null for work that outside hosts lease`,
  })
}

/** A file about another name than the typed one is most often the wrong file. */
function refuseOtherNames(
  named: Readonly<Record<string, unknown>>,
  fromFile: Readonly<Record<string, unknown>>,
  problems: Problem[],
): void {
  for (const [field, value] of Object.entries(named)) {
    if (fromFile[field] === undefined || fromFile[field] === value) continue
    const problem = `has ${JSON.stringify(fromFile[field])} for ${field}, and ${JSON.stringify(value)} was typed`
    problems.push({ field: '--file', problem, expected: 'the same in both, or only one of the two' })
  }
}

async function argumentValues(
  operation: AnyOperation,
  { args, doubtful }: Typed,
  texts: Texts,
  problems: Problem[],
): Promise<Record<string, unknown>> {
  const named: Record<string, unknown> = {}
  for (const [index, { name, flag, kind }] of argumentsOf(operation).entries()) {
    const given = args[index]
    if (given === undefined && doubtful.length > 0 && !isOptional(operation, name)) {
      const problem = `is missing, unless it is the word after ${doubtful.slice(0, doubtfulMax).join(' or ')}`
      problems.push({ field: flag, problem, expected: `${flag} before the flags` })
    }
    if (given === undefined) continue
    const value = kind === 'file' ? await texts.of(flag, given, problems) : given
    if (value !== undefined) named[name] = value
  }
  return named
}

const doubtfulMax = 3

function isOptional({ input }: AnyOperation, name: string): boolean {
  return (input.shape as Record<string, z.ZodType>)[name]?.safeParse(undefined).success === true
}

async function fileOf(given: unknown, texts: Texts, problems: Problem[]): Promise<Record<string, unknown>> {
  if (typeof given !== 'string') return {}
  const found = given === '-' ? await texts.stdin('--file', problems) : texts.file('--file', given, problems)
  if (found === undefined) return {}
  const expected = 'a JSON object, such as {"every":"1h","target":{"handler":"report"}}'
  const input = jsonOf('--file', found, { expected, problems })
  if (input === undefined) return {}
  if (isRecord(input)) return input as Record<string, unknown>
  problems.push({ field: '--file', problem: `${found.is} JSON but not an object`, expected })
  return {}
}

async function flagValue(field: Field, options: Typed['options'], texts: Texts, problems: Problem[]): Promise<unknown> {
  const given = options[optionName(field.flag)]
  if (given === undefined || field.kind === 'boolean') return given
  return readValue(field, given as string[], texts, problems)
}

function unsetOf(operation: AnyOperation, given: unknown, problems: Problem[]): Field[] {
  const fields = fieldsOf(operation)
  const names = ((given ?? []) as string[]).flatMap((text) => text.split(',')).map((name) => name.trim())
  const removable = fields.filter(({ isRemovable }) => isRemovable).map(({ flag }) => flag.slice(2))
  const search = new NameSearch()
  return names.flatMap((name) => {
    const field = fields.find(({ name: own, flag }) => own === name || flag === `--${name}` || flag === name)
    if (field?.isRemovable === true) return [field]
    const meant = field === undefined ? search.nearest(name, removable) : undefined
    const isKnown = field !== undefined || operation.takes.includes(name)
    const why = isKnown ? 'cannot be removed' : 'is not a field'
    const expected = `${meant === undefined ? '' : `${meant}, if that was meant; `}one of ${removable.join(', ')}`
    problems.push({ field: '--unset', problem: `names ${JSON.stringify(name)}, which ${why}`, expected })
    return []
  })
}

/** Whether target flags apply to a verb. */
export function hasTarget({ input }: Pick<AnyOperation, 'input'>): boolean {
  return 'target' in input.shape
}

async function targetOf(
  operation: AnyOperation,
  options: Typed['options'],
  {
    words,
    texts,
    problems,
  }: { readonly words: readonly string[]; readonly texts: Texts; readonly problems: Problem[] },
): Promise<unknown> {
  if (hasTarget(operation)) {
    const given = flaggedKinds.flatMap(({ flags }) => flags.map(({ flag }) => [flag, options[optionName(flag)]]))
    return targetFromFlags(Object.fromEntries(given), words, { texts, problems })
  }
  if (words.length > 0) {
    problems.push({
      field: '--',
      problem: 'is followed by words, and this command starts no program',
      expected: 'nothing',
    })
  }
  return undefined
}
