import { plainText } from '../../../operations/schedule/plain-text.ts'
import type { Listing, Sheet } from '../../../operations/show.ts'
import type { Acknowledged, RenewedMessage, Reported } from './end-verbs.ts'
import type { MessageLine, MessagePage, SessionLine } from './list-messages.ts'
import type { NextMessage } from './next-message.ts'
import type { Sent } from './send-message.ts'

export function nextShown({ session, project, message, unacknowledged, hold }: NextMessage, sheet: Sheet): string {
  const { relative, command, howLong, now } = sheet
  if (message !== null) {
    const lines = message.text.split('\n').map(plainText).join('\n')
    const within = howLong(Math.max(0, message.expiresAt - now))
    return `${lines}\n\nacknowledge it within ${within}: ${command('inbox', 'ack', message.id)}`
  }
  if (unacknowledged !== null) {
    const { run, expiresAt } = unacknowledged
    return `Session ${plainText(session)} has not acknowledged message ${run}; it is handed over again ${relative(expiresAt)}.`
  }
  if (hold !== null) return `No message: ${hold} keeps all of them back (${command('hold', 'list')}).`
  const of = project === null ? '' : ` of ${plainText(project)}`
  return `No message for session ${plainText(session)}${of}.`
}

export function acknowledgedShown({ run }: Acknowledged): string {
  return `${run} is delivered`
}

export function renewedShown({ run, expiresAt }: RenewedMessage, { relative }: Sheet): string {
  return `${run} is held; it is handed over again ${relative(expiresAt)}`
}

export function doneShown({ run }: Reported, { command }: Sheet): string {
  return `the result of ${run} is kept: ${command('run', 'show', run)}`
}

export function sentShown({ run, created }: Sent, { isRehearsal }: Sheet): string {
  if (!created) return `unchanged: ${run} is the same message`
  return isRehearsal ? 'would send the message (dry run: nothing was written)' : `sent ${run}`
}

const columns: Listing<readonly MessageLine[], MessageLine>['columns'] = [
  ['MESSAGE', 'run', 'name'],
  ['FOR', ({ session, project }) => plainText(session ?? project ?? '')],
  ['STATUS', ({ status, doneAt }, { status: painted }) => painted(doneAt === null ? wordOf(status) : 'done')],
  ['MADE', 'enqueuedAt', 'relative'],
  ['BY', ({ author, schedule }) => (author === null && schedule === null ? null : plainText(author ?? schedule ?? ''))],
  ['TAKEN BY', 'takenBy', 'text'],
  ['WHY', 'reason', 'short'],
  ['PROMPT', 'prompt', 'short'],
]

function wordOf(status: MessageLine['status']): string {
  return status === 'completed' ? 'delivered' : status
}

export function messagesShown({ messages, next }: MessagePage, { table, command }: Sheet): string {
  if (messages.length === 0) return 'No messages.'
  const more = next === null ? '' : `\n\nmore: ${command('inbox', 'list', '--before', next)}`
  return `${table(columns, messages)}${more}`
}

export const sessionsShown: Listing<readonly SessionLine[], SessionLine> = {
  none: 'No live sessions.',
  columns: [
    ['SESSION', 'id', 'name'],
    ['PROJECT', 'project', 'text'],
    ['SEEN', 'seenAt', 'relative'],
    ['LIVE UNTIL', 'liveUntil', 'relative'],
    ['HOLDS', 'holds', 'text'],
  ],
}
