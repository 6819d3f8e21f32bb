import { type Command, CommanderError } from 'commander'
import { BelfryError } from '../../core/error.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { type Problem, refusal } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { isRunToken } from '../mcp/in-run.ts'
import { confirm } from './confirm.ts'
import { inputOf, optionName, type Typed } from './parse/command-input.ts'
import { finished } from './parse/lazy-command.ts'
import { typedError } from './parse/parse-error.ts'
import { program } from './parse/program.ts'
import { Texts } from './parse/read-value.ts'
import { performLocal, refusalOfLine } from './parse/refused-command.ts'
import { shortened } from './parse/short-forms.ts'
import { sortedOut, withoutBare, withoutLeading } from './parse/unknown-flags.ts'
import { destinationOf, openFor } from './session/open-session.ts'
import { asError, errorJson, errorText, exitOf } from './show/error-text.ts'
import { followOutput } from './show/follow-output.ts'
import { type Reader, readerOf } from './show/output-reader.ts'
import { withProgress } from './show/progress.ts'
import { noteSurroundings, showAnswer } from './show/show-answer.ts'
import { isColoured, paintOf, printable } from './show/terminal-sheet.ts'
import { namingIn, spelled } from './spelling/spelling.ts'
import { endingBySignals } from './stop-signals.ts'
import type { Session, World } from './world.ts'

/** Reads a command line, executes it, and returns the exit code. */
export async function main(argv: readonly string[], world: World, version: string): Promise<number> {
  const cut = argv.indexOf('--')
  const typed = shortened(cut < 0 ? argv : argv.slice(0, cut))
  const words = cut < 0 ? [] : argv.slice(cut + 1)
  const reader = readerOf([world.stdout, world.stderr])
  return attempt({ typed, words, bare: [] }, { world, reader }, version)
}

/** A command line, and its final flag that lacks a value. */
interface Line {
  readonly typed: readonly string[]
  /** The words after `--`. */
  readonly words: readonly string[]
  readonly bare: readonly Problem[]
}

async function attempt({ typed, words, bare }: Line, around: CommandStreams, version: string): Promise<number> {
  const { world, reader } = around
  let exit: number = exitOk
  let asked: AnyOperation | undefined
  const misread: Problem[] = [...bare]
  /** The input of a command; its problems are reported with all others. */
  const sorted = (command: Command) => {
    const { args, doubtful, problems } = sortedOut(command, typed)
    return { args, doubtful, problems: [...misread, ...problems], options: command.optsWithGlobals() }
  }
  const root = program(version, {
    write: (text) => world.stdout.write(spelled(text, world.own, namingIn(typed))),
    misread: (problem) => misread.push(problem),
    async operation(operation, command) {
      asked = operation
      exit = await callOperation(operation, { ...sorted(command), words }, around)
    },
    async beside({ name, load, inRun }, command) {
      if (words.length > 0) {
        const hint = 'To run a program, create a schedule or enqueue a run: `belfry run enqueue -- PROGRAM`.'
        throw new BelfryError('invalid', `${name} takes no words after --.`, { hint })
      }
      if (inRun !== true && isRunToken(world.env.BELFRY_TOKEN)) throw closedToRuns(name)
      const perform = await load()
      exit = await performLocal(sorted(command), ({ options, file, isJudged }) =>
        perform({ ...options, ...(file !== undefined && { file }) }, { world, reader, isJudged }),
      )
    },
  })
  try {
    await root.parseAsync(typed, { from: 'user' })
    await reader.refuseLoss()
    return exit
  } catch (thrown) {
    const mended = withoutBare(thrown, typed) ?? (isUnknownFlag(thrown) ? withoutLeading(root, typed) : null)
    if (mended === null) return refused(thrown, { root, typed, asked, bare, world })
    return attempt({ typed: shortened(mended.typed), words, bare: [...bare, ...mended.problems] }, around, version)
  }
}

function closedToRuns(name: string): BelfryError {
  return new BelfryError('not-allowed', `The token in BELFRY_TOKEN is that of a run, and not for \`belfry ${name}\`.`, {
    hint: 'An agent plans tasks of its own with it, and reads its messages: see docs/agents.md. Ask a person for the rest.',
    details: { caller: 'agent' },
  })
}

/** Only the words before a command refuse unknown flags; a command reads them itself. */
function isUnknownFlag(thrown: unknown): boolean {
  return thrown instanceof CommanderError && thrown.code === 'commander.unknownOption'
}

