import { z } from 'zod'
import { isRunCursor, runCursorExpected } from '../../../core/page-cursor.ts'
import { limit, limitDefault } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { runStatuses } from '../../../operations/run/run-statuses.ts'
import { type AnswerOf, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { findQueue } from '../../../store/reads/find-queue.ts'
import { listRuns } from '../../../store/reads/list-runs.ts'
import type { RunSummary } from '../../../store/views.ts'
import { inboxQueue } from './inbox-queue.ts'
import type { InboxTarget } from './kind.ts'
import { liveSessions, type MessageRow, messageRows } from './message-rows.ts'
import { messagesShown, sessionsShown } from './show.ts'

const line = noted(
  z.strictObject({
    run: text('The id of its run.'),
    status: z.enum(runStatuses).describe('The status of its run; completed: it was delivered.'),
    reason: text('Why it ended without being delivered, or is parked.').nullable(),
    session: text('The session that it is for.').nullable(),
    project: text('The project that it is for.').nullable(),
    prompt: text('The prompt.'),
    schedule: text('Its schedule.').nullable(),
    author: text('Who sent it.').nullable(),
    enqueuedAt: instantOutput('When it was made.'),
    takenBy: text('The session that acknowledged it.').nullable(),
    doneAt: instantOutput('When the session reported what came of it.').nullable(),
  }),
  { id: 'InboxLine' },
)
export type MessageLine = AnswerOf<typeof line>

const page = z.strictObject({
  messages: z.array(line).describe('The messages.'),
  next: text('Where the next page begins; null at the end.').nullable(),
})
export type MessagePage = AnswerOf<typeof page>

const reading = {
  noun: 'inbox',
  effect: 'read',
  scope: 'read',
  takes: [],
  errors: ['invalid'],
  doors: { ...everyDoor, mcp: 'A model reads the runs of the queue inbox.' },
} as const
const place = noted(z.string().refine(isRunCursor), { expected: runCursorExpected })

export const list = operation({
  ...reading,
  verb: 'list',
  method: 'GET',
  says: 'List messages, newest first, a page at a time.',
  request: 'a list of messages',
  input: z.strictObject({
    status: z.enum(runStatuses).describe('Only messages with this status.').optional(),
    before: place.describe('The next of the previous page, with the same filter.').optional(),
    limit: limit.optional(),
  }),
  output: page,
  show: messagesShown,
  examples: [{}, { status: 'ready' }],
  nextPage: ({ next }) => (next === null ? null : { before: next }),
  async run({ store }, filter) {
    // The first message creates the queue.
    if ((await store.look(findQueue, inboxQueue)) === null) return { messages: [], next: null }
    const { runs, next } = await store.look(listRuns, { queue: inboxQueue, limit: limitDefault, ...onlyGiven(filter) })
    const messages = runs.filter(({ target }) => target?.inbox !== undefined)
    const known = await store.look(
      messageRows,
      messages.map(({ id }) => id),
    )
    return { messages: messages.map((run) => lineOf(run, known.get(run.id))), next }
  },
})

function lineOf(run: RunSummary, known: MessageRow | undefined): MessageLine {
  const { session = null, project = null, prompt } = (run.target as unknown as InboxTarget).inbox
  const { id, status, schedule, enqueuedAt, end, parked } = run
  const { author = null, session: takenBy = null, doneAt = null } = known ?? {}
  const reason = parked?.reason ?? (status === 'completed' ? null : (end?.reason ?? null))
  return { run: id, status, reason, session, project, prompt, schedule, author, enqueuedAt, takenBy, doneAt }
}

const sessionLine = noted(
  z.strictObject({
    id: text('The session.'),
    project: text('Its project.').nullable(),
    seenAt: instantOutput('When it last asked for a message, or ended one.'),
    liveUntil: instantOutput('When it counts as gone, unless it asks again.'),
    holds: text('The run of the message that it has not acknowledged.').nullable(),
  }),
  { id: 'InboxSession' },
)
export type SessionLine = AnswerOf<typeof sessionLine>

export const sessions = operation({
  ...reading,
  verb: 'sessions',
  says: 'List live sessions: those that asked for messages within 10 minutes, or are at work on one.',
  request: 'a list of sessions',
  input: z.strictObject({
    after: z.string().describe('The last id of the page before.').optional(),
    limit: limit.optional(),
  }),
  output: z.array(sessionLine),
  show: sessionsShown,
  examples: [{}],
  nextPage: behindLast<SessionLine>(({ id }) => ({ after: id })),
  run: ({ store }, given) => store.look(liveSessions, { limit: limitDefault, ...onlyGiven(given) }),
})
