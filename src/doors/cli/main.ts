import { type Command, CommanderError } from 'commander'
import { BelfryError } from '../../core/error.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { type Problem, refusal } from '../../operations/problem.ts'
import { confirm } from './confirm.ts'
import { finished } from './finished.ts'
import { followOutput } from './follow.ts'
import { inputOf, optionName, type Typed } from './given.ts'
import { mcp } from './mcp.ts'
import { openFor, whereOf } from './open.ts'
import { asksFirst, program } from './program.ts'
import { withProgress } from './progress.ts'
import { Texts } from './read-value.ts'
import { type Reader, readerOf } from './reader.ts'
import { type Beside, besideVerbs, refusalOfLine } from './refused-line.ts'
import { asError, errorJson, errorText, exitOf } from './say-error.ts'
import { isColoured, paintOf, printable } from './sheet.ts'
import { shortened } from './short-forms.ts'
import { exitOfAnswer } from './show/all.ts'
import { endingBySignals } from './signals.ts'
import { namingIn, spelled } from './spelling.ts'
import { sortedOut, withoutBare } from './strays.ts'
import { noteSurroundings, tell } from './tell.ts'
import { typedError } from './typed-error.ts'
import { up } from './up.ts'
import type { Session, World } from './world.ts'

/** Reads a command line, does what it asks for, and answers with the exit code. */
export async function main(argv: readonly string[], world: World, version: string): Promise<number> {
  const cut = argv.indexOf('--')
  const typed = shortened(cut < 0 ? argv : argv.slice(0, cut))
  const words = cut < 0 ? [] : argv.slice(cut + 1)
  const reader = readerOf([world.stdout, world.stderr])
  return attempt({ typed, words, bare: [] }, { world, reader }, version)
}

/** A command line, and what stood in it without the value that it needs. */
interface Line {
  readonly typed: readonly string[]
  /** What stands behind `--`. */
  readonly words: readonly string[]
  readonly bare: readonly Problem[]
}

async function attempt({ typed, words, bare }: Line, around: Around, version: string): Promise<number> {
  const { world, reader } = around
  let exit: number = exitOk
  let asked: AnyOperation | undefined
  const misread: Problem[] = [...bare]
  /** What a command has of the line; the problems are told with all else that is wrong. */
  const sorted = (command: Command) => {
    const { args, doubtful, problems } = sortedOut(command, typed)
    return { args, doubtful, problems: [...misread, ...problems], options: command.optsWithGlobals() }
  }
  const beside = (command: Command, act: Beside) => besideVerbs(sorted(command), act)
  const root = program(version, {
    write: (text) => world.stdout.write(spelled(text, world.own, namingIn(typed))),
    misread: (problem) => misread.push(problem),
    async operation(operation, command) {
      asked = operation
      exit = await callOperation(operation, { ...sorted(command), words }, around)
    },
    async up(command) {
      if (words.length > 0) {
        const hint = 'What it executes is created or enqueued in another terminal: `belfry run enqueue -- PROGRAM`.'
        throw new BelfryError('invalid', 'up takes no words behind --.', { hint })
      }
      exit = await beside(command, ({ options, isJudged }) => up(options, { world, reader, isJudged }))
    },
    async mcp(command) {
      exit = await beside(command, ({ options, isJudged }) => mcp(options, { world, isJudged }))
    },
    async apply(command) {
      // What reads files is loaded only for those who apply one.
      const { apply } = await import('./apply.ts')
      exit = await beside(command, ({ options, file, isJudged }) => apply({ ...options, file }, { world, isJudged }))
    },
    async trust(command) {
      const { trust } = await import('./trust.ts')
      const isOfStore = command.opts().ofStore === true
      exit = await beside(command, ({ options, file, isJudged }) =>
        trust({ ...options, file, isOfStore }, { world, isJudged }),
      )
    },
  })
  try {
    await root.parseAsync(typed, { from: 'user' })
    await reader.refuseLoss()
    return exit
  } catch (thrown) {
    const without = withoutBare(thrown, typed)
    if (without === null) return refused(thrown, { root, typed, asked, bare, world })
    return attempt({ typed: without.typed, words, bare: [...bare, without.problem] }, around, version)
  }
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
  // A line that was cut short asks for no help by that.
  const thrown = isHelp && bare.length > 0 ? refusal('The command', bare) : caught
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitOk
  const command = commandIn(root, typed)
  // A noun alone asks what can be done with it.
  if (thrown instanceof CommanderError && thrown.code === 'commander.help') {
    command.outputHelp()
    return exitOk
  }
  const error = thrown instanceof CommanderError ? typedError(thrown, command) : asError(thrown)
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

interface Around {
  readonly world: World
  readonly reader: Reader
}

async function callOperation(operation: AnyOperation, typed: Typed, around: Around): Promise<number> {
  const { world } = around
  const { options } = typed
  const asked = await inputOf(operation, typed, new Texts(world), world.clock.now())
  const { input } = asked
  noteFlagsBehind(typed, world)
  if (asked.problems.length > 0) throw await refusalOfLine({ operation, asked, options }, world)
  const where = whereOf(options, world)
  if (asksFirst(operation) && options.yes !== true && options.dryRun !== true) {
    await confirm(questionOf(operation, input), world)
  }
  const session = await withProgress(world, 'opening the store', openFor({ operation, input, where, options }, world))
  const ending = endingBySignals()
  ending.onSecond((exit) => process.exit(exit))
  try {
    const interrupted = ending.first
    return await Promise.race([interrupted, perform({ operation, input, session, options, interrupted }, around)])
  } finally {
    // Also when it is interrupted: a store that nobody closed is read from end to end by whoever opens it next.
    await session.close()
    ending.forget()
  }
}

/** A flag of ours behind `--` may be the program's own, so it is not refused; but most often it was meant for us. */
function noteFlagsBehind({ words, options }: Typed, { stderr, env }: World): void {
  const behind = ['--dry-run', '--json'].filter(
    (flag) => words.includes(flag) && options[optionName(flag)] === undefined,
  )
  if (behind.length === 0) return
  const says = `${behind.join(' and ')} stands behind --, so the program gets it. What is meant for Belfry stands before.`
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

async function perform(asked: Performance, { world, reader }: Around): Promise<number> {
  const { operation, input, session, options, interrupted } = asked
  const words = commandOf(operation).join(' ')
  // Whoever waits for what nobody will do should not learn it by waiting.
  if (waits(words, options)) await noteSurroundings(asked, world, { saysPlace: false })
  if (options.follow === true) return followOutput(input, { session, world, reader, isJson: options.json === true })
  const work = session.call(operation, input, { isRehearsal: options.dryRun === true })
  await withProgress(world, words, Promise.race([work, interrupted]))
  const answer = await work
  await tell({ operation, input, answer, session, options }, world)
  return exitOfAnswer(words, answer)
}

function waits(words: string, { follow }: Typed['options']): boolean {
  return words === 'run wait' || follow === true
}
