import { type Command, CommanderError, type Option } from 'commander'
import { refusalOfLeftOut } from '../../../features.ts'
import { NameSearch } from '../../../operations/input/nearest-name.ts'
import { type Problem, quoted } from '../../../operations/input/refuse-input.ts'
import { finished } from './lazy-command.ts'
import { saysWhere } from './program.ts'
import { flagMeant } from './synonyms.ts'

/** The part of a command line that its command accepts, and the problems of the rest. */
export interface Sorted {
  readonly args: readonly string[]
  /** Unknown flags with a word after them that may be the flag's value, or an argument. */
  readonly doubtful: readonly string[]
  readonly problems: readonly Problem[]
}

/**
 * Separates unknown flags and surplus arguments. Commander would refuse the first before anything else is read, so the user
 * would learn of the next only after correcting it. The value of a misspelt flag is checked as that of the nearest known
 * flag: otherwise the rest would be checked as if it were missing. A line with a problem is never executed.
 */
export function sortedOut(command: Command, typed: readonly string[]): Sorted {
  const first = command.args.findIndex(isFlag)
  const [args, rest] = first < 0 ? [command.args, []] : [command.args.slice(0, first), command.args.slice(first)]
  const strays = straysIn(rest, command, typed)
  const taken = [...args, ...strays.words]
  for (const { option, value } of strays.meant) supply(command, option, value)
  const problems = [...strays.problems.values(), ...excess(command, taken)]
  return { args: taken.slice(0, command.registeredArguments.length), doubtful: strays.doubtful, problems }
}

/** Whether a word is a flag, as commander reads it: a lone dash and a negative number are not. */
function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-') && !/^-(\d+|\d*\.\d+)(e[+-]?\d+)?$/.test(word)
}

/** The words after the first unknown flag, without what the command knows. */
function straysIn(rest: readonly string[], command: Command, typed: readonly string[]) {
  const words: string[] = []
  const doubtful: string[] = []
  const meant: { option: Option; value: string | undefined }[] = []
  const problems = new Map<string, Problem>()
  const search = new NameSearch()
  let from = 0
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? ''
    if (!isFlag(word)) {
      words.push(word)
      continue
    }
    const flag = nameOf(word)
    const stray = strayFlag(word, command, search)
    if (!problems.has(flag)) problems.set(flag, stray.problem)
    const place = typed.indexOf(word, from)
    if (place >= 0) from = place + 1
    const next = rest[at + 1]
    const isBehind = next !== undefined && !isFlag(next) && (place < 0 || typed[place + 1] === next)
    const takesNext = isBehind && flag === word && (stray.option === undefined || takesValue(stray.option))
    if (takesNext) at += 1
    if (takesNext && stray.option === undefined) doubtful.push(flag)
    const value = takesNext ? next : flag === word ? undefined : word.slice(flag.length + 1)
    if (stray.option !== undefined) meant.push({ option: stray.option, value })
  }
  return { words, doubtful, meant, problems }
}

interface StrayFlag {
  readonly problem: Problem
  /** The flag of this command that was most likely meant. */
  readonly option?: Option
}

/** The problem of an unknown flag, with the nearest known one. */
export function strayFlag(word: string, command: Command, search: NameSearch): StrayFlag {
  const field = nameOf(word)
  const flags = command.options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long]))
  if (flags.includes(field)) return { problem: { field, ...valued(word, flags) } }
  const leftOut = refusalOfLeftOut(field)
  if (leftOut !== null) return { problem: { field, problem: leftOut.message, expected: leftOut.hint ?? '' } }
  const problem = `is not a flag of ${pathOf(command)}`
  const meant = flagMeant(field, (known) => flags.includes(known)) ?? search.nearest(field, flags)
  if (meant === undefined)
    return { problem: { field, problem, expected: `a flag that --help shows${behind(command)}` } }
  // A synonym that is no flag of this command is shown as it is.
  const expected = meant.startsWith('--') ? `${meant}, if that was meant` : meant
  const option = command.options.find(({ long }) => long === meant)
  return { problem: { field, problem, expected }, ...(option !== undefined && { option }) }
}

