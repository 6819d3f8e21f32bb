import { type Notify, notifyFields } from '../../../core/notice.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import type { Notices, NotifyTested } from '../../../operations/store/notify.ts'
import { columns, indented } from '../columns.ts'
import { commandFor, type Sheet } from '../sheet.ts'
import { when } from '../when.ts'
import { facts } from './facts.ts'

/** Who is told of what, by the flags that say it. */
export function notifyRows(notify: Notify): [string, string | null][] {
  return [
    ['on-failure', wordsOf(notify.onFailure)],
    ['on-park', wordsOf(notify.onPark)],
    ['on-recover', wordsOf(notify.onRecover)],
    ['on-overdue', wordsOf(notify.onOverdue)],
  ]
}

function wordsOf(target: Notify['onFailure']): string | null {
  return target === undefined ? null : targetInWords(target)
}

function isSilent(notify: Notify): boolean {
  return Object.keys(notifyFields).every((field) => notify[field as keyof Notify] === undefined)
}

function shown(notify: Notify, sheet: Sheet): string {
  if (!isSilent(notify)) return indented(facts(notifyRows(notify), sheet.paint))
  const example = ['notify', '--on-failure', '{"http":{"url":"https://example.org/hook"}}']
  return indented(`nobody. Name somebody: ${commandFor(sheet, ...example)}`)
}

const written = {
  updated: { done: 'updated', rehearsed: 'would update' },
  unchanged: { done: 'nothing changed of', rehearsed: 'nothing would change of' },
} as const

export function showNotifyWritten(
  { answer, notify }: { readonly answer: 'updated' | 'unchanged'; readonly notify: Notify },
  sheet: Sheet,
  { isRehearsal }: { readonly isRehearsal: boolean },
): string {
  const word = written[answer][isRehearsal ? 'rehearsed' : 'done']
  const end = isRehearsal ? ' (a rehearsal: nothing was written)' : ''
  return `${word} who is told of what fails in this namespace${end}\n${shown(notify, sheet)}`
}

export function showNotifyTested({ sent }: NotifyTested, sheet: Sheet): string {
  const rows = sent.map(({ event, run }) => [event, run, commandFor(sheet, 'run', 'wait', run)])
  return columns(['EVENT', 'RUN', 'HAS IT ARRIVED?'], rows)
}

export function showNotices({ notify, told }: Notices, sheet: Sheet): string {
  const { now, zone, paint } = sheet
  const head = `Who is told of what fails in this namespace, where no schedule or queue says it:\n${shown(notify, sheet)}`
  if (told.length === 0) return `${head}\nNothing was told yet.`
  const rows = told.map(({ event, schedule, queue, at, suppressed, isOpen }) => [
    event === 'recover' ? paint.green(event) : paint.red(event),
    plainText(schedule === null ? `queue ${queue ?? ''}` : `schedule ${schedule}`),
    when(at, { now, zone }),
    suppressed === 0 ? '' : `${suppressed} held back since`,
    isOpen ? 'goes on' : '',
  ])
  const all = paint.dim(`the notices themselves: ${commandFor(sheet, 'run', 'list', '--queue', 'notices')}`)
  return [head, columns(['EVENT', 'OF', 'TOLD', '', ''], rows), all].join('\n')
}
