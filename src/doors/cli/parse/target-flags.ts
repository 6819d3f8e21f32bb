import { kinds } from '../../../kinds.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { shellWord } from '../../../operations/shell-words.ts'
import { absentIn, offeredKinds } from '../../../operations/target/target-input.ts'
import { kindOf, type TargetFlag, type TargetKind } from '../../../targets/kind.ts'
import type { Texts } from './read-value.ts'

/** The target kinds with flags. */
export const flaggedKinds: readonly TargetKind[] = offeredKinds(kinds).filter(({ flags }) => flags.length > 0)

/** Their flags, each once: kinds may share one. */
export const targetFlags: readonly TargetFlag[] = [
  ...new Map(flaggedKinds.flatMap(({ flags }) => flags.map((each) => [each.flag, each] as const))).values(),
]

/** The values of each flag; true for a flag without one. */
export type TargetGiven = Readonly<Record<string, readonly (string | true)[] | undefined>>

interface Reading {
  readonly texts: Texts
  readonly problems: Problem[]
}

/** The target that the flags describe; undefined without one. `words` are the words after `--`. */
export async function targetFromFlags(
  given: TargetGiven,
  words: readonly string[],
  reading: Reading,
): Promise<Record<string, unknown> | undefined> {
  const { problems, texts } = reading
  refuseRepeats(given, problems)
  const named = flaggedKinds.filter((kind) => isNamed(kind, given, words))
  refuseStrays(given, named, problems)
  refuseRivals(given, named, problems)
  const target: Record<string, unknown> = {}
  for (const kind of named) {
    if (kind.takesWords === true) refuseWords(headOf(kind), given, { words, problems })
    for (const flag of kind.flags) set(target, flag.field, await readFlag(flag, { kind, given, words, reading }))
  }
  const place = { field: '', folder: texts.folder, kinds }
  for (const { field, ...problem } of absentIn(target, place)) {
    problems.push({ field: typedFlag(field.slice(1), given) ?? '--', ...problem })
  }
  return named.length === 0 ? undefined : target
}

function headOf({ flags }: TargetKind): string {
  return flags[0]?.flag ?? ''
}

function isNamed(kind: TargetKind, given: TargetGiven, words: readonly string[]): boolean {
  return given[headOf(kind)] !== undefined || (kind.takesWords === true && words.length > 0)
}

/** `--command, --http and --handler`. */
export function headFlags(last: 'and' | 'or'): string {
  const heads = flaggedKinds.map(headOf)
  return `${heads.slice(0, -1).join(', ')} ${last} ${heads.at(-1)}`
}

function refuseRepeats(given: TargetGiven, problems: Problem[]): void {
  for (const { flag, reads } of targetFlags) {
    const count = given[flag]?.length ?? 0
    if (count > 1 && reads !== 'pair' && reads !== 'secret') {
      problems.push({ field: flag, problem: `is given ${count} times`, expected: 'it once' })
    }
  }
}

/** A method without a URL is refused: ignoring it would hide what was meant. */
function refuseStrays(given: TargetGiven, named: readonly TargetKind[], problems: Problem[]): void {
  const taken = new Set(named.flatMap(({ flags }) => flags.map(({ flag }) => flag)))
  for (const { flag } of targetFlags.filter((each) => given[each.flag] !== undefined && !taken.has(each.flag))) {
    const heads = flaggedKinds.flatMap(({ flags: [head, ...others] }) =>
      others.some((each) => each.flag === flag) && head !== undefined ? [head] : [],
    )
    if (heads.length === 0) continue
    const expected = heads.map(
      ({ flag: head, value }) => `${head}${value.startsWith('<') ? ` ${value.slice(1, -1).toUpperCase()}` : ''}`,
    )
    const problem = `is given without ${heads.map(({ flag: head }) => head).join(' or ')}`
    problems.push({ field: flag, problem, expected: `${expected.join(' or ')} beside it` })
  }
}

function refuseRivals(given: TargetGiven, named: readonly TargetKind[], problems: Problem[]): void {
  const isTyped = (kind: TargetKind) => given[headOf(kind)] !== undefined
  const said = named.filter((kind) => !isTyped(kind)).map(() => 'a program after --')
  const [first, ...others] = [...said, ...named.filter(isTyped).map(headOf)]
  for (const field of others) {
    problems.push({ field, problem: `is given beside ${first}`, expected: `exactly one of ${headFlags('and')}` })
  }
}

/** A program is one line for a shell, or words after `--`, not both. */
function refuseWords(
  field: string,
  given: TargetGiven,
  { words, problems }: { readonly words: readonly string[]; readonly problems: Problem[] },
): void {
  const line = given[field]?.at(-1)
  if (line === true && words.length === 0) {
    const expected = `${field} -- PROGRAM ARGUMENT…, or ${field} "one line for sh"`
    problems.push({ field, problem: 'names no program', expected })
  }
  const [only = '', ...more] = words
  if (line !== undefined && more.length === 0 && /\s/.test(only)) {
    const problem = `names ${JSON.stringify(only.slice(0, 60))} as one program, spaces included`
    problems.push({ field, problem, expected: 'separate words after --; a line for sh without the --' })
  }
  if (typeof line === 'string' && words.length > 0) {
    problems.push({ field, problem: 'is given beside words after --', expected: 'only one of the two' })
  }
}

