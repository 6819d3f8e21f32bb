import { Command, Option } from 'commander'
import type { z } from 'zod'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { type AnyOperation, commandOf } from '../../../operations/operation.ts'
import { nounEntries, operations } from '../../../table.ts'
import { localCommands } from '../commands/local-commands.ts'
import type { LocalCommand } from '../part.ts'
import { commandLine } from '../spelling/command-line.ts'
import { argumentsOf, type Field, fieldsOf, helpOf, placeholderOf, takesIn } from './command-fields.ts'
import { hasTarget } from './command-input.ts'
import { finished, finishLater } from './lazy-command.ts'
import { ofStoreFlag } from './short-forms.ts'
import { targetFlags } from './target-flags.ts'

/** What runs once a command line is read. */
export interface Actions {
  /** Receives help and version texts. */
  write(text: string): void
  /** Receives contradictions, such as a flag given twice; nothing is executed then. */
  misread(problem: Problem): void
  operation(operation: AnyOperation, command: Command): Promise<void>
  beside(entry: LocalCommand, command: Command): Promise<void>
}

const everywhere = 'Everywhere:'
const ofTarget = 'Target:'

/** The whole command line, from the table of operations and the commands that are no verbs. */
export function program(version: string, actions: Actions): Command {
  const root = group('belfry', actions)
  root
    .description(
      'A durable scheduler for everything that must happen on time. It can explain why each run did or did not happen.',
    )
    .version(version, '-V, --version', 'Print the version.')
    .addHelpText('after', opening)
  withStore(root, actions)
  for (const entry of localCommands) root.addCommand(beside(entry, actions))
  for (const operation of operations) {
    if (operation.doors.cli !== true) continue
    for (const words of [commandOf(operation), ...(operation.aliases ?? [])]) place(root, words, operation, actions)
  }
  return root
}

const opening = `
Start with:
  belfry up                                                   runs what is due, until Ctrl-C
  belfry schedule create hello --every 10s --command -- date  in another terminal
  belfry explain schedule hello                               why it runs when it does
  belfry doctor                                               whether all is well

The store is the nearest .belfry/belfry.db in this folder or above it, unless --store or BELFRY_STORE names one.
With --server or BELFRY_SERVER, commands go to a server instead, with a token.`

/** Commander's own messages are suppressed: a bad command line is reported like every other error. */
function quiet(command: Command, { write }: Pick<Actions, 'write'>): Command {
  return command
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .configureHelp({
      showGlobalOptions: false,
      subcommandTerm: (each) => each.name(),
      optionDescription: (option) => option.description,
    })
    .helpOption('-h, --help', 'Show help.')
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments(false)
}

/** A command accepts every word typed, so that unknown flags are reported together with all other problems. */
function lenient(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments()
}

const storeOption = ['--store <url>', 'The store: sqlite:PATH, postgres://… or memory:.'] as const

function withStore(command: Command, actions: Actions, store = new Option(...storeOption)): Command {
  const options = [
    store,
    new Option('--schema <name>', 'The PostgreSQL schema. Default: belfry.'),
    new Option('--namespace <name>', 'The tenant. Default: default.'),
    new Option('--server <url>', 'Use a server instead of a store, such as http://127.0.0.1:4747.'),
    new Option(
      '--token-file <path>',
      'The file with the token for the server. Default: BELFRY_TOKEN, then .belfry/token.',
    ),
    new Option('--json', 'Print JSON, and nothing else, on stdout.'),
  ]
  for (const option of options) command.addOption(once(option, actions).helpGroup(everywhere))
  return command
}

/** Whether an option is one of those that every command has: the store or the server. */
export function saysWhere({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading === everywhere
}

/** Adds a verb under its words, and creates the words before it. */
function place(root: Command, words: readonly string[], operation: AnyOperation, actions: Actions): void {
  let parent = root
  for (const word of words.slice(0, -1)) parent = child(parent, word, actions)
  parent.addCommand(verb(words.at(-1) ?? '', operation, actions))
}

/** Words with commands under them: the nouns, and their groups. */
const groups: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.entries(nounEntries).map(([noun, { says, groups: own }]) => ({ ...own, [noun]: says })),
)

function child(parent: Command, word: string, actions: Actions): Command {
  const found = parent.commands.find((each) => each.name() === word)
  if (found !== undefined) return found
  const made = group(word, actions).description(groups[word] ?? '')
  withStore(made, actions)
  parent.addCommand(made)
  return made
}

/** A word with commands under it; the one that is typed is completed before it reads its flags. */
function group(word: string, actions: Actions): Command {
  const command = quiet(new Command(word), actions).usage('COMMAND …')
  return command.hook('preSubcommand', (_, asked) => void finished(asked))
}

function verb(word: string, operation: AnyOperation, actions: Actions): Command {
  const command = new Command(word).description(operation.says)
  // A verb may have others under it: the command of another may begin with its own.
  command.hook('preSubcommand', (_, asked) => void finished(asked))
  return finishLater(command, () => finishVerb(command, operation, actions))
}

