import { z } from 'zod'
import { callerKind } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import { key, payload } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { instant } from '../../../operations/input/instant.ts'
import { inWordsOf, type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { readRun } from '../../../operations/run/run-input.ts'
import { type AnswerOf, flag, text } from '../../../operations/schema/output-schema.ts'
import type { Actor, Enqueued, NewRun } from '../../../store/port.ts'
import { enqueueFrom, runsMade } from '../../../store/runs/enqueue.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { keepSender } from './end-message.ts'
import { inboxQueue } from './inbox-queue.ts'
import { projectField, session } from './next-message.ts'
import { sentShown } from './show.ts'

const sent = z.strictObject({
  run: text('The id of the run of the message.'),
  created: flag('Whether it is new; false: the same message was sent with this key before.'),
})
export type Sent = AnswerOf<typeof sent>

/** The source of messages that a caller sent, as opposed to messages of a schedule. */
export const messageSource = 'message'

/** Enqueues a message, with its sender. */
export function* enqueueMessage(context: StoreContext, input: NewRun, { name, door, kind }: Actor): Step<Enqueued> {
  const answer = yield* enqueueFrom(context, messageSource, input)
  const caller = callerKind({ door, ...(kind !== undefined && { kind }) })
  if (answer.created) yield* keepSender(context, answer.id, name, caller)
  return answer
}
enqueueMessage.audits = (answer: Enqueued) => runsMade([answer], [inboxQueue])
enqueueMessage.rehearses = true as const
enqueueMessage.wakes = () => ({ queues: [inboxQueue] })

export const send = operation({
  noun: 'inbox',
  verb: 'send',
  begins: true,
  rehearses: true,
  says: 'Send a message to a session, or to the next session of a project that asks.',
  request: 'a message',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    prompt: z.string().describe('What the session is to do, of at most 64 KB.'),
    session: session.optional(),
    project: projectField
      .describe(
        'A folder of the project, in place of a session; over HTTP none is taken for granted. Default: the current folder.',
      )
      .optional(),
    payload: payload
      .describe('Data for the session, handed over inside a fence: any JSON of at most 256 KB.')
      .optional(),
    notBefore: instant.describe('Do not hand it over before this instant.').optional(),
    deadline: instant.describe('Do not hand it over from this instant on.').optional(),
    idempotencyKey: key.describe('The same key with the same message returns the same run, for 30 days.').optional(),
  }),
  takes: ['prompt'],
  output: sent,
  show: sentShown,
  errors: ['invalid', 'conflict', 'quota'],
  doors: everyDoor,
  examples: [
    { prompt: 'Is the deploy healthy?', session: '0b7f-main' },
    { prompt: 'Triage the new issues.', project: './app', payload: { issues: [4711] } },
  ],
  async judge(context, { value, problems: found }) {
    const { prompt, session: whom, project, ...rest } = value
    const isLocal = context.actor.door !== 'http'
    const place = project ?? (whom === undefined && isLocal ? '.' : undefined)
    const inbox = onlyGiven({ session: whom, project: place, prompt })
    const read = readRun({ value: { target: { inbox }, ...rest }, problems: [] }, context)
    refuse('The message', mended([...found, ...read.problems]))
    const enqueue = () => context.store.do(enqueueMessage, read.run, context.actor)
    const answer = await inWordsOf('The message', inOwnWords, enqueue)
    if (!answer.created && answer.because === 'conflict') throw takenKey(answer)
    return { run: answer.id, created: answer.created }
  },
})

/** A field with two problems is reported once: the schema and the target check the same prompt. */
function mended(problems: readonly Problem[]): Problem[] {
  const known = new Set<string>()
  return problems.map(inOwnWords).filter(({ field }) => !known.has(field) && known.add(field))
}

function inOwnWords({ field, ...rest }: Problem): Problem {
  return { ...rest, field: field.replace(/^(?:runs\[0\]\.)?(?:target\.inbox\.)?/, '') }
}

function takenKey({ id, key: used }: { readonly id: string; readonly key: string }): BelfryError {
  return new BelfryError('conflict', `The idempotency key ${quoted(used)} belongs to run ${id}, which is other work.`, {
    hint: 'Use another key for another message.',
    details: { id, key: used },
  })
}
