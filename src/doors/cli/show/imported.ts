import type { Imported } from '../../../operations/import/output.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { columns, indented } from '../columns.ts'
import type { Sheet } from '../sheet.ts'

const wordsWidth = 100
const whatWidth = 60
const shownMax = 200

/** What came of an import, and below it everything that did not: whoever brings in a file wants to read that first. */
export function showImported(
  { queues, schedules, runs, left, leftMore }: Imported,
  { paint }: Sheet,
  { isRehearsal }: { readonly isRehearsal: boolean },
): string {
  const rows = schedules.map(({ name, from, answer, inWords }) => {
    return [paint.bold(plainText(name)), plainText(from), answer, shortText(inWords, wordsWidth)]
  })
  const made = rows.length === 0 ? [] : [indented(columns(['SCHEDULE', 'FROM', '', 'SAYS'], rows.slice(0, shownMax)))]
  const missing = left.map(({ where, what, why }) => [
    plainText(where),
    paint.yellow(shortText(what, whatWidth)),
    plainText(why),
  ])
  const more = rows.length > shownMax || left.length > shownMax || leftMore > 0
  return [
    `${isRehearsal ? 'would import' : 'imported'} ${sumOf({ queues, schedules, runs })}${isRehearsal ? ' (a rehearsal: nothing was written)' : ''}`,
    ...made,
    ...(left.length === 0
      ? ['Nothing was left out.']
      : [
          `${left.length + leftMore} ${left.length + leftMore === 1 ? 'thing is' : 'things are'} other than they were, or left out:`,
          indented(columns(['WHERE', 'WHAT', 'WHY'], missing.slice(0, shownMax))),
        ]),
    ...(more ? [paint.dim('  and more; --json has all that is listed')] : []),
  ].join('\n')
}

function sumOf({ queues, schedules, runs }: Pick<Imported, 'queues' | 'schedules' | 'runs'>): string {
  const fresh = schedules.filter(({ answer }) => answer === 'created').length
  const parts = [
    counted(fresh, 'schedule', schedules.length - fresh),
    counted(runs.made, 'run', runs.known) + (runs.parked === 0 ? '' : `, of which ${runs.parked} parked`),
    ...queues.map(({ name, answer }) => `queue ${plainText(name)} (${answer})`),
  ]
  return parts.filter((part) => part !== '').join(', ') || 'nothing'
}

function counted(count: number, noun: string, known: number): string {
  if (count + known === 0) return ''
  const before = known === 0 ? '' : ` (${known} ${known === 1 ? 'was' : 'were'} there before)`
  return `${count} ${count === 1 ? noun : `${noun}s`}${before}`
}
