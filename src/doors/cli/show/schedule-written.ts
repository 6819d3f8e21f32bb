import { formatDuration } from '../../../core/duration.ts'
import { backoffInWords } from '../../../operations/schedule/in-words.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import type { Schedule } from '../../../operations/schedule/view.ts'
import type { ScheduleWritten } from '../../../operations/schedule/write.ts'
import { columns, indented } from '../columns.ts'
import type { Sheet } from '../sheet.ts'
import { utc } from '../when.ts'
import { showUpcoming } from './upcoming.ts'

/** What the answer itself does not tell. */
export interface Writing {
  /** Where it was written. */
  readonly place: string
  /** Whether all of it was taken back. */
  readonly rehearsed: boolean
}

/** Echoes what was written: what came of it and where, the schedule in words, its next instants, and what changed. */
export function showScheduleWritten(written: ScheduleWritten, sheet: Sheet, writing: Writing): string {
  const { next, schedule, inWords, answer, queueCreated } = written
  const parts: [string, string][] = [['next', next.length === 0 ? whyNone(schedule) : showUpcoming(next, sheet)]]
  if (queueCreated !== undefined) {
    const { name, maxConcurrent } = queueCreated
    parts.push(['queue', `${plainText(name)} is new: ${maxConcurrent} at a time`])
  }
  if (answer === 'updated') parts.push(['changed', changesIn(written)])
  const backoff = backoffInWords(schedule)
  const said = backoff === null ? inWords : `${inWords}\n${sheet.paint.dim(backoff)}`
  return [headline(written, sheet, writing), indented(said), indented(columns(null, parts.flatMap(lines)))].join('\n')
}

const words = {
  created: { done: 'created', rehearsed: 'would create' },
  updated: { done: 'updated', rehearsed: 'would update' },
  unchanged: { done: 'nothing changed of', rehearsed: 'nothing would change of' },
} as const

function headline({ answer, schedule }: ScheduleWritten, { paint }: Sheet, { place, rehearsed }: Writing): string {
  const { done, rehearsed: would } = words[answer]
  const word = rehearsed ? paint.yellow(would) : answer === 'unchanged' ? done : paint.green(done)
  const end = rehearsed ? paint.yellow(' (a rehearsal: nothing was written)') : ''
  return `${word} ${paint.bold(plainText(schedule.name))} in ${place}${end}`
}

/** A label stands before its first line only. */
function lines([label, text]: readonly [string, string]): string[][] {
  return text.split('\n').map((line, index) => [index === 0 ? label : '', line])
}

function whyNone({ disabled, cron, everyMs, at }: Schedule): string {
  if (disabled !== null) return `none until it is resumed: ${plainText(disabled.reason)}`
  return cron === undefined && everyMs === undefined && at === undefined ? 'none by itself' : 'none any more'
}

type Field = Exclude<keyof ScheduleWritten['was'], undefined>

function changesIn({ changed, was, schedule }: ScheduleWritten): string {
  return changed
    .map((name) => {
      const field = name as Field
      const [before, after] = [shown(field, was[field]), shown(field, schedule[field])]
      // What a target hides in its environment, headers or body is not told here either.
      const change = before === after ? `${after} (in what is not shown)` : `${before} → ${after}`
      return `${field.replace(/Ms$/, '')}: ${change}`
    })
    .join('\n')
}

const instants: ReadonlySet<Field> = new Set<Field>(['at', 'startAt', 'endAt'])
const valueLengthMax = 100

function shown(field: Field, value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (field === 'target') return targetInWords(value as Schedule['target'])
  if (instants.has(field)) return utc(value as number)
  if (field.endsWith('Ms')) return formatDuration(value as number)
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), valueLengthMax)
}