/** A known flag that takes no value. */
function valued(word: string, flags: readonly string[]): Omit<Problem, 'field'> {
  const flag = nameOf(word)
  const opposite = flag.replace('--', '--no-')
  return {
    problem: `takes no value, and ${quoted(word.slice(flag.length))} gives it one`,
    expected: flags.includes(opposite) ? `${flag} for yes, ${opposite} for no` : `${flag} alone`,
  }
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

/** Flags for the store or the server are never guessed. */
function supply(command: Command, option: Option, value: string | undefined): void {
  if (saysWhere(option) || command.getOptionValue(option.attributeName()) !== undefined) return
  const isWhole = value === undefined ? !option.required : takesValue(option)
  if (isWhole) command.parseOptions([value === undefined ? `${option.long}` : `${option.long}=${value}`])
}

/** Most often an unquoted space. */
function excess(command: Command, args: readonly string[]): Problem[] {
  const takes = command.registeredArguments.map((each) => each.name().toUpperCase())
  const strays = args.slice(takes.length)
  if (strays.length === 0) return []
  const field = strays.map((word) => quoted(word)).join(' ')
  const problem = strays.length === 1 ? 'is an argument too many' : `are ${strays.length} arguments too many`
  if (takes.length === 0) return [{ field, problem, expected: `no argument${behind(command)}` }]
  const hasCron = command.options.some(({ long }) => long === '--cron')
  const quotes = `; put quotes around text with spaces${hasCron ? ", such as --cron '0 9 * * 1-5'" : ''}`
  const alone = `${takes.join(' and ')} alone`
  return [{ field, problem, expected: alone + (behind(command) || quotes) }]
}

/** Where the words of a program belong, if one was typed. */
function behind(command: Command): string {
  const { command: line } = command.opts<{ command?: readonly unknown[] }>()
  return typeof line?.[0] === 'string'
    ? `; a program and its arguments come after --: --command -- ${line[0]} ARGUMENT…`
    : ''
}

/** `--every` for `--every <duration>` and `--every=10s`. */
function nameOf(word: string): string {
  return word.split(/[ =]/)[0] ?? word
}

interface Line {
  readonly typed: readonly string[]
  readonly problems: readonly Problem[]
}

/** The line without a final flag that lacks its value, and the problem of that flag. */
export function withoutBare(thrown: unknown, typed: readonly string[]): Line | null {
  if (!(thrown instanceof CommanderError) || thrown.code !== 'commander.optionMissingArgument') return null
  const [, written = ''] = /'([^']*)'/.exec(thrown.message) ?? []
  const field = nameOf(written)
  const problem = { field, problem: 'has no value', expected: written }
  return { typed: typed.toSpliced(typed.lastIndexOf(field), 1), problems: [problem] }
}

/** Moves unknown flags from before the words of the command to after them: commander refuses the first such flag before it knows the command, so nothing else would be checked. */
export function withoutLeading(root: Command, typed: readonly string[]): Line | null {
  const { command, words, places, strays, rest } = leadingIn(root, typed)
  const [first] = strays
  if (first === undefined) return null
  const problems = strays.flatMap(({ flag }) => leadingProblem(flag, command))
  const judged = command.commands.length === 0 ? strays.flatMap(({ flag, value }) => [flag, ...value]) : []
  return { typed: [...words, ...places, ...rest, ...judged], problems }
}

/** A line up to the last word of its command: the command, its words, the store flags, and all other flags. */
function leadingIn(root: Command, typed: readonly string[]) {
  let command = root
  const words: string[] = []
  const places: string[] = []
  const strays: { flag: string; value: readonly string[] }[] = []
  let at = 0
  for (; at < typed.length && command.commands.length > 0; at++) {
    const word = typed[at] ?? ''
    const [isNamed, next] = [word !== nameOf(word), typed[at + 1]]
    const below = childOf(command, word)
    const option = optionOf(command, word)
    if (below !== undefined) {
      command = below
      words.push(word)
    } else if (option !== undefined) {
      const hasValue = option.required && !isNamed && next !== undefined
      places.push(word, ...(hasValue ? [next] : []))
      if (hasValue) at++
    } else if (isFlag(word)) {
      const hasValue = !isNamed && next !== undefined && !isFlag(next) && childOf(command, next) === undefined
      strays.push({ flag: word, value: hasValue ? [next] : [] })
      if (hasValue) at++
    } else break
  }
  return { command, words, places, strays, rest: typed.slice(at) }
}

function childOf(command: Command, word: string): Command | undefined {
  const found = command.commands.find((each) => each.name() === word)
  return found === undefined ? undefined : finished(found)
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ short, long }) => [short, long].includes(nameOf(word)))
}

/** An unknown flag is found when the line is read again; a known one is in the wrong place. */
function leadingProblem(flag: string, command: Command): Problem[] {
  if (command.commands.length > 0) return [strayFlag(flag, command, new NameSearch()).problem]
  if (optionOf(command, flag) === undefined) return []
  // Reported for the command, because the flag's value is checked too.
  const [name, words] = [nameOf(flag), pathOf(command).replace('belfry ', '')]
  return [{ field: 'the command', problem: `has ${name} before it`, expected: `${name} after ${words}` }]
}

export function pathOf(command: Command): string {
  const words: string[] = []
  for (let each: Command | null = command; each !== null; each = each.parent) words.unshift(each.name())
  return words.join(' ')
}
