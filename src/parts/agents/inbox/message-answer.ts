import { z } from 'zod'
import { handedMessage } from '../../../core/agent/handed-message.ts'
import { standsFor } from '../../../core/timing/stands-for.ts'
import { leaseIdOf } from '../../../operations/lease/lease-id.ts'
import { Fact, pick } from '../../../operations/schema/brief.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { InboxTarget } from './kind.ts'
import type { Taken } from './take-message.ts'

const fields = z.strictObject({
  id: text('The id of the message as it was handed over, to acknowledge it. Only this session knows it.'),
  run: text('The id of its run.'),
  attempt: count('How often it was handed over, this time included.'),
  text: text(
    'The message as the session is to read it: a line of origin, the prompt, and everything else inside a fence.',
  ),
  prompt: text('The prompt alone.'),
  payload: z.unknown().describe('What came with it.').exactOptional(),
  trusted: flag('Whether a person wrote the prompt, or the session itself. The text has any other inside a fence.'),
  schedule: text('Its schedule.').nullable(),
  author: text('Who sent it, or wrote its schedule.').nullable(),
  plannedAt: instantOutput('When it was due.'),
  expiresAt: instantOutput('When it is handed over again, unless it is acknowledged.'),
})

export type Message = AnswerOf<typeof fields>

/** The text has its own fences, so a model gets it unchanged: a second fence would turn the prompt into mere data. */
export const messageSchema = noted(fields, {
  id: 'InboxMessage',
  brief: (message: Message) => ({ ...pick(message, 'id', 'run', 'expiresAt'), text: new Fact(message.text) }),
})

export function messageOf({ lease, origin }: Taken): Message {
  const { runId, fence, payload, expiresAt } = lease
  const { prompt } = (lease.target as unknown as InboxTarget).inbox
  const { schedule = null, author = null, isTrusted } = origin
  const plannedAt = standsFor(lease) ?? lease.enqueuedAt
  const handed = handedMessage({
    prompt,
    payload: payload === undefined ? undefined : JSON.stringify(payload, null, 2),
    origin: { runId, schedule: schedule ?? undefined, author: author ?? undefined, plannedAt },
    isTrusted,
  })
  return {
    id: leaseIdOf(lease),
    run: runId,
    attempt: fence,
    text: handed,
    prompt,
    ...(payload !== undefined && { payload }),
    trusted: isTrusted,
    schedule,
    author,
    plannedAt,
    expiresAt,
  }
}
