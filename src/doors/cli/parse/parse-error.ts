import type { Command, CommanderError } from 'commander'
import { BelfryError } from '../../../core/error.ts'
import { refusalOfLeftOut } from '../../../features.ts'
import { NameSearch, nearest } from '../../../operations/input/nearest-name.ts'
import { type Problem, refusal } from '../../../operations/input/refuse-input.ts'
import { commandMeant } from './synonyms.ts'
import { pathOf, strayFlag } from './unknown-flags.ts'

/** A commander error as one of ours: the problems found before it, its own, and the nearest correct word. */
export function typedError(
  { code, message }: CommanderError,
  command: Command,
  before: readonly Problem[],
): BelfryError {
  const [, named = ''] = /'([^']*)'/.exec(message) ?? []
  switch (code) {
    case 'commander.unknownOption':
      return refusal('The command', [strayFlag(named, command, new NameSearch()).problem])
    case 'commander.unknownCommand':
      return unknownCommand(named, command, before)
    default:
      return invalid(`${sentenceOf(message)}.`, help(command))
  }
}

function unknownCommand(named: string, command: Command, before: readonly Problem[]): BelfryError {
  const leftOut = refusalOfLeftOut(`${pathOf(command)} ${named}`)
  if (leftOut !== null) return leftOut
  const words = command.commands.map((each) => each.name())
  const meant = commandMeant(named, pathOf(command)) ?? nearest(named, words)
  const field = JSON.stringify(named)
  const problem = `is not a command of ${pathOf(command)}`
  if (before.length > 0) {
    const expected = meant ?? `one of ${words.join(', ')}`
    return refusal('The command', [...before, { field, problem, expected }])
  }
  const hint = meant === undefined ? `Commands: ${words.join(', ')}.` : `Did you mean ${meant}?`
  return invalid(`${field} ${problem}.`, hint)
}

function invalid(says: string, hint: string): BelfryError {
  return new BelfryError('invalid', says, { hint })
}

function help(command: Command): string {
  return `Run \`${pathOf(command)} --help\`.`
}

function sentenceOf(message: string): string {
  const said = message.replace(/^error: /, '').split('\n')[0] ?? message
  return said.slice(0, 1).toUpperCase() + said.slice(1).replace(/\.$/, '')
}
