import { type Notify, notifyFields } from '../../../core/notice.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import type { Notices } from '../../../operations/store/notify.ts'
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

export function showNotifyWritten(
  { answer, notify }: { readonly answer: 'updated' | 'unchanged'; readonly notify: Notify },
  sheet: Sheet,
  { isRehearsal }: { readonly isRehearsal: boolean },
): string {
  const done = answer === 'updated' ? 'told of this namespace' : 'nothing changed; told of this namespace'
  const rehearsed =
    answer === 'updated' ? 'would be told of this namespace' : 'nothing would change; told of this namespace'
  const end = isRehearsal ? ' (a rehearsal: nothing was written)' : ''
  return `${isRehearsal ? rehearsed : done}${end}:\n${shown(notify, sheet)}`
}

export function showNotices({ notify, told }: Notices, sheet: Sheet): string {
  const { now, zone, paint } = sheet
  const head = `told of this namespace, where no schedule or queue says otherwise:\n${shown(notify, sheet)}`
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
