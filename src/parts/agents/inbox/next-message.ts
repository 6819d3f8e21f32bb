import { resolve } from 'node:path'
import { z } from 'zod'
import type { RunBounds } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import { name } from '../../../operations/fields/basic-fields.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { waitFields, waitLocal, waitMsOf } from '../../../operations/input/wait-input.ts'
import { claimBytes } from '../../../operations/lease/lease-id.ts'
import { LeaseWaits } from '../../../operations/lease/lease-waits.ts'
import { everyDoor, operation, subjectOf } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { clockNow } from '../../../store/statement.ts'
import { inboxQueue } from './inbox-queue.ts'
import { sessionLengthMax } from './kind.ts'
import { type Message, messageOf, messageSchema } from './message-answer.ts'
import { projectRoot } from './project-root.ts'
import { servedSession } from './served-session.ts'
import { nextShown } from './show.ts'
import { type Asking, sessionCan, type Taken, takeMessage } from './take-message.ts'

const unacknowledged = z.strictObject({
  run: text('The id of its run.'),
  expiresAt: instantOutput('When it is handed over again, unless it is acknowledged.'),
})

export interface NextMessage {
  readonly session: string
  readonly project: string | null
  readonly message: Message | null
  readonly unacknowledged: AnswerOf<typeof unacknowledged> | null
  readonly hold: string | null
}

export const session = name.max(sessionLengthMax).describe('The session, by an id of its own choice.')
export const projectField = z.string().min(1).describe('A folder of its project.')

/** How many expired leases a call reclaims first: a session gets no next message before its expired lease is reclaimed. */
const reclaimMax = 100

export const next = operation({
  noun: 'inbox',
  verb: 'next',
  inRun: true,
  tool: { sets: ['tasks'] },
  says: 'Take the next message for a session, of its own or of its project.',
  request: 'a request for a message',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    session: session
      .describe('The session, by an id of its own choice. Default: a new one, which the answer names.')
      .optional(),
    project: projectField
      .describe('A folder of its project; over HTTP none is taken for granted. Default: the current folder.')
      .optional(),
    ...waitFields('How long to wait when there is no message; a new one is handed over at once.'),
  }),
  takes: [],
  local: waitLocal,
  output: outputOf<NextMessage>()(
    z.strictObject({
      session: text('The session.'),
      project: text('Its project: the root of its checkout.').nullable(),
      message: messageSchema.nullable().describe('The message; null: there is none.'),
      unacknowledged: unacknowledged
        .nullable()
        .describe('The message that the session holds. It gets no other before it has acknowledged this one.'),
      hold: text('The hold that keeps all messages back, if there is one.').nullable(),
    }),
  ),
  show: nextShown,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{ session: '0b7f-main', project: '/srv/app' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems: Problem[] = [...found]
    const waitMs = waitMsOf(value, problems)
    refuse(subjectOf('a request for a message'), problems)
    const asking = askingOf(context, value)
    const { taken: _, ...said } = await nextOf(context, asking, { waitMs, signal })
    return said
  },
})

interface Given {
  readonly session?: string | undefined
  readonly project?: string | undefined
}

type Asked = Omit<Asking, 'claimId'>

const ownSessionBytes = 6

function askingOf(context: OperationContext, given: Given): Asked {
  const { randomHex, actor, folder } = context
  if (actor.within !== undefined) return askingInRun(actor.within, given)
  const place = given.project ?? (actor.door === 'http' ? undefined : '.')
  return {
    session: given.session ?? servedSession(context)?.id ?? randomHex(ownSessionBytes),
    project: place === undefined ? null : projectRoot(resolve(folder, place)),
  }
}

/** An agent in a run asks for the session of that run, and for the messages of its project. */
function askingInRun({ run, project }: RunBounds, given: Given): Asked {
  const asked = { session: run, project }
  for (const field of ['session', 'project'] as const) {
    if (given[field] === undefined || given[field] === asked[field]) continue
    throw new BelfryError('not-allowed', `Run ${run} takes no messages for ${field} ${quoted(given[field])}.`, {
      hint: `Leave \`${field}\` out: it is ${asked[field]}.`,
      details: { caller: 'agent', reason: 'not-own' },
    })
  }
  return asked
}

type Answer = NextMessage & { readonly taken: Taken | null }

interface Waiting {
  readonly waitMs: number | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * The next message of the shared store, or of the session's own store if this process serves the session. The own store comes first. The
 * session holds one message at a time over both stores.
 */
async function nextOf(context: OperationContext, asking: Asked, { waitMs, signal }: Waiting): Promise<Answer> {
  const session = servedSession(context)
  const own = session?.id === asking.session ? session.opened(context) : null
  if (session === undefined || own === null) return oneOf(context, asking, { waitMs, signal })
  await session.look(context)
  const isHolding = session.heldUntil > (await context.store.look(clockNow))
  const first = isHolding ? null : await asked(own, { ...asking, project: null })
  if (first !== null && (first.message !== null || first.unacknowledged !== null)) {
    if (first.message !== null) session.handed(first.message.id)
    return { ...first, project: asking.project }
  }
  const shared = await oneOf(context, asking, {
    waitMs: waitMs === undefined ? waitMs : Math.min(waitMs, bothMs),
    signal,
  })
  session.holds((shared.message ?? shared.unacknowledged)?.expiresAt ?? 0)
  const leftMs = (waitMs ?? 0) - bothMs
  if (shared.message !== null || leftMs <= 0) return { ...shared, hold: shared.hold ?? first?.hold ?? null }
  return nextOf(context, asking, { waitMs: leftMs, signal })
}

/** How long a call waits on one of the two stores before it asks the other one again. */
const bothMs = 1_000

function oneOf(context: OperationContext, asking: Asked, { waitMs, signal }: Waiting): Promise<Answer> {
  return waitMs === undefined ? asked(context, asking) : awaited(context, asking, { waitMs, signal })
}

/** Gives back expired messages, then takes the next one: a session that died holds its message until then. */
async function asked(context: OperationContext, asking: Asked): Promise<Answer> {
  const { store, randomHex, waits } = context
  const halted = (await context.halted?.()) ?? null
  if (halted !== null) return { ...asking, message: null, unacknowledged: null, hold: halted, taken: null }
  for (const { runId } of await store.reclaim({ queue: inboxQueue, limit: reclaimMax })) void waits.look(runId)
  const { taken, held, hold = null } = await store.do(takeMessage, { ...asking, claimId: randomHex(claimBytes) })
  const unacked = held === null ? null : { run: held.runId, expiresAt: held.expiresAt }
  const message = taken === null ? null : messageOf(taken)
  return { ...asking, message, unacknowledged: unacked, hold, taken }
}

async function awaited(
  context: OperationContext,
  asking: Asked,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  const { waits, actor, store } = context
  const leave = waits.seats.take(actor)
  const ask = async () => {
    const answer = await asked(context, asking)
    // The caller has disconnected, and would hold the message until its lease expires.
    if (signal?.aborted === true && answer.taken !== null) {
      const { runId, fence, scheduleId } = answer.taken.lease
      await store.settle([{ runId, fence, scheduleId, outcome: { kind: 'released' } }])
    }
    return answer
  }
  const wanted = { queue: inboxQueue, can: sessionCan(asking) }
  const isServed = ({ message }: NextMessage) => message !== null
  try {
    return await waits.beside(LeaseWaits).wait(wanted, { ask, isServed, waitMs, signal })
  } finally {
    leave()
  }
}
