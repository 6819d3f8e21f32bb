import { formatDuration } from '../../../core/duration.ts'
import type { ConfigWritten } from '../../../operations/config/apply.ts'
import type { ConfigSources } from '../../../operations/config/config.ts'
import type { FieldChange } from '../../../operations/field-changes.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { columns, indented } from '../columns.ts'
import { type Paint, type Sheet, spellOn } from '../sheet.ts'
import { relative } from '../when.ts'

interface Writing {
  readonly path: string
  readonly place: string
  readonly isRehearsal: boolean
}

/** What a file changed, thing by thing, those that are as they were only counted. */
export function showConfigWritten(written: ConfigWritten, sheet: Sheet, { path, place, isRehearsal }: Writing): string {
  const { paint } = sheet
  const parts = [
    ...written.queues.map((part) => ({ noun: 'queue', ...part })),
    ...written.schedules.map((part) => ({ noun: 'schedule', ...part })),
    ...written.tokens.map((part) => ({ noun: 'token', ...part })),
  ]
  const changed = parts.filter(({ answer }) => answer !== 'unchanged' && answer !== 'absent')
  const same = parts.filter(({ answer }) => answer === 'unchanged').length
  const end = isRehearsal ? paint.yellow(' (a rehearsal: nothing was written)') : ''
  const word = isRehearsal
    ? paint.yellow('would apply')
    : changed.length === 0
      ? 'nothing changed by'
      : paint.green('applied')
  return [
    `${word} ${paint.bold(path)} for source ${plainText(written.source)} in ${place}${end}`,
    ...changed.map((part) => indented(partText(part, paint))),
    ...(same === 0 ? [] : [indented(paint.dim(`${same} ${same === 1 ? 'is' : 'are'} as the file says already`))]),
    ...written.notes.map((note) => indented(paint.dim(plainText(spellOn(sheet, note))))),
  ].join('\n')
}

interface Part {
  readonly noun: string
  readonly name: string
  readonly answer: string
  readonly changes: readonly FieldChange[]
  readonly inWords?: string | null
}

const signs: Readonly<Record<string, string>> = { created: '+', deleted: '-', left: '.' }

function partText({ noun, name, answer, changes, inWords }: Part, paint: Paint): string {
  const colour = answer === 'deleted' ? paint.red : answer === 'created' ? paint.green : paint.yellow
  const head = colour(`${signs[answer] ?? '~'} ${noun} ${plainText(name)} (${answer})`)
  const said = answer === 'created' && inWords != null ? [inWords] : changes.map(changeText)
  return [head, ...said.map((line) => indented(line, 4))].join('\n')
}

/** What a target hides in its environment, headers or body is not told here either. */
const hidden = /^(target|on[A-Z]\w*)\.(env|http\.(headers|body))\b|^payload\b/
const valueLengthMax = 100

function changeText({ field, before, after }: FieldChange): string {
  const name = field.replace(/Ms$/, '')
  if (hidden.test(field)) return `${name}: changed (it is not shown)`
  return `${name}: ${shown(field, before)} → ${shown(field, after)}`
}

function shown(field: string, value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (field.endsWith('Ms') && typeof value === 'number') return formatDuration(value)
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), valueLengthMax)
}

export function showSources({ sources, faults }: ConfigSources, { now, paint }: Sheet): string {
  const rows = sources.map(({ source, file, appliedAt, actor }) => [
    plainText(source),
    plainText(file),
    relative(appliedAt, now),
    plainText(actor),
  ])
  const table = rows.length === 0 ? 'No file looks after anything.' : columns(['SOURCE', 'FILE', 'APPLIED', 'BY'], rows)
  const wrong = faults.map(({ file, says, at }) =>
    paint.red(`${plainText(file)} (${relative(at, now)}): ${plainText(says)}`),
  )
  return [table, ...wrong].join('\n')
}
