import type { Imported } from '../../../operations/import/output.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { columns, indented } from '../columns.ts'
import type { Paint, Sheet } from '../sheet.ts'

const wordsWidth = 100
const whatWidth = 60
const shownMax = 200

/** What came of an import, and below it everything that did not: whoever brings in a file wants to read that first. */
export function showImported(
  { queues, schedules, runs, left, leftMore, different, differentMore }: Imported,
  { paint }: Sheet,
  { isRehearsal }: { readonly isRehearsal: boolean },
): string {
  const rows = schedules.map(({ name, from, answer, paused, inWords }) => {
    const came = paused ? `${answer}, paused` : answer
    return [paint.bold(plainText(name)), plainText(from), came, shortText(inWords, wordsWidth)]
  })
  const made = rows.length === 0 ? [] : [indented(columns(['SCHEDULE', 'FROM', '', 'SAYS'], rows.slice(0, shownMax)))]
  const isLong = [rows, left, different].some(({ length }) => length > shownMax)
  const more = isLong || leftMore > 0 || differentMore > 0
  return [
    `${isRehearsal ? 'would import' : 'imported'} ${sumOf({ queues, schedules, runs })}${isRehearsal ? ' (a rehearsal: nothing was written)' : ''}`,
    ...made,
    ...(left.length === 0 ? ['Nothing was left out.'] : listed('Left out', left, leftMore, paint)),
    ...(different.length === 0 ? [] : listed('Different from before', different, differentMore, paint)),
    ...(more ? [paint.dim('  and more; --json has all that is listed')] : []),
  ].join('\n')
}

function listed(title: string, items: Imported['left'], more: number, paint: Paint): string[] {
  const rows = items.slice(0, shownMax).map(({ where, what, why }) => {
    return [plainText(where), paint.yellow(shortText(what, whatWidth)), plainText(why)]
  })
  return [`${title} (${items.length + more}):`, indented(columns(['WHERE', 'WHAT', 'WHY'], rows))]
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
