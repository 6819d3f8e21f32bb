import { text } from 'node:stream/consumers'
import { parseDuration } from '../../../core/duration.ts'
import { BelfryError } from '../../../core/error.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { CommandContext, Flags } from '../../../doors/cli/part.ts'
import { destinationOf, openFor } from '../../../doors/cli/session/open-session.ts'
import type { Session, World } from '../../../doors/cli/world.ts'
import { isRunToken } from '../../../doors/mcp/in-run.ts'
import { waitMsMax } from '../../../operations/input/wait-input.ts'
import { ack } from './end-verbs.ts'
import type { Message } from './message-answer.ts'
import { next } from './next-message.ts'

export const hookNames = ['claude-stop', 'codex'] as const

/** After any other exit code an agent goes on, and shows the hook's stderr. */
const exits = { stopped: 0, problem: 1, woken: 2 } as const
/** Shorter than the 10 minutes after which agents kill their hooks. */
const rewakeWaitMs = 570_000

/** What both agents pass to their Stop hooks on stdin. */
interface Stop {
  readonly session: string
  readonly folder: string
}

/**
 * Hands the next message to the session of an agent that is about to stop. `claude-stop` and `codex` answer on stdout as the documentation
 * of these agents requires: the session goes on with the message as its reason. With `--rewake` the hook runs in the background of an idle
 * session, and wakes the session by exit code 2 with the message on stderr.
 */
export async function hook(flags: Flags, { world, isJudged }: CommandContext): Promise<number> {
  // An agent in a run has its prompt. Messages are for live sessions, and its token reads none of theirs.
  if (isJudged || isRunToken(world.env.BELFRY_TOKEN)) return exits.stopped
  try {
    return await handOver(flags, world)
  } catch (error) {
    // A hook that fails must not keep the agent from stopping. A folder without a store has no messages.
    if (error instanceof BelfryError && error.code === 'not-found') return exits.stopped
    world.stderr.write(`belfry hook: ${error instanceof Error ? error.message : String(error)}\n`)
    return exits.problem
  }
}

async function handOver(flags: Flags, world: World): Promise<number> {
  const { rewake, wait } = readFlags(flags)
  const { session, folder } = stopOf(await text(world.stdin), world.folder)
  const inside = { ...world, folder }
  const opened = await openFor({ operation: next, where: destinationOf(flags, inside), options: flags }, inside)
  try {
    const message = await nextOf(
      opened,
      { session, project: folder },
      rewake ? world.clock.monotonic() + wait : null,
      world,
    )
    if (message === null) return exits.stopped
    // Acknowledged last: if this process dies before that, the message is handed over again.
    if (rewake) world.stderr.write(`${message.text}\n`)
    else world.stdout.write(`${JSON.stringify({ decision: 'block', reason: message.text })}\n`)
    await opened.call(ack, { message: message.id })
    return rewake ? exits.woken : exits.stopped
  } finally {
    await opened.close()
  }
}

async function nextOf(
  opened: Session,
  asked: { readonly session: string; readonly project: string },
  until: number | null,
  { clock }: World,
): Promise<Message | null> {
  for (;;) {
    const leftMs = until === null ? 0 : Math.min(waitMsMax, Math.floor(until - clock.monotonic()))
    const { message } = await opened.call(next, { ...asked, ...(leftMs > 0 && { waitMs: leftMs }) })
    if (message !== null || leftMs <= 0) return message
  }
}

function readFlags({ file, rewake, wait }: Flags): { readonly rewake: boolean; readonly wait: number } {
  if (!hookNames.some((name) => name === file))
    throw wrong(`${String(file ?? 'none')} is no hook`, hookNames.join(' or '))
  if (rewake === true && file === 'codex') throw wrong('--rewake is given for codex', 'it for claude-stop only')
  if (wait !== undefined && rewake !== true) throw wrong('--wait is given without --rewake', 'both, or neither')
  return { rewake: rewake === true, wait: wait === undefined ? rewakeWaitMs : parseDuration(String(wait)) }
}

function stopOf(given: string, folder: string): Stop {
  const read = parsed(given)
  const { session_id: session, cwd = folder } = isRecord(read) ? read : {}
  if (typeof session === 'string' && session !== '' && typeof cwd === 'string') return { session, folder: cwd }
  throw wrong('stdin has no session_id', 'the JSON that the agent gives its Stop hooks')
}

function parsed(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch {
    return undefined
  }
}

function wrong(problem: string, expected: string): BelfryError {
  return new BelfryError('invalid', `${problem}; it needs ${expected}.`)
}
