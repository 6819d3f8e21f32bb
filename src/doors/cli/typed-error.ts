import type { Command, CommanderError } from 'commander'
import { BelfryError } from '../../core/error.ts'
import { nearest } from '../../operations/nearest.ts'
import { commandMeant, flagMeant } from './other-words.ts'

/** What could not be read of a command line, as an error of ours: what was wrong, and the nearest right thing. */
export function typedError({ code, message }: CommanderError, command: Command): BelfryError {
  const [, named = ''] = /'([^']*)'/.exec(message) ?? []
  switch (code) {
    case 'commander.unknownOption':
      return unknownFlag(named, command)
    case 'commander.unknownCommand':
      return unknownCommand(named, command)
    case 'commander.optionMissingArgument':
      return invalid(`${flagOf(named)} has nothing behind it.`, `It is written ${named}. ${help(command)}`)
    case 'commander.excessArguments':
      return excess(command)
    default:
      return invalid(`${sentenceOf(message)}.`, help(command))
  }
}

function unknownFlag(named: string, command: Command): BelfryError {
  const flag = flagOf(named)
  const flags = command.options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long]))
  if (flags.includes(flag)) {
    const opposite = flag.replace('--', '--no-')
    const hint = flags.includes(opposite) ? `Write ${flag} for yes, ${opposite} for no.` : `Write ${flag} alone.`
    return invalid(`${flag} takes no value, and ${JSON.stringify(named.slice(flag.length))} gives it one.`, hint)
  }
  const meant = flagMeant(flag, (known) => flags.includes(known)) ?? nearest(flag, flags)
  const hint = meant === undefined ? help(command) : meantText(meant)
  return invalid(`${flag} is not a flag of ${pathOf(command)}.`, hint)
}

/** What is no flag of this command is told as what it is. */
function meantText(meant: string): string {
  return /^--[a-z-]+$/.test(meant) ? `Did you mean ${meant}?` : `Here that is ${meant}.`
}

function unknownCommand(named: string, command: Command): BelfryError {
  const words = command.commands.map((each) => each.name())
  const meant = commandMeant(named, pathOf(command)) ?? nearest(named, words)
  const hint = meant === undefined ? `There are ${words.join(', ')}.` : `Did you mean ${meant}?`
  return invalid(`${JSON.stringify(named)} is not a command of ${pathOf(command)}.`, hint)
}

/** Most often a blank that the shell took for the end of a word. */
function excess(command: Command): BelfryError {
  const takes = command.registeredArguments.map((each) => each.name().toUpperCase())
  const strays = command.args.slice(takes.length).map((word) => JSON.stringify(word))
  const wants = takes.length === 0 ? 'no argument' : `${takes.join(' and ')} alone`
  const says = `${pathOf(command)} takes ${wants}, and ${strays.join(' ')} came besides.`
  const { command: line } = command.opts<{ command?: readonly unknown[] }>()
  if (typeof line?.[0] === 'string') {
    return invalid(says, `A program and its arguments stand behind --: --command -- ${line[0]} ARGUMENT…`)
  }
  const quotes = takes.length === 0 ? '' : "Put quotes around what has blanks in it, such as --cron '0 9 * * 1-5'. "
  return invalid(says, quotes + help(command))
}

function invalid(says: string, hint: string): BelfryError {
  return new BelfryError('invalid', says, { hint })
}

function help(command: Command): string {
  return `\`${pathOf(command)} --help\` shows what there is.`
}

function sentenceOf(message: string): string {
  const said = message.replace(/^error: /, '').split('\n')[0] ?? message
  return said.slice(0, 1).toUpperCase() + said.slice(1).replace(/\.$/, '')
}

/** `--every` of `--every <duration>` and of `--every=10s`. */
function flagOf(named: string): string {
  return named.split(/[ =]/)[0] ?? named
}

export function pathOf(command: Command): string {
  const words: string[] = []
  for (let each: Command | null = command; each !== null; each = each.parent) words.unshift(each.name())
  return words.join(' ')
}
