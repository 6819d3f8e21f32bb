import { plainText } from '../../operations/schedule/plain-text.ts'
import { type Column, indented, rehearsed, type Sheet, written } from '../../operations/show.ts'
import type { Notify } from './notice.ts'
import { notifyNames } from './notice-events.ts'
import { goodEvents } from './notice-message.ts'
import type { Notices, NotifyTested } from './notice-operations.ts'
import { notifyFacts } from './receivers.ts'

function shown(notify: Notify, { facts, command }: Sheet): string {
  if (notifyNames.some((field) => notify[field] !== undefined)) return indented(facts(notifyFacts, notify))
  const example = command('notify', '--on-failure', '{"http":{"url":"https://example.org/hook"}}')
  return indented(`No receivers. Add one: ${example}`)
}

interface NotifyWritten {
  readonly answer: 'updated' | 'unchanged'
  readonly notify: Notify
}

export function showNotifyWritten({ answer, notify }: NotifyWritten, sheet: Sheet): string {
  const end = sheet.isRehearsal ? ` ${rehearsed}` : ''
  return `${written(answer, sheet)} the receivers of notifications in this namespace${end}\n${shown(notify, sheet)}`
}

const sentColumns: readonly Column<NotifyTested['sent'][number]>[] = [
  ['EVENT', 'event', 'text'],
  ['RUN', 'run', 'text'],
  ['CHECK ITS ARRIVAL WITH', ({ run }, { command }) => command('run', 'wait', run)],
]

export function showNotifyTested({ sent }: NotifyTested, { table }: Sheet): string {
  return table(sentColumns, sent)
}

function aboutOf({ schedule, queue, about }: Notices['told'][number]): string {
  return about ?? (schedule === null ? `queue ${queue ?? ''}` : `schedule ${schedule}`)
}

const lastColumns: readonly Column<Notices['told'][number]>[] = [
  ['EVENT', ({ event }, { paint }) => (goodEvents.has(event) ? paint.green : paint.red)(event)],
  ['ABOUT', (one) => plainText(aboutOf(one))],
  ['SENT', 'at', 'when'],
  ['', ({ suppressed }) => (suppressed === 0 ? null : `${suppressed} suppressed since`)],
  ['', ({ isOpen }) => (isOpen ? 'not recovered' : null)],
]

export function showNotices({ notify, told }: Notices, sheet: Sheet): string {
  const head = `Receivers of this namespace, for schedules and queues that have none:\n${shown(notify, sheet)}`
  if (told.length === 0) return `${head}\nNo notifications were sent yet.`
  const all = sheet.paint.dim(`the runs that sent them: ${sheet.command('run', 'list', '--queue', 'notices')}`)
  return [head, sheet.table(lastColumns, told), all].join('\n')
}