function finishVerb(command: Command, operation: AnyOperation, actions: Actions): void {
  lenient(quiet(command, actions))
  const taken = argumentsOf(operation)
  for (const { flag, says } of taken) command.argument(`[${flag.toLowerCase()}]`, says)
  const isOptional = (name: string) => (operation.input.shape[name] as z.ZodType).safeParse(undefined).success
  const usage = taken.map(({ name, flag }) => (isOptional(name) ? `[${flag}]` : flag))
  command.usage([...usage, '[flags]', ...(hasTarget(operation) ? ['[-- PROGRAM ARGUMENT…]'] : [])].join(' '))
  for (const field of fieldsOf(operation)) addField(command, field, actions)
  if (takesIn(operation)) {
    command.addOption(collecting(new Option('--in <duration>', 'The same as --at, as a duration from now.')))
  }
  if (operation.takesAll === true)
    command.addOption(new Option('--all', `Apply the command to all of them, instead of ${usage[0]}.`))
  if (hasTarget(operation)) addTarget(command)
  addManners(command, operation, actions)
  withStore(command, actions)
  // Only for help: examples are costly to spell and rarely shown.
  command.addHelpText('after', () => {
    const examples = operation.examples.map((example) => `  ${commandLine(operation, example)}`)
    return `\nExamples:\n${examples.join('\n')}`
  })
  command.action(() => actions.operation(operation, command))
}

function addField(command: Command, field: Field, actions: Actions): void {
  const { flag, kind, says } = field
  if (kind !== 'boolean') {
    command.addOption(collecting(new Option(`${flag} <${placeholderOf(field)}>`, helpOf(field))))
    return
  }
  const isOnByDefault = says.includes('Default: true.')
  const on = new Option(flag, says)
  const off = new Option(flag.replace('--', '--no-'), `The opposite of ${flag}.`)
  command.addOption(isOnByDefault ? on.hideHelp() : on)
  command.addOption(isOnByDefault ? new Option(off.flags, negated(says)) : off.hideHelp())
  refuseBoth(command, [on, off], actions)
}

/** A flag and its opposite: the last one would win, and the other would be ignored silently. */
function refuseBoth(command: Command, [on, off]: readonly [Option, Option], { misread }: Actions): void {
  const given = new Set<Option>()
  for (const option of [on, off]) {
    command.on(`option:${option.name()}`, () => {
      const isSecond = given.size === 1 && !given.has(option)
      given.add(option)
      if (isSecond) misread({ field: `${off.long}`, problem: `is given beside ${on.long}`, expected: 'one of the two' })
    })
  }
}

/** Rewords "Whether it is tried again. Default: true." for its opposite flag. */
function negated(says: string): string {
  return says.replace(/^Whether (.+?)\. Default: true\.$/, 'Turn off: $1.')
}

/** Every value is kept, so that a flag given twice can be refused. */
function collecting(option: Option): Option {
  return option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
}

/** The last of two values would win, and the other would be ignored silently. */
function once(option: Option, { misread }: Actions): Option {
  if (!option.required) return option
  return option.argParser((text: string, before: string | undefined) => {
    if (before !== undefined)
      misread({ field: `${option.long}`, problem: 'is given more than once', expected: 'it once' })
    return before ?? text
  })
}

function addTarget(command: Command): void {
  for (const { flag, value, says } of targetFlags) {
    const option = new Option(`${flag} ${value}`, says).preset(true as unknown as string)
    command.addOption(collecting(option).helpGroup(ofTarget))
  }
}

function addManners(command: Command, operation: AnyOperation, actions: Actions): void {
  const fields = fieldsOf(operation)
  const add = (flags: string, says: string) => command.addOption(once(new Option(flags, says), actions))
  // A new run has no target when none is named: only a change can remove a field.
  if (fields.some(({ name, isRemovable }) => isRemovable && name !== 'target')) {
    command.addOption(collecting(new Option('--unset <field,field>', 'Remove these fields.')))
  }
  if (operation.effect !== 'read' && fields.length > 1) {
    add('--file <path>', 'Read the input from a JSON file, or - for stdin; flags take precedence.')
  }
  if (operation.rehearses === true) add('--dry-run', 'Show what would be done, and write nothing.')
  if (operation.asksFirst === true) add('-y, --yes', 'Do not ask for confirmation.')
  if (operation.follow !== undefined) add('-f, --follow', 'Follow the output until the run has ended.')
}

function beside(entry: LocalCommand, actions: Actions): Command {
  const { name, says, usage, file, options, storeAlone } = entry
  const command = lenient(quiet(new Command(name), actions))
    .description(says)
    .usage(usage)
  if (file !== undefined) command.argument('[file]', file)
  for (const each of options) command.addOption(once(new Option(each.flags, each.says), actions))
  if (storeAlone !== undefined) command.addOption(new Option(ofStoreFlag).hideHelp())
  withStore(command, actions, storeAlone === undefined ? undefined : new Option('--store [url]', storeAlone))
  return command.action(() => actions.beside(entry, command))
}
