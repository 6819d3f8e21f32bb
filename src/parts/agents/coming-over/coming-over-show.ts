import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { type Column, indented, rehearsed, type Sheet } from '../../../operations/show.ts'
import type { ClaudeImported } from './claude-imported.ts'

const taskColumns: readonly Column<ClaudeImported['tasks'][number]>[] = [
  ['TASK', 'id', 'text'],
  ['FROM', 'from', 'text'],
  ['', 'answer', 'text'],
  ['PROMPT', ({ prompt }) => shortText(prompt.trim().replace(/\s+/g, ' '), 100)],
]

const leftColumns: readonly Column<ClaudeImported['left'][number]>[] = [
  ['WHERE', 'where', 'text'],
  ['WHAT', ({ what }, { paint }) => paint.yellow(shortText(what, 60))],
  ['WHY', 'why', 'text'],
]

/** Shows which tasks were imported and which were not, and that Claude still has its copies. */
export function showClaudeImported({ file, tasks, left, different, ...rest }: ClaudeImported, sheet: Sheet): string {
  const { paint, table, isRehearsal } = sheet
  const fresh = tasks.filter(({ answer }) => answer === 'created').length
  const listed = (title: string, items: ClaudeImported['left']) =>
    items.length === 0 ? [] : [`${title}:\n${indented(table(leftColumns, items))}`]
  const before = tasks.length === fresh ? '' : ` (${tasks.length - fresh} existed before)`
  const sum = `${isRehearsal ? 'would import' : 'imported'} ${counted(fresh)}${before} from ${plainText(file)}`
  return [
    `${sum}${isRehearsal ? ` ${rehearsed}` : ''}`,
    ...(tasks.length === 0 ? [] : [indented(table(taskColumns, tasks))]),
    ...listed('Left out', left),
    ...listed('Imported with differences', different),
    ...(rest.moved === 0 ? [] : [`${isRehearsal ? 'would remove' : 'removed'} ${counted(rest.moved)} from that file`]),
    ...(rest.stillFires === 0 ? [] : [paint.yellow(stillFires(rest.stillFires, sheet))]),
  ].join('\n')
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'task' : 'tasks'}`
}

function stillFires(count: number, { command }: Pick<Sheet, 'command'>): string {
  return `Claude still fires its own copy of ${counted(count)}. Remove it there: ${command('import', 'claude', '--move')}`
}
