import { Command, Option } from 'commander'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import type { Problem } from '../../operations/problem.ts'
import { nouns, operations } from '../../table.ts'
import { commandLine } from './command-line.ts'
import { argumentsOf, type Field, fieldsOf, helpOf, placeholderOf } from './fields.ts'
import { finished, finishLater } from './finished.ts'
import { hasTarget } from './given.ts'
import { storeTrusted } from './short-forms.ts'
import { targetFlags } from './target-flags.ts'

/** What a command does once it is known what was typed. */
export interface Actions {
  /** Where help and version go. */
  write(text: string): void
  /** Hears of what cannot be meant as it is typed, such as a flag that is given twice; nothing is done then. */
  misread(problem: Problem): void
  operation(operation: AnyOperation, command: Command): Promise<void>
  up(command: Command): Promise<void>
  mcp(command: Command): Promise<void>
  apply(command: Command): Promise<void>
  trust(command: Command): Promise<void>
}

const everywhere = 'Everywhere:'
const ofTarget = 'What it does:'

/**
 * The whole command line, from the table of operations. Beside it stand `up` and `mcp`, which are processes and no verbs,
 * and `apply` and `trust`, which are about a file of this machine.
 */
export function program(version: string, actions: Actions): Command {
  const root = group('belfry', actions)
  root
    .description('One durable scheduler for everything that must happen on time, and that can say why.')
    .version(version, '-V, --version', 'Tells the version.')
    .addHelpText('after', opening)
  withStore(root, actions)
  root.addCommand(up(actions))
  root.addCommand(mcp(actions))
  root.addCommand(apply(actions))
  root.addCommand(trust(actions))
  for (const operation of operations) {
    if (operation.doors.cli !== true) continue
    for (const words of [commandOf(operation), ...(operation.aliases ?? [])]) place(root, words, operation, actions)
  }
  return root
}

const opening = `
Begin with:
  belfry up                                                   runs what is due, until Ctrl-C
  belfry schedule create hello --every 10s --command -- date  in another terminal
  belfry explain schedule hello                               why it runs when it does
  belfry doctor                                               whether all is well

The store is the nearest .belfry/belfry.db upwards from here, unless --store or BELFRY_STORE names one.
With --server or BELFRY_SERVER a server is asked in its place, with a token.`

/** Commander's own messages are not shown: what was typed wrong is told as every other error is. */
function quiet(command: Command, { write }: Pick<Actions, 'write'>): Command {
  return command
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .configureHelp({
      showGlobalOptions: false,
      subcommandTerm: (each) => each.name(),
      optionDescription: (option) => option.description,
    })
    .helpOption('-h, --help', 'Shows this.')
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments(false)
}

/** A command that does something reads all that was typed, so that what it does not have is told with all else that is wrong. */
function lenient(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments()
}

const storeOption = ['--store <url>', 'The store: sqlite:PATH, postgres://… or memory:.'] as const

function withStore(command: Command, actions: Actions, store = new Option(...storeOption)): Command {
  const options = [
    store,
    new Option('--schema <name>', 'The PostgreSQL schema. Default: belfry.'),
    new Option('--namespace <name>', 'The tenant. Default: default.'),
    new Option('--server <url>', 'Asks a server in place of a store, such as http://127.0.0.1:4747.'),
    new Option(
      '--token-file <path>',
      'The file with the token for the server. Default: BELFRY_TOKEN, then .belfry/token.',
    ),
    new Option('--json', 'Answers as JSON, and nothing else on stdout.'),
  ]
  for (const option of options) command.addOption(once(option, actions).helpGroup(everywhere))
  return command
}

