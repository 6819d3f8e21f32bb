import { BelfryError } from '../../core/error.ts'
import type { EndFacts } from '../../core/run/expect.ts'
import type { Target } from '../../core/target.ts'
import type { Attempt, Ended, Execute } from '../attempt.ts'
import type { MessageOf } from '../message.ts'
import { redact } from '../redact.ts'
import { type Secret, type SecretResolver, secretResolver } from '../secret.ts'
import { type CommandTarget, commandTargetProblems } from './command-target.ts'
import { type Environment, environmentOf } from './environment.ts'
import { listen } from './output-stream.ts'
import { withResultFile } from './result-file.ts'
import { type Program, startProblem } from './start-problem.ts'
import { type Exit, type Started, start } from './start-program.ts'
import { Tail } from './tail.ts'
import { Tether } from './tether.ts'

export interface CommandOptions {
  /** Resolves `{ secret: 'NAME' }`; default: `environment` alone. */
  readonly secrets?: SecretResolver | undefined
  /** How long a program may take after TERM before it is killed. */
  readonly killAfterMs?: number | undefined
  /** Belfry's own environment, of which a program gets very little. */
  readonly environment?: Environment | undefined
  /** The messages that runs of parts send. Default: none. */
  readonly messageOf?: MessageOf | undefined
}

const killAfterMsDefault = 5_000
/** Text rules read the end of stdout: that is where programs report their result. */
const textLengthMax = 100 * 1024

/**
 * Runs programs. An attempt is over when the program has ended and its process group is empty: an ended run leaves nothing
 * behind, so remaining processes are ended too, and a child that keeps the output open does not keep the run open.
 */
export function commandExecutor(options: CommandOptions = {}): Execute {
  const { killAfterMs = killAfterMsDefault, environment = process.env } = options
  const resolver = options.secrets ?? secretResolver({ env: environment, folder: null })
  const tether = new Tether()
  const begin = async (attempt: Attempt, file: string): Promise<Begun | Ended> => {
    try {
      const { program, secrets } = await prepared(attempt, resolver, { own: environment, file })
      if (attempt.signal.aborted) throw new BelfryError('unavailable', 'It was stopped before it began.')
      const input = inputOf(attempt, options.messageOf)
      return { started: await start({ program, input, tether, killAfterMs }), secrets }
    } catch (error) {
      return notBegun(error)
    }
  }
  return (attempt) =>
    withResultFile(async (file) => {
      const startedMs = attempt.clock.monotonic()
      const begun = await begin(attempt, file.path)
      if ('facts' in begun) return begun
      const { exit, text } = await attended(attempt, begun).finally(() => tether.letGo(begun.started.group.id))
      const durationMs = Math.round(attempt.clock.monotonic() - startedMs)
      let unread: Pick<EndFacts, 'incomplete'> = {}
      const written = await file.read(begun.secrets, (why) => {
        unread = { incomplete: why }
        attempt.output(`\n[belfry: ${why}]\n`)
      })
      if (written === null) return { facts: { ...exit, ...text, ...unread }, result: { ...exit, durationMs } }
      const whole = { ...exit, ...text, json: written.value, incomplete: undefined }
      return { facts: whole, result: written.value }
    }, attempt.answerBytesMax)
}

/** What the program reads on stdin: the payload, or the message that is made from it. */
function inputOf(attempt: Attempt, messageOf: MessageOf | undefined): string | null {
  if (attempt.payload === undefined) return null
  const message = messageOf?.(attempt) ?? null
  return JSON.stringify(message === null ? attempt.payload : message.json)
}

interface Begun {
  readonly started: Started
  readonly secrets: readonly Secret[]
}

/**
 * Nothing was begun, so a retry does no harm, and it may succeed: a deployment may bring the program, or an
 * operator the secret.
 */
function notBegun(error: unknown): Ended {
  if (!(error instanceof BelfryError)) throw error
  return { facts: { error: error.message, retryable: error.code !== 'invalid' } }
}

interface Prepared {
  readonly program: Program
  readonly secrets: readonly Secret[]
}

interface Surroundings {
  readonly own: Environment
  /** Where the program may write its result. */
  readonly file: string
}

async function prepared(attempt: Attempt, resolver: SecretResolver, { own, file }: Surroundings): Promise<Prepared> {
  const { command, cwd = process.cwd(), env = {} } = checked(attempt.target)
  // After `--` a line that begins with a dash is not an option of the shell.
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', '--', command] : command
  const { value, secrets } = await resolver.resolve({ argv, env })
  const filled = value as { argv: Program['argv']; env: Record<string, string> }
  const program = { argv: filled.argv, cwd, environment: environmentOf(attempt, filled.env, own, file) }
  const problem = await startProblem(program)
  if (problem !== null) throw new BelfryError('unavailable', redact(problem, secrets))
  return { program, secrets }
}

/** A target was validated when it was written, but perhaps by a version with other rules. */
function checked(target: Target): CommandTarget {
  const [wrong] = commandTargetProblems(target)
  if (wrong === undefined) return target as unknown as CommandTarget
  throw new BelfryError('invalid', `The target's ${wrong.field} ${wrong.problem}; it needs ${wrong.expected}.`)
}

interface Attended {
  readonly exit: Exit
  readonly text: Pick<EndFacts, 'text' | 'json' | 'incomplete'>
}

/** Passes on the program's output, ends it when the attempt is told to stop, and waits until nothing of it is left. */
async function attended(attempt: Attempt, { started, secrets }: Begun): Promise<Attended> {
  const { stdout, stderr, group, exited } = started
  const tail = new Tail(attempt.answerBytesMax ?? textLengthMax)
  const drained = () => attempt.drained()
  const say = (text: string) => attempt.output(text)
  const keep = (text: string) => {
    tail.add(text)
    say(text)
  }
  const streams = [
    listen({ stream: stdout, secrets, say: keep, drained }),
    listen({ stream: stderr, secrets, say, drained }),
  ]
  const stop = () => group.end()
  attempt.signal.addEventListener('abort', stop)
  if (attempt.signal.aborted) stop()
  const exit = await exited
  const isGone = await group.endRest()
  attempt.signal.removeEventListener('abort', stop)
  await Promise.all(streams.map((stream) => stream.finish()))
  if (!isGone) say(`\n[belfry: processes of group ${group.id} could not be ended and may still run]\n`)
  return { exit, text: textFacts(tail) }
}

function textFacts({ text, isCut }: Tail): Attended['text'] {
  if (isCut) return { text, incomplete: 'stdout is longer than what is kept of it' }
  try {
    return { text, json: JSON.parse(text) }
  } catch {
    // Not a problem: most programs do not print JSON.
    return { text }
  }
}
