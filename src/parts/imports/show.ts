import { plainText, shortText } from '../../operations/schedule/plain-text.ts'
import { type Column, indented, rehearsed, type Sheet } from '../../operations/show.ts'
import type { Imported } from './imported.ts'

const wordsWidth = 100
const shownMax = 200

const madeColumns: readonly Column<Imported['schedules'][number]>[] = [
  ['SCHEDULE', 'name', 'name'],
  ['FROM', 'from', 'text'],
  ['', ({ answer, paused }) => (paused ? `${answer}, paused` : answer)],
  ['SAYS', ({ inWords }) => shortText(inWords, wordsWidth)],
]

const leftColumns: readonly Column<Imported['left'][number]>[] = [
  ['WHERE', 'where', 'text'],
  ['WHAT', ({ what }, { paint }) => paint.yellow(shortText(what, 60))],
  ['WHY', 'why', 'text'],
]

/** The result of an import, and everything that was left out. */
export function showImported(imported: Imported, sheet: Sheet): string {
  const { schedules, left, leftMore, different, differentMore } = imported
  const { paint, table, isRehearsal } = sheet
  const listed = (title: string, items: Imported['left'], more: number) =>
    `${title} (${items.length + more}):\n${indented(table(leftColumns, items.slice(0, shownMax)))}`
  const isLong = [schedules, left, different].some(({ length }) => length > shownMax)
  const isMore = isLong || leftMore > 0 || differentMore > 0
  return [
    `${isRehearsal ? 'would import' : 'imported'} ${sumOf(imported)}${isRehearsal ? ` ${rehearsed}` : ''}`,
    ...(schedules.length === 0 ? [] : [indented(table(madeColumns, schedules.slice(0, shownMax)))]),
    left.length === 0 ? 'Nothing was left out.' : listed('Left out', left, leftMore),
    ...(different.length === 0 ? [] : [listed('Imported with differences', different, differentMore)]),
    ...(isMore ? [paint.dim('  and more; --json shows all')] : []),
  ].join('\n')
}

function sumOf({
  queues,
  groups,
  schedules,
  runs,
}: Pick<Imported, 'queues' | 'groups' | 'schedules' | 'runs'>): string {
  const fresh = schedules.filter(({ answer }) => answer === 'created').length
  const parts = [
    counted(fresh, 'schedule', schedules.length - fresh),
    counted(runs.made, 'run', runs.known) + (runs.parked === 0 ? '' : `, of which ${runs.parked} parked`),
    ...groups.map(({ name, answer }) => `group ${plainText(name)} (${answer})`),
    ...queues.map(({ name, answer }) => `queue ${plainText(name)} (${answer})`),
  ]
  return parts.filter((part) => part !== '').join(', ') || 'nothing'
}

function counted(count: number, noun: string, known: number): string {
  if (count + known === 0) return ''
  const before = known === 0 ? '' : ` (${known} existed before)`
  return `${count} ${count === 1 ? noun : `${noun}s`}${before}`
}
