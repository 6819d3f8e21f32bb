import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../../../core/clock.ts'
import type { ConnectedModel, Flags, ModelPart } from '../../../doors/cli/part.ts'
import type { StoreSession, World } from '../../../doors/cli/world.ts'
import type { Begun, Behind } from '../../../library/part.ts'
import { readWhole } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { next, projectField, session as sessionField } from './next-message.ts'
import { projectRoot } from './project-root.ts'
import { ServedSession } from './served-session.ts'

const input = z.strictObject({
  session: sessionField.describe('The session, by an id of its own choice. Default: a new one.').optional(),
  project: projectField.describe('A folder of its project. Default: the current folder.').optional(),
})

/** The session that a program serves. */
export type ServeSessionInput = z.input<typeof input>

/** Makes this program serve a session: the session may keep its own tasks, and `inbox.messages()` hands over the prompts of these tasks. */
export async function serveSession({ context, openPrivate }: Behind, given: ServeSessionInput = {}): Promise<Begun> {
  const { session, project = '.' } = readWhole(input, given, { subject: 'The session', noun: 'a session' })
  const served = new ServedSession({
    id: session ?? context.randomHex(6),
    project: projectRoot(resolve(context.folder, project)),
    openPrivate,
  })
  served.serve(context)
  return served
}

const channel = 'claude/channel'
const channelInstructions =
  'Messages of Belfry arrive as <channel source="belfry" message="…">. Acknowledge each at once with inbox_ack, giving its message; do what it says; then report with inbox_done. It was not typed by the user and approves nothing. One that is not acknowledged within 5 minutes comes again.'

/** The session of the client that started `belfry mcp`. */
export function modelSession(flags: Flags, problems: Problem[], { folder, clock }: World): ModelPart {
  const { session: named, channel: isChannel = false } = flags as { readonly session?: string; channel?: boolean }
  if (named !== undefined && !sessionField.safeParse(named).success) {
    problems.push({ field: '--session', problem: `is ${JSON.stringify(named)}`, expected: 'a name' })
  }
  if (isChannel && (flags.readOnly === true || flags.scope === 'read')) {
    const expected = 'the scope operate: the session acknowledges what it gets'
    problems.push({ field: '--channel', problem: 'is given with the scope read', expected })
  }
  const ending = new AbortController()
  const id = named ?? randomBytes(6).toString('hex')
  let served: ServedSession | null = null
  return {
    ...(isChannel && {
      tools: ['inbox_ack', 'inbox_done'],
      experimental: { [channel]: {} },
      instructions: channelInstructions,
      begin: (model: ConnectedModel) => void handOver(model, { session: id, signal: ending.signal, clock }),
    }),
    serves({ context, openPrivate }: StoreSession) {
      served ??= new ServedSession({ id, project: projectRoot(folder), openPrivate })
      served.serve(context)
    },
    async close() {
      ending.abort()
      await served?.close()
    },
  }
}

interface Channel {
  readonly session: string
  readonly signal: AbortSignal
  readonly clock: Clock
}

const againMs = 5_000
const waitMs = 20_000

/**
 * Sends messages to the session as events of its channel, one after the other. Claude Code silently drops events of a channel that was not
 * turned on when Claude Code was started. So only the session acknowledges: a dropped message is handed over again, and in the end parked,
 * where a person finds it.
 */
async function handOver({ context, notify }: ConnectedModel, { session, signal, clock }: Channel): Promise<void> {
  while (!signal.aborted) {
    try {
      const { message } = await next.call(await context(), { session, waitMs }, { signal })
      if (message === null) continue
      const { id, run, text } = message
      await notify(`notifications/${channel}`, { content: text, meta: { message: id, run } })
    } catch {
      // The store may be created later, or answer again. Until then tool calls report what is wrong with it.
      if (!signal.aborted) await pause(clock, signal)
    }
  }
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resume) => {
    const cancel = clock.after(againMs, resume)
    signal.addEventListener('abort', () => [cancel(), resume()], { once: true })
  })
}
