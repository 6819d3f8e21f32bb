import { formatDuration } from '../../core/duration.ts'
import type { EntryWritten } from '../../operations/config-section.ts'
import type { FieldChange } from '../../operations/fields/field-changes.ts'
import { plainText, shortText } from '../../operations/schedule/plain-text.ts'
import { type Column, indented, type Paint, rehearsed, type Sheet } from '../../operations/show.ts'
import { type ConfigWritten, entriesOf } from './apply-operation.ts'
import type { ConfigSources } from './list-configs.ts'

/** What a file changed, entry by entry; unchanged entries are only counted. */
export function showConfigWritten(written: ConfigWritten, sheet: Sheet, path: string): string {
  const { paint, place, isRehearsal } = sheet
  const parts: readonly Part[] = entriesOf(written)
  const changed = parts.filter(({ answer }) => answer !== 'unchanged' && answer !== 'absent')
  const same = parts.filter(({ answer }) => answer === 'unchanged').length
  const end = isRehearsal ? paint.yellow(` ${rehearsed}`) : ''
  const word = isRehearsal
    ? paint.yellow('would apply')
    : changed.length === 0
      ? 'unchanged by'
      : paint.green('applied')
  return [
    `${word} ${paint.bold(path)} for source ${plainText(written.source)} in ${place}${end}`,
    ...changed.map((part) => indented(partText(part, paint))),
    ...(same === 0 ? [] : [indented(paint.dim(`${same} unchanged`))]),
    ...written.notes.map((note) => indented(paint.dim(sheet.spelled(note)))),
  ].join('\n')
}

interface Part extends EntryWritten {
  readonly noun: string
  readonly inWords?: string | null
}

const signs: Readonly<Record<string, string>> = { created: '+', deleted: '-', left: '.' }

function partText({ noun, name, answer, changes, inWords }: Part, paint: Paint): string {
  const colour = answer === 'deleted' ? paint.red : answer === 'created' ? paint.green : paint.yellow
  const head = colour(`${signs[answer] ?? '~'} ${noun} ${plainText(name)} (${answer})`)
  const said = answer === 'created' && inWords != null ? [inWords] : changes.map(changeText)
  return [head, ...said.map((line) => indented(line, 4))].join('\n')
}

/** A target's environment, headers and body are not shown here either. */
const hidden = /^(target|on[A-Z]\w*)\.(env|http\.(headers|body))\b|^payload\b/
const valueLengthMax = 100

function changeText({ field, before, after }: FieldChange): string {
  const name = field.replace(/Ms$/, '')
  if (hidden.test(field)) return `${name}: changed (not shown)`
  return `${name}: ${shown(field, before)} → ${shown(field, after)}`
}

function shown(field: string, value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (field.endsWith('Ms') && typeof value === 'number') return formatDuration(value)
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), valueLengthMax)
}

const sourceColumns: readonly Column<ConfigSources['sources'][number]>[] = [
  ['SOURCE', 'source', 'text'],
  ['FILE', 'file', 'text'],
  ['APPLIED', 'appliedAt', 'relative'],
  ['BY', 'actor', 'text'],
]

export function showSources({ sources, faults }: ConfigSources, { paint, relative, spelled, table }: Sheet): string {
  const wrong = faults.map(({ file, says, at }) => paint.red(`${plainText(file)} (${relative(at)}): ${spelled(says)}`))
  return [sources.length === 0 ? 'No config file was applied.' : table(sourceColumns, sources), ...wrong].join('\n')
}