interface TargetFlagsContext {
  readonly kind: TargetKind
  readonly given: TargetGiven
  readonly words: readonly string[]
  readonly reading: Reading
}

async function readFlag(flag: TargetFlag, { kind, given, words, reading }: TargetFlagsContext): Promise<unknown> {
  const last = given[flag.flag]?.at(-1)
  const text = typeof last === 'string' ? last : undefined
  if (flag === kind.flags[0] && kind.takesWords === true) return text ?? [...words]
  if (flag.reads === 'pair') return pairsOf(kind, flag.field, given, reading.problems)
  if (flag.reads === 'file' && text !== undefined) {
    return (await reading.texts.behind(flag.flag, text, reading.problems))?.text
  }
  if (flag.reads === 'number' && text !== undefined && /^\d+$/.test(text)) return Number(text)
  return flag.reads === 'secret' ? undefined : text
}

/** Leaves out absent values, and nests the values of nested fields. */
function set(target: Record<string, unknown>, field: string, value: unknown): void {
  if (value === undefined) return
  const [first = '', ...rest] = field.split('.')
  if (rest.length === 0) target[first] = value
  else {
    target[first] ??= {}
    set(target[first] as Record<string, unknown>, rest.join('.'), value)
  }
}

type Pairs = Record<string, string | { readonly secret: string }>

function pairsOf(kind: TargetKind, field: string, given: TargetGiven, problems: Problem[]): Pairs | undefined {
  const pairs = new Map<string, Pairs[string]>()
  for (const { flag, value: form, reads } of kind.flags.filter((each) => each.field === field)) {
    const separator = form.includes('=') ? '=' : ':'
    for (const said of given[flag] ?? []) {
      const text = String(said)
      const cut = text.indexOf(separator)
      const name = text.slice(0, Math.max(0, cut)).trim()
      if (name === '') {
        const problem = `is ${JSON.stringify(text.slice(0, 60))}, which has no name before a ${separator}`
        problems.push({ field: flag, problem, expected: form.slice(1, -1) })
      } else if (pairs.has(name)) {
        problems.push({ field: flag, problem: `gives ${name} twice`, expected: 'each name once' })
      } else {
        const value = separator === '=' ? text.slice(cut + 1) : text.slice(cut + 1).trim()
        pairs.set(name, reads === 'secret' ? { secret: value } : value)
      }
    }
  }
  return pairs.size === 0 ? undefined : Object.fromEntries(pairs)
}

/** The flag of a target's field, with the name of the entry where it has one; undefined without a flag. */
export function flagOfField(path: string): { readonly flag: string; readonly entry: string } | undefined {
  const isSecret = path.endsWith('.secret')
  for (const { flag, field, reads } of targetFlags) {
    const rest = path.slice(field.length)
    if (!path.startsWith(field) || !/^$|^[.[]/.test(rest)) continue
    if (reads === 'pair' ? isSecret : reads === 'secret' && !isSecret) continue
    const isEntry = reads === 'pair' || reads === 'secret'
    const entry = rest
      .replace(/\.secret$/, '')
      .replace(/^\./, '')
      .replace(/^\["(.*)"\]$/, '$1')
    return { flag, entry: isEntry ? entry : '' }
  }
  return undefined
}

function typedFlag(path: string, given: TargetGiven): string | undefined {
  const flag = flagOfField(path)?.flag
  return flag !== undefined && given[flag] !== undefined ? flag : undefined
}

/** A target as flags; as JSON where flags cannot express it. */
export function targetText(target: unknown): string[] {
  const kind = kindOf(target, flaggedKinds)
  if (typeof target !== 'object' || target === null) return []
  const said = kind?.flags.map((flag) => flagText(flag, kind, at(target, flag.field)))
  if (said === undefined || said.includes(null)) return [`--target ${shellWord(JSON.stringify(target))}`]
  // The words after `--` come last.
  return (said as string[][]).flat().toSorted((a, b) => Number(a.includes(' -- ')) - Number(b.includes(' -- ')))
}

function at(value: unknown, field: string): unknown {
  return field.split('.').reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value)
}

function flagText({ flag, value: form, reads }: TargetFlag, kind: TargetKind, value: unknown): string[] | null {
  if (value === undefined) return []
  if (typeof value === 'string' && reads !== 'pair' && reads !== 'secret') return [`${flag} ${shellWord(value)}`]
  if (reads === 'pair' || reads === 'secret') {
    const separator = form.includes('=') ? '=' : ': '
    const entries = Object.entries(value as Pairs).filter(
      ([, each]) => (typeof each === 'string') === (reads === 'pair'),
    )
    return entries.map(([name, each]) => {
      return `${flag} ${shellWord(`${name}${separator}${typeof each === 'string' ? each : each.secret}`)}`
    })
  }
  const isWords = kind.takesWords === true && Array.isArray(value) && value.every((word) => typeof word === 'string')
  return isWords ? [`${flag} -- ${value.map(shellWord).join(' ')}`] : null
}