/** Whether an option says where the store is, or who is asked, as those that every command has do. */
export function saysWhere({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading === everywhere
}

/** Puts a verb where its words lead, and makes the words before it on the way. */
function place(root: Command, words: readonly string[], operation: AnyOperation, actions: Actions): void {
  let parent = root
  for (const word of words.slice(0, -1)) parent = child(parent, word, actions)
  parent.addCommand(verb(words.at(-1) ?? '', operation, actions))
}

/** Words that are no nouns, and have commands under them. */
const groups: Readonly<Record<string, string>> = {
  explain: 'Tells why.',
  policy: 'The rules of a queue.',
  import: 'Takes over what another scheduler has.',
}

function child(parent: Command, word: string, actions: Actions): Command {
  const found = parent.commands.find((each) => each.name() === word)
  if (found !== undefined) return found
  const says = word in nouns ? nouns[word as keyof typeof nouns].says : (groups[word] ?? '')
  const made = group(word, actions).description(says)
  withStore(made, actions)
  parent.addCommand(made)
  return made
}

/** A word with commands under it: the one that is asked for is finished before it reads what was typed. */
function group(word: string, actions: Actions): Command {
  const command = quiet(new Command(word), actions).usage('COMMAND …')
  return command.hook('preSubcommand', (_, asked) => void finished(asked))
}

function verb(word: string, operation: AnyOperation, actions: Actions): Command {
  const command = new Command(word).description(operation.says)
  // A verb may have others under it, such as `notify` and `notify test`.
  command.hook('preSubcommand', (_, asked) => void finished(asked))
  return finishLater(command, () => finishVerb(command, operation, actions))
}

function finishVerb(command: Command, operation: AnyOperation, actions: Actions): void {
  lenient(quiet(command, actions))
  const taken = argumentsOf(operation)
  for (const { flag, says } of taken) command.argument(`[${flag.toLowerCase()}]`, says)
  const usage = taken.map(({ flag }) => flag)
  command.usage([...usage, '[flags]', ...(hasTarget(operation) ? ['[-- PROGRAM ARGUMENT…]'] : [])].join(' '))
  for (const field of fieldsOf(operation)) addField(command, field, actions)
  if ('at' in operation.input.shape) {
    command.addOption(collecting(new Option('--in <duration>', 'The same as --at, so long from now.')))
  }
  if (hasTarget(operation)) addTarget(command)
  addManners(command, operation, actions)
  withStore(command, actions)
  // Spelled only for whoever asks for help: nearly nobody does.
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

/** Yes and no at once: the last would win, and the other would be dropped without a word. */
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

/** "Whether it is tried again …" of the flag that says no. */
function negated(says: string): string {
  return says.replace(/^Whether (.+?)\. Default: true\.$/, 'Says no to: $1.')
}

/** All that is given is kept, so that what is given twice can be refused. */
function collecting(option: Option): Option {
  return option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
}

/** Of what is given twice the last would win, and the other would be dropped without a word. */
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
  // A run without a target says so by naming none: only what can be changed can be taken away.
  if (fields.some(({ name, isRemovable }) => isRemovable && name !== 'target')) {
    command.addOption(collecting(new Option('--unset <field,field>', 'Takes these fields away.')))
  }
  if (operation.effect !== 'read' && fields.length > 1) {
    add('--file <path>', 'Reads the input from a JSON file, - for what is piped in; flags go before it.')
  }
  if (operation.rehearses === true) add('--dry-run', 'Tells what it would do, and does nothing.')
  if (asksFirst(operation)) add('-y, --yes', 'Does not ask whether you mean it.')
  if (isFollowable(operation)) add('-f, --follow', 'Goes on as more is put out, until the run has ended.')
}

/** What is hard to get back is asked about. A run that is cancelled was named by an id that nobody types by mistake. */
export function asksFirst({ effect, noun, verb }: AnyOperation): boolean {
  return effect === 'destructive' && (noun === 'schedule' || verb === 'delete')
}

export function isFollowable({ noun, verb }: AnyOperation): boolean {
  return noun === 'run' && verb === 'output'
}

function mcp(actions: Actions): Command {
  const command = lenient(quiet(new Command('mcp'), actions))
    .description('Serves the verbs to an AI agent at stdin and stdout, as a Model Context Protocol server.')
    .usage('[flags]')
  const options = [
    new Option(
      '--scope <read|operate|admin>',
      'What the agent may do; each includes those before it. Default: operate.',
    ),
    new Option('--read-only', 'The same as --scope read.'),
    new Option(
      '--tools <SET|NAME,…>',
      'The tools to offer: default, all, a noun such as routine, or names of tools. Default: default.',
    ),
  ]
  for (const option of options) command.addOption(once(option, actions))
  withStore(command, actions)
  return command.action(() => actions.mcp(command))
}

const fileArgument = 'The file. Default: belfry.yaml beside the store’s folder, or here.'

function apply(actions: Actions): Command {
  const command = lenient(quiet(new Command('apply'), actions))
    .description('Makes queues, schedules and scopes be as a file says, all of it or nothing; says what changed.')
    .usage('[FILE] [flags]')
    .argument('[file]', fileArgument)
  const options = [
    new Option('--dry-run', 'Tells what it would do, and does nothing.'),
    new Option('-y, --yes', 'Deletes more than half of what the source of the file made, if it says so.'),
    new Option('--adopt', 'Takes over schedules that were made by hand and say something else.'),
  ]
  for (const option of options) command.addOption(once(option, actions))
  withStore(command, actions)
  return command.action(() => actions.apply(command))
}

function trust(actions: Actions): Command {
  const command = lenient(quiet(new Command('trust'), actions))
    .description('Trust the programs that a file in a checked-out tree would start, as it says now; or the store.')
    .usage('[FILE | --store [URL]] [flags]')
    .argument('[file]', fileArgument)
  command.addOption(new Option(storeTrusted).hideHelp())
  withStore(
    command,
    actions,
    new Option('--store [url]', 'Trust this store in place of a file. Default: the store that commands use here.'),
  )
  return command.action(() => actions.trust(command))
}

function up(actions: Actions): Command {
  const command = lenient(quiet(new Command('up'), actions))
    .description('Becomes a worker: fires what is due and executes it, until Ctrl-C.')
    .usage('[flags]')
  const options = [
    new Option('--once', 'Work off all that is due, then end; exit 1 when a run failed or was parked.'),
    new Option(
      '--for <duration>',
      'With --once: wait for retries and delayed runs due within this time. Default: none.',
    ),
    new Option('--keep-going', 'With --once: exit 0 also when runs failed or were parked.'),
    new Option('--slots <n>', 'How many runs at once. Default: as many as the queues allow.'),
    new Option('--queues <a,b>', 'Only runs of these queues; notices go through the queue notices.'),
    new Option('--grace <duration>', 'How long what is at work may take to end. Default: 25s.'),
    new Option('--name <text>', 'Names this worker for people.'),
    new Option('--allow-private', 'Lets HTTP targets call private networks.'),
    new Option('--allow-hosts <a,b>', 'Hosts that HTTP targets may call whatever their addresses are.'),
    new Option('--refuse-loopback', 'Keeps HTTP targets from calling this machine.'),
    new Option('--listen <address>', 'Where the HTTP door is, or none. Default: 127.0.0.1:4747.'),
    new Option('--behind-proxy', 'Listens beyond this machine too, for a proxy with TLS in front of it.'),
    new Option('--hosts <a,b>', 'More hosts that requests may be addressed to, as the proxy hands them on.'),
    new Option('--config <file>', 'The file that looks after queues and schedules, or none. Default: belfry.yaml.'),
    new Option('--quiet', 'Tells only what goes wrong.'),
  ]
  for (const option of options) command.addOption(once(option, actions))
  withStore(command, actions)
  return command.action(() => actions.up(command))
}
