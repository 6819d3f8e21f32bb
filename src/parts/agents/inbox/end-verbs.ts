import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { overError } from '../../../operations/lease/held-lease.ts'
import { type LeaseParts, leaseId, leasePartsOf } from '../../../operations/lease/lease-id.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { heldRuns } from '../../../store/reads/held-runs.ts'
import { ackMessage, reportDone } from './end-message.ts'
import { inboxPolicy, inboxQueue } from './inbox-queue.ts'
import { servedSession } from './served-session.ts'
import { acknowledgedShown, doneShown, renewedShown } from './show.ts'

const message = noted(leaseId.describe('The id of the message, as it was handed over.'), {
  expected: 'the id of a message as it was handed over, such as r-15.1.4f2a…',
})

/** The context on the store from which the message was taken. */
function messageHome(context: OperationContext, message: string): OperationContext {
  const session = servedSession(context)
  return session?.isOwn(message) === true ? (session.opened(context) ?? context) : context
}

const ended = {
  run: text('The id of its run.'),
  attempt: count('Which hand-over it was.'),
}
const acknowledged = z.strictObject({ ...ended, delivered: flag('Whether the run is completed now.') })
const reported = z.strictObject({ ...ended, done: flag('Whether the result is kept now.') })
export type Acknowledged = AnswerOf<typeof acknowledged>
export type Reported = AnswerOf<typeof reported>

const ending = {
  noun: 'inbox',
  effect: 'write',
  scope: 'operate',
  takes: ['message'],
  about: ({ message: id }: { readonly message?: unknown }) =>
    `run ${typeof id === 'string' ? id.split('.')[0] : 'unknown'}`,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
} as const

const example = 'r-15.1.7c2f9a3d5e8b41069d3f2a1b4c5d6e7f'

export const ack = operation({
  ...ending,
  verb: 'ack',
  says: 'Acknowledge a message: it is delivered, and is not handed over again.',
  request: 'an acknowledgement',
  input: z.strictObject({ message }),
  output: acknowledged,
  show: acknowledgedShown,
  examples: [{ message: example }],
  async run(caller, { message: id }) {
    const context = messageHome(caller, id)
    const parts = leasePartsOf(id) as LeaseParts
    const settled = await context.store.do(ackMessage, parts)
    void context.waits.look(parts.runId)
    if (settled?.answer !== 'written') throw await overError(context, parts)
    servedSession(caller)?.mayTake()
    return { run: parts.runId, attempt: parts.fence, delivered: true }
  },
})

const renewed = z.strictObject({
  ...ended,
  expiresAt: instantOutput('When it is handed over again, unless it is acknowledged.'),
})
export type RenewedMessage = AnswerOf<typeof renewed>

export const renew = operation({
  ...ending,
  verb: 'renew',
  doors: { ...everyDoor, mcp: 'A model acknowledges a message that it works on for long.' },
  says: 'Hold a message for its whole time again, before it is acknowledged.',
  request: 'a renewal of a message',
  input: z.strictObject({ message }),
  output: renewed,
  show: renewedShown,
  examples: [{ message: example }],
  async run(caller, { message: id }) {
    const context = messageHome(caller, id)
    const parts = leasePartsOf(id) as LeaseParts
    const { runId, fence, claimId } = parts
    const [held] = await context.store.look(heldRuns, [runId])
    const isHeld = held?.queue === inboxQueue && held.fence === fence && held.claimId === claimId
    const leaseMs = held?.leaseTtlMs ?? inboxPolicy.leaseTtlMs
    const [renewal] = isHeld ? await context.store.renew([{ runId, fence, leaseMs }]) : []
    if (renewal?.renewed !== true) throw await overError(context, parts)
    return { run: runId, attempt: fence, expiresAt: renewal.expiresAt }
  },
})

export const done = operation({
  ...ending,
  verb: 'done',
  inRun: true,
  tool: { sets: ['tasks'] },
  says: 'Report what came of a message, as the result of its run; acknowledges it if that was not done before.',
  request: 'a report on a message',
  input: z.strictObject({
    message,
    result: z.unknown().describe('What came of it: any JSON; beyond 100 KB it is cut and marked.').optional(),
  }),
  output: reported,
  show: doneShown,
  examples: [{ message: example, result: 'The deploy is healthy.' }],
  async run(caller, { message: id, result = null }) {
    const context = messageHome(caller, id)
    const parts = leasePartsOf(id) as LeaseParts
    const { runId, fence } = parts
    const answer = await context.store.do(reportDone, parts, result)
    void context.waits.look(runId)
    if (answer.answer === 'not-held') throw await overError(context, parts)
    if (answer.answer === 'done-before') throw reportedBefore(parts, answer.at)
    servedSession(caller)?.mayTake()
    return { run: runId, attempt: fence, done: true }
  },
})

function reportedBefore({ runId, fence }: LeaseParts, at: number): BelfryError {
  return new BelfryError('conflict', `The result of message ${runId} was reported at ${isoText(at)}.`, {
    hint: `See it: \`belfry run show ${runId}\`.`,
    details: { runId, fence },
  })
}
