import { BelfryError } from '../../../core/error.ts'
import { type Problem, refusal, storeProblems } from '../../../operations/input/refuse-input.ts'
import { type ReadRequest, refusalOf } from '../../../operations/input/unreadable-input.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { type Destination, destinationOf, openFor } from '../session/open-session.ts'
import { withProgress } from '../show/progress.ts'
import type { Session, World } from '../world.ts'
import { fieldsAbout, type Typed } from './command-input.ts'

const subject = 'The command'

interface Line {
  readonly operation: AnyOperation
  readonly asked: ReadRequest
  readonly options: Typed['options']
}

/** Refuses a command line that could not be read completely, together with the problems that the verb finds in the rest. The verb runs as a dry run, which creates no store; when the store or the server cannot be reached, on a store in memory. */
export async function refusalOfLine({ operation, asked, options }: Line, world: World): Promise<BelfryError> {
  const { where, problems: misplaced } = placedBy(options, world)
  const problems = [...asked.problems, ...misplaced]
  const about = fieldsAbout(operation, asked.problems)
  const inMemory = () => world.open({ store: 'memory:' })
  const open = () => {
    if (where === null) return inMemory()
    const rehearsal = { operation, input: asked.input, where, options: { ...options, dryRun: true } }
    return openFor(rehearsal, world).catch(inMemory)
  }
  const call = async (input: Record<string, unknown>) => {
    const isAnswered = (error: unknown) => where?.server == null || isInvalid(error)
    const asking = calling({ operation, input }, withProgress<Session>(world, 'opening the store', open()))
    return asking.catch((error) => {
      if (isAnswered(error)) throw error
      return calling({ operation, input }, inMemory())
    })
  }
  return refusalOf({ input: asked.input, problems }, { call, about, subject })
}

async function calling(
  { operation, input }: { readonly operation: AnyOperation; readonly input: unknown },
  opening: Promise<Session>,
): Promise<unknown> {
  const session = await opening
  try {
    return await session.call(operation, input, {})
  } finally {
    await session.close()
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof BelfryError && error.code === 'invalid'
}

/** Where the line leads, or the problems of its store or server flags. */
function placedBy(
  options: Typed['options'],
  world: World,
): { where: Destination | null; problems: readonly Problem[] } {
  try {
    return { where: destinationOf(options, world), problems: [] }
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    return { where: null, problems: storeProblems(error) ?? [] }
  }
}

interface Sorted {
  readonly args: readonly string[]
  readonly problems: readonly Problem[]
  readonly options: Typed['options']
}

/** The input of a command that is no verb. When it is only checked, it executes nothing. */
interface Judging {
  readonly options: Typed['options']
  readonly file: string | undefined
  readonly isJudged: boolean
}

type LocalAction = (judging: Judging) => Promise<number>

/** Runs a command that is no verb. A line that is refused anyway is only checked, and all its problems are reported. */
export async function performLocal({ args, problems, options }: Sorted, act: LocalAction): Promise<number> {
  const isJudged = problems.length > 0
  const judging = { options, file: args[0], isJudged }
  if (!isJudged) return act(judging)
  const found = await act(judging).then(
    () => [],
    (error: unknown) => {
      if (error instanceof BelfryError) return storeProblems(error) ?? aboutFile(error)
      throw error
    },
  )
  throw refusal(subject, [...problems, ...found])
}

/** An unreadable file has one problem as a whole. */
function aboutFile({ hint, details = {} }: BelfryError): Problem[] {
  const { file, problem } = details
  if (typeof file !== 'string' || typeof problem !== 'string') return []
  return [{ field: file, problem, expected: hint ?? 'a file that can be applied' }]
}