interface Refusal {
  readonly root: Command
  readonly typed: readonly string[]
  readonly asked: AnyOperation | undefined
  readonly bare: readonly Problem[]
  readonly world: World
}

function refused(caught: unknown, { root, typed, asked, bare, world }: Refusal): number {
  const isHelp = caught instanceof CommanderError && (caught.exitCode === 0 || caught.code === 'commander.help')
  const command = commandIn(root, typed)
  // A truncated line is no request for help.
  const thrown = isHelp && bare.length > 0 ? refusal('The command', bare) : caught
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitOk
  // A noun alone shows its help.
  if (thrown instanceof CommanderError && thrown.code === 'commander.help') {
    command.outputHelp()
    return exitOk
  }
  const error = thrown instanceof CommanderError ? typedError(thrown, command, bare) : asError(thrown)
  const { stderr, env, own } = world
  const paint = paintOf(isColoured(stderr, env))
  const spell = (hint: string) => spelled(hint, own, namingIn(typed))
  const text = typed.includes('--json')
    ? errorJson(error, spell)
    : errorText(error, { operation: asked, typed, spell }, paint)
  stderr.write(`${printable(text)}\n`)
  if (error.code === 'failure' && error.cause instanceof Error && env.BELFRY_DEBUG === '1') {
    stderr.write(`${error.cause.stack}\n`)
  }
  return exitOf(error)
}

/** The command that the words lead to, as far as they do. */
function commandIn(root: Command, typed: readonly string[]): Command {
  let command = root
  for (const word of typed) {
    const found = command.commands.find((each) => each.name() === word)
    if (found !== undefined) command = finished(found)
  }
  return command
}

interface CommandStreams {
  readonly world: World
  readonly reader: Reader
}

async function callOperation(operation: AnyOperation, typed: Typed, around: CommandStreams): Promise<number> {
  const { world } = around
  const { options } = typed
  const asked = await inputOf(operation, typed, new Texts(world), world.clock.now())
  const { input } = asked
  noteFlagsBehind(typed, world)
  if (asked.problems.length > 0) throw await refusalOfLine({ operation, asked, options }, world)
  const where = destinationOf(options, world)
  if (operation.asksFirst === true && options.yes !== true && options.dryRun !== true) {
    await confirm(questionOf(operation, input), world)
  }
  const session = await withProgress(world, 'opening the store', openFor({ operation, where, options }, world))
  const ending = endingBySignals()
  ending.onSecond((exit) => process.exit(exit))
  try {
    const interrupted = ending.first
    return await Promise.race([interrupted, perform({ operation, input, session, options, interrupted }, around)])
  } finally {
    // Also when interrupted: an unclosed SQLite store is recovered by the next process that opens it.
    await session.close()
    ending.forget()
  }
}

/** A Belfry flag after `--` may be the program's own, so it is not refused; but most often it was meant for Belfry. */
function noteFlagsBehind({ words, options }: Typed, { stderr, env }: World): void {
  const behind = ['--dry-run', '--json'].filter(
    (flag) => words.includes(flag) && options[optionName(flag)] === undefined,
  )
  if (behind.length === 0) return
  const says = `${behind.join(' and ')} comes after --, so the program gets it. Put flags for Belfry before --.`
  stderr.write(`${paintOf(isColoured(stderr, env)).yellow('note:')} ${says}\n`)
}

/** "Delete schedule nightly?" */
function questionOf({ noun, verb, takes }: AnyOperation, input: Readonly<Record<string, unknown>>): string {
  const subject = takes.map((name) => String(input[name])).join(' ')
  return `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${noun} ${subject}?`
}

interface Performance {
  readonly operation: AnyOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly session: Session
  readonly options: Typed['options']
  readonly interrupted: Promise<unknown>
}

async function perform(asked: Performance, { world, reader }: CommandStreams): Promise<number> {
  const { operation, input, session, options, interrupted } = asked
  const words = commandOf(operation).join(' ')
  // Report a missing worker before a wait that would never end.
  if (operation.waits === true || options.follow === true) await noteSurroundings(asked, world, { saysPlace: false })
  if (options.follow === true) return followOutput(asked, { world, reader, isJson: options.json === true })
  const work = session.call(operation, input, { isRehearsal: options.dryRun === true })
  await withProgress(world, words, Promise.race([work, interrupted]))
  const answer = await work
  await showAnswer({ operation, input, answer, session, options }, world)
  return operation.isOk?.(answer) === false ? 1 : exitOk
}
